import { API_BASE } from './api-base.js'
import { ApiFailure } from './api-failure.js'
import { existing } from './element.js'
import { failureText } from './failure-text.js'
import { tellOtherTabs } from './session-channel.js'

const form = existing('#sign-in', HTMLFormElement)
const button = existing('#sign-in [type=submit]', HTMLButtonElement)
const failure = existing('#failure', HTMLElement)

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void signIn()
})
button.disabled = false

async function signIn(): Promise<void> {
  button.disabled = true
  failure.textContent = ''
  try {
    const fields = new FormData(form)
    const response = await fetch(`${API_BASE}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: fields.get('email'), password: fields.get('password') })
    })
    if (!response.ok) throw await ApiFailure.of(response)
    // The token in the response is not used. The next page fetches its own and keeps it in memory.
    await response.body?.cancel()
    tellOtherTabs()
    location.replace(nextPage())
  } catch (error) {
    const wrong = error instanceof ApiFailure && error.status === 401
    failure.textContent = wrong ? 'E-mail address or password is wrong.' : failureText(error)
    button.disabled = false
    existing('[name=password]', HTMLInputElement).select()
  }
}

/** The server has checked that this is a path. It is checked again here, so that nothing leads to another site. */
function nextPage(): string {
  const next = new URL(form.dataset['next'] ?? '/', location.origin)
  const here = next.origin === location.origin && !next.pathname.startsWith('//')
  return here ? next.pathname + next.search : '/'
}
