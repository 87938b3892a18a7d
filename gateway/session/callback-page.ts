import { createHash } from 'node:crypto'
import { escapeHtml, HTML_HEADERS, htmlPage, link, PAGE_STYLE, pagePolicy } from '../http/html-page.js'

/**
 * The script of the callback page. It posts what the provider has put into the query to the same path, and goes on to where
 * the answer says. It removes code and state from the address bar and the history first. The page shows no text of the
 * query: an attacker can write one.
 */
const SCRIPT = `
const query = new URLSearchParams(location.search)
history.replaceState(null, '', location.pathname)
const body = { code: query.get('code'), state: query.get('state') }
if (query.has('iss')) body.iss = query.get('iss')
const message = document.querySelector('#message')
message.textContent = ''
const show = (text) => {
  document.querySelector('h1').textContent = 'You are not signed in'
  message.textContent = text
}
fetch(location.pathname, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  .then(async (answer) => {
    const told = await answer.json()
    if (answer.ok) location.replace(told.returnTo)
    else show(told.detail)
  })
  .catch(() => show('The service cannot be reached. Begin again.'))
`

const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64')

/** The page runs its own script alone, calls this origin alone, and tells nobody where it was. */
const CALLBACK_HEADERS = {
  ...HTML_HEADERS,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': pagePolicy(
    `script-src 'sha256-${SCRIPT_HASH}'`,
    "connect-src 'self'",
    `style-src ${PAGE_STYLE}`
  )
}

interface Page {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Where a person who is not signed in goes from the page: paths of this origin. */
export interface WaysOn {
  readonly beginAgain: string
  /** Where the sign-in began; undefined where that is not known. */
  readonly goBack?: string
}

/** The page that finishes a sign-in. Both pages are the same for everybody, apart from where they lead. */
export function callbackPage(ways: WaysOn): Page {
  const body = `<h1>Signing in …</h1>
<p id="message" role="status">Signing in needs JavaScript. Allow it for this site, and begin again.</p>
${links(ways)}
<script>${SCRIPT}</script>`
  return { headers: CALLBACK_HEADERS, body: htmlPage('Signing in', body) }
}

/** The page after the provider has answered with an error (RFC 6749 section 4.1.2.1). */
export function rejectedPage(error: string, ways: WaysOn): Page {
  const why =
    error === 'access_denied'
      ? 'The sign-in was cancelled, or the provider did not allow it.'
      : 'The provider could not sign you in.'
  const body = `<h1>You are not signed in</h1>\n<p>${escapeHtml(why)}</p>\n${links(ways)}`
  return { headers: CALLBACK_HEADERS, body: htmlPage('Not signed in', body) }
}

function links({ beginAgain, goBack }: WaysOn): string {
  const back = goBack === undefined ? '' : `\n<p>${link(goBack, 'Go back')}</p>`
  return `<p>${link(beginAgain, 'Begin again')}</p>${back}`
}
