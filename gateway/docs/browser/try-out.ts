/// <reference lib="dom" />
// The script of `GET /docs/try`. It signs in with the session cookies, which no script can read, and keeps the access token in
// the memory of the page alone. The document and the requests that are tried out are those of the account that is signed in.

/** As much of swagger-ui as is used (its documentation, "Configuration"). */
declare const SwaggerUIBundle: (options: {
  readonly domNode: Element
  readonly spec: object
  readonly layout: 'BaseLayout'
  readonly deepLinking: boolean
  readonly docExpansion: 'list' | 'none'
  readonly defaultModelsExpandDepth: number
  readonly displayRequestDuration: boolean
  /** null: nothing is sent to a validator. */
  readonly validatorUrl: null
  readonly persistAuthorization: boolean
  readonly requestInterceptor: (request: TriedRequest) => Promise<TriedRequest>
}) => unknown

/** As much of the OpenAPI document as is changed. */
interface ApiDocument {
  readonly components: { readonly parameters: Readonly<Record<string, ApiParameter>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: readonly ApiParameter[] }>>>>
}

interface ApiParameter extends ExampleKeywords {
  readonly required?: boolean
  readonly schema?: ExampleKeywords
}

interface ExampleKeywords {
  example?: unknown
  examples?: unknown
  default?: unknown
}

interface TriedRequest {
  readonly url: string
  readonly headers: Record<string, string>
}

/** The body of the response to `POST /auth/session/token` and `POST /auth/login`. */
interface SessionToken {
  readonly accessToken: string
  /** RFC 3339. */
  readonly accessTokenExpiry: string
}

/** A token is not used any more within this number of milliseconds before its expiry. */
const SKEW = 5000

/** The public base URL as this browser knows it, so that every request goes to the origin of the page. */
const base = location.origin + location.pathname.replace(/\/docs\/try\/?$/, '')

const form = element('#sign-in', HTMLFormElement)
const signOutButton = element('#sign-out', HTMLButtonElement)
const copyButton = element('#copy-token', HTMLButtonElement)
const notice = element('#message', HTMLElement)
const place = element('#reference', HTMLElement)

let held: SessionToken | undefined

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void runOrTell(submitSignIn)
})
signOutButton.addEventListener('click', () => void runOrTell(signOut))
copyButton.addEventListener('click', () => void runOrTell(copyToken))
const prefersDark = matchMedia('(prefers-color-scheme: dark)')
prefersDark.addEventListener('change', showDarkness)
showDarkness()
void runOrTell(showPage)

/** The library's own style sheet goes by this class. */
function showDarkness(): void {
  document.documentElement.classList.toggle('dark-mode', prefersDark.matches)
}

/** Runs a step, and says what went wrong. */
async function runOrTell(step: () => Promise<void>): Promise<void> {
  notice.textContent = ''
  try {
    await step()
  } catch (error) {
    notice.textContent = error instanceof Error ? error.message : String(error)
  }
}

async function submitSignIn(): Promise<void> {
  const fields = new FormData(form)
  const answer = await post('/auth/login', { email: fields.get('email'), password: fields.get('password') })
  if (answer.status === 401) throw new Error('E-mail address or password is wrong.')
  if (!answer.ok) throw new Error(`The service answered ${answer.status}. Try again later.`)
  held = (await answer.json()) as SessionToken
  form.reset()
  await showPage()
}

async function signOut(): Promise<void> {
  held = undefined
  const answer = await post('/auth/logout')
  await showPage()
  if (!answer.ok) throw new Error('You are signed out here. The service could not end the session everywhere.')
}

/** For the examples of the pages of resources, which take it as the environment variable `TOKEN`. */
async function copyToken(): Promise<void> {
  const token = await accessToken()
  if (token === undefined || held === undefined) return showPage()
  // Browsers have a clipboard for pages of HTTPS and of this machine alone.
  if (!isSecureContext) throw new Error('A browser copies the token only from a page that was loaded over HTTPS.')
  await navigator.clipboard.writeText(token)
  notice.textContent = `Copied. The token is valid until ${new Date(held.accessTokenExpiry).toLocaleTimeString()}.`
}

/** Shows the document of the account that is signed in, or of nobody. */
async function showPage(): Promise<void> {
  const token = await accessToken()
  form.hidden = token !== undefined
  signOutButton.hidden = token === undefined
  copyButton.hidden = token === undefined
  const answer = await fetch(`${base}/openapi.json?exact=true`, { headers: token === undefined ? {} : bearer(token) })
  if (!answer.ok) throw new Error(`The document could not be loaded: the service answered ${answer.status}.`)
  const spec = { ...prepared((await answer.json()) as ApiDocument), servers: [{ url: base }] }
  const domNode = document.createElement('div')
  place.replaceChildren(domNode)
  SwaggerUIBundle({
    domNode,
    spec,
    layout: 'BaseLayout',
    deepLinking: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
    persistAuthorization: false,
    requestInterceptor: addAccessToken
  })
}

/** The document without examples and defaults of optional parameters, all of which swagger-ui would send unasked. */
function prepared(document: ApiDocument): ApiDocument {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  const inline = operations.flatMap(({ parameters = [] }) => parameters)
  for (const parameter of [...Object.values(document.components.parameters), ...inline]) {
    if (parameter.required === true) continue
    delete parameter.example
    delete parameter.examples
    delete parameter.schema?.example
    delete parameter.schema?.examples
    delete parameter.schema?.default
  }
  return document
}

/** Adds the access token to a request of this service that has none yet. */
async function addAccessToken(request: TriedRequest): Promise<TriedRequest> {
  const isOwn = request.url.startsWith(`${base}/`) && !request.url.startsWith(`${base}/auth/`)
  const isSet = Object.keys(request.headers).some((name) => name.toLowerCase() === 'authorization')
  const token = isOwn && !isSet ? await accessToken() : undefined
  if (token !== undefined) Object.assign(request.headers, bearer(token))
  return request
}

/** The access token of the session; undefined if nobody is signed in. */
async function accessToken(): Promise<string | undefined> {
  if (held !== undefined && Date.parse(held.accessTokenExpiry) - Date.now() > SKEW) return held.accessToken
  held = undefined
  const answer = await post('/auth/session/token')
  if (answer.status === 401) return undefined
  if (!answer.ok) throw new Error(`The session cannot be renewed: the service answered ${answer.status}.`)
  held = (await answer.json()) as SessionToken
  return held.accessToken
}

function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

function post(path: string, body?: object): Promise<Response> {
  const content =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return fetch(base + path, { method: 'POST', ...content })
}

/** The element that the page has for the selector. */
function element<E extends Element>(selector: string, type: new () => E): E {
  const found = document.querySelector(selector)
  if (!(found instanceof type)) throw new Error(`The page has no ${selector}.`)
  return found
}
