import { createHash } from 'node:crypto'
import fp from 'fastify-plugin'
import { HTML_HEADERS, htmlPage, PAGE_STYLE, pagePolicy } from '../http/html-page.js'

/**
 * The script of the page that a one-time link may lead to. The secret is the fragment, which comes to no server; the script
 * takes it from the address bar and the history first.
 */
const SCRIPT = `
const token = new URLSearchParams(location.hash.slice(1)).get('token')
history.replaceState(null, '', location.pathname)
const form = document.querySelector('form')
const message = document.querySelector('#message')
message.textContent = token === null ? 'The link is not complete. Open it as it is in the mail.' : ''
form.hidden = token === null
form.addEventListener('submit', (event) => {
  event.preventDefault()
  const body = JSON.stringify({ token, newPassword: document.querySelector('#password').value })
  fetch(location.pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    .then(async (answer) => {
      form.hidden = answer.ok
      message.textContent = answer.ok ? 'The password is chosen. You can log in with it.' : (await answer.json()).detail
    })
    .catch(() => (message.textContent = 'The service cannot be reached. Try again.'))
})
`

const HEADERS = {
  ...HTML_HEADERS,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': pagePolicy(
    `script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
    "connect-src 'self'",
    `style-src ${PAGE_STYLE}`
  )
}

const BODY = `<h1>Choose a password</h1>
<p id="message" role="status">Choosing a password needs JavaScript. Allow it for this site, and open the link again.</p>
<form hidden>
<p><label for="password">Password</label><br>
<input id="password" type="password" autocomplete="new-password" required minlength="8" maxlength="1024"></p>
<p><button>Choose this password</button></p>
</form>
<script>${SCRIPT}</script>`

/** `GET /auth/one-time-link`. It is outside of the rules for cookie endpoints, because a page with the mail leads to it. */
export const oneTimeLinkPage = fp(
  async (app) => {
    const body = htmlPage('Choose a password', BODY)
    app.get('/auth/one-time-link', (_request, reply) => reply.headers(HEADERS).send(body))
  },
  { name: 'one-time-link-page', dependencies: ['problem-responses'], fastify: '5.x' }
)
