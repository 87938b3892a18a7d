import { NotSignedIn } from './api-failure.js'
import { element, existing } from './element.js'
import { failureText } from './failure-text.js'
import { signInPath } from './sign-in-path.js'

/**
 * Fills the private place of the page with the nodes that `fill` makes, or with a notice if `fill` fails. Resolves to
 * whether it succeeded.
 */
export async function fillPrivatePlace(fill: () => Promise<readonly Node[]>): Promise<boolean> {
  const place = existing('#private', HTMLElement)
  place.setAttribute('aria-busy', 'true')
  try {
    place.replaceChildren(...(await fill()))
    return true
  } catch (error) {
    place.replaceChildren(error instanceof NotSignedIn ? signInNotice() : failureNotice(error))
    return false
  } finally {
    place.removeAttribute('aria-busy')
  }
}

function signInNotice(): HTMLElement {
  return element(
    'div',
    { class: 'empty' },
    element('p', { role: 'alert' }, 'Your session is over. Sign in to see this.'),
    element('a', { class: 'main-button', href: signInPath() }, 'Sign in')
  )
}

function failureNotice(error: unknown): HTMLElement {
  const again = element('button', { type: 'button' }, 'Try again')
  again.addEventListener('click', () => location.reload())
  return element('div', { class: 'empty' }, element('p', { role: 'alert' }, failureText(error)), again)
}

/** The notice for accounts without a customer. */
export function noCustomer(): HTMLElement {
  return element(
    'p',
    { class: 'notice' },
    'This account is no customer of the shop: it has no cart and no orders of its own.'
  )
}
