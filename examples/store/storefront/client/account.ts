import { callApi } from './api.js'
import { API_BASE } from './api-base.js'
import { customerId } from './customer-id.js'
import { dayText } from './dates.js'
import { element } from './element.js'
import { fillPrivatePlace, noCustomer } from './private-place.js'
import { tellOtherTabs } from './session-channel.js'
import type { Customer } from './store-rows.js'

const out = element('button', { id: 'sign-out', type: 'button' }, 'Sign out')
out.addEventListener('click', () => void signOut())
// The button is outside of the private place, which may fail to load. Signing out needs no data of the store.
const stock = element('a', { href: '/stock' }, 'Stock list')
document.querySelector('#private')?.after(element('p', { class: 'below' }, out, ' ', stock))

void fillPrivatePlace(async () => {
  const customer = await customerId()
  if (customer === undefined) return [noCustomer()]
  return [accountCard(await callApi<Customer>(`/customers/${customer}?includeChildren=true`))]
})

function accountCard({ name, email, phone, createdAt, addresses }: Customer): HTMLElement {
  const facts = [
    ['Name', name],
    ['E-mail', email],
    ['Phone', phone ?? 'not said'],
    ['Customer since', dayText(createdAt)],
    ...addresses.map(
      ({ line1, postalCode, city, country }) => ['Address', `${line1}, ${postalCode} ${city}, ${country}`] as const
    )
  ] as const
  const told = facts.flatMap(([term, value]) => [element('dt', {}, term), element('dd', { dir: 'auto' }, value)])
  return element('div', { class: 'card' }, element('dl', { class: 'facts' }, ...told))
}

/** With any response the gateway has deleted the cookies. Only if no response came is the user still signed in. */
async function signOut(): Promise<void> {
  out.disabled = true
  try {
    await fetch(`${API_BASE}/auth/logout`, { method: 'POST' })
    tellOtherTabs()
    location.replace('/')
  } catch {
    out.disabled = false
    out.textContent = 'That did not work; try again'
  }
}
