import { NotSignedIn } from './api-failure.js'
import { customerId } from './customer-id.js'
import { element, existing } from './element.js'
import { failureText } from './failure-text.js'
import { addToCart } from './open-cart.js'
import { say } from './say.js'
import { signInPath } from './sign-in-path.js'

const form = document.querySelector<HTMLFormElement>('#buy')
if (form !== null) enable(form)

function enable(form: HTMLFormElement): void {
  const button = existing('#buy [type=submit]', HTMLButtonElement)
  const failure = existing('#failure', HTMLElement)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    failure.textContent = ''
    button.disabled = true
    add(form)
      .catch((error: unknown) => {
        if (error instanceof NotSignedIn) location.assign(signInPath())
        else failure.textContent = failureText(error)
      })
      .finally(() => {
        button.disabled = false
        button.focus()
      })
  })
  button.disabled = false
}

async function add(form: HTMLFormElement): Promise<void> {
  if (document.body.dataset['signedIn'] === 'no') throw new NotSignedIn('Nobody is signed in.')
  const customer = await customerId()
  if (customer === undefined) {
    existing('#failure', HTMLElement).textContent = 'This account is no customer of the shop, so it has no cart.'
    return
  }
  const fields = new FormData(form)
  const variant = Number(fields.get('variant') ?? 0)
  await addToCart(customer, {
    productId: Number(form.dataset['product']),
    ...(variant === 0 ? {} : { variantId: variant }),
    quantity: Number(fields.get('quantity'))
  })
  say('It is in your cart.', element('a', { href: '/cart' }, 'To the cart'))
}
