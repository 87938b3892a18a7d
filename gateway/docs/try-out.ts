import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import { LOOK } from '../../shared/look.js'
import { acceptedCoding, addVary, IMMUTABLE } from '../http/header-fields.js'
import { escapeHtml, link, pagePolicy } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import { answerOtherMethods } from '../server/methods.js'

/**
 * The files of the page: two of swagger-ui, which the build compresses by Brotli and keeps nowhere as they are
 * (docs/decisions/044), and a script of its own.
 */
const PAGE_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'try-out.js'] as const

type FileName = (typeof PAGE_FILES)[number]

const OWN_FILE: FileName = 'try-out.js'

class PageFiles {
  readonly #library: URL
  /** Made at the first request of the page, since most gateways never show it. The bytes are not kept. */
  readonly #hashes = new Map<FileName, Promise<string>>()

  /** `pages` is the folder of the built pages. */
  constructor(pages: URL) {
    this.#library = new URL('try-out/', pages)
  }

  built(name: FileName): Promise<Buffer> {
    return readFile(
      name === OWN_FILE ? new URL(`./browser/${name}`, import.meta.url) : new URL(`${name}.br`, this.#library)
    )
  }

  async content(name: FileName): Promise<Buffer> {
    const bytes = await this.built(name)
    return name === OWN_FILE ? bytes : promisify(brotliDecompress)(bytes)
  }

  hash(name: FileName): Promise<string> {
    const known = this.#hashes.get(name)
    if (known !== undefined) return known
    const made = this.content(name).then((bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16))
    this.#hashes.set(name, made)
    // A file that could not be read is read again.
    made.catch(() => this.#hashes.delete(name))
    return made
  }
}

function isFileName(name: string): name is FileName {
  return PAGE_FILES.some((one) => one === name)
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8'
}

/** `GET /docs/try`, and its files at `/docs/try/{hash}/{file}`, which browsers keep. */
export const tryOutRoutes = fp<{ address: PublicAddress; hasSignIn: boolean; pages: URL }>(
  async (app, { address, hasSignIn, pages }) => {
    const files = new PageFiles(pages)
    const pageUrl = '/docs/try'
    answerOtherMethods(app, { url: pageUrl, routed: ['GET', 'HEAD'] })
    app.get(pageUrl, async (_request, reply) => {
      const nonce = randomBytes(16).toString('base64')
      const paths = new Map<FileName, string>()
      for (const name of PAGE_FILES) {
        paths.set(name, `${address.prefix}${pageUrl}/${await files.hash(name)}/${name}`)
      }
      const page = tryOutPage({ prefix: address.prefix, hasSignIn, nonce, paths })
      return reply.headers(pageHeaders(nonce)).send(page)
    })

    const fileUrl = '/docs/try/:hash/:file'
    answerOtherMethods(app, { url: fileUrl, routed: ['GET', 'HEAD'] })
    app.get<{ Params: { hash: string; file: string } }>(fileUrl, async (request, reply) => {
      const { hash, file } = request.params
      if (!isFileName(file)) throw new DomainError('route.not-found', 'There is no file of this name; see /docs/try.')
      // While gateways of two versions serve, a page of the one may get a file of the other, which is not kept.
      const isSame = hash === (await files.hash(file))
      const isCoded = file !== OWN_FILE && acceptedCoding(request.headers['accept-encoding'] ?? '') === 'br'
      if (isCoded) reply.header('content-encoding', 'br')
      return reply
        .headers({
          'cache-control': isSame ? IMMUTABLE : 'no-store',
          vary: addVary(String(reply.getHeader('vary') ?? ''), ['Accept-Encoding'])
        })
        .type(MEDIA_TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream')
        .send(await (isCoded ? files.built(file) : files.content(file)))
    })
  },
  { name: 'try-out-routes', dependencies: ['problem-responses'], fastify: '5.x' }
)

/**
 * Scripts and style sheets are those that the page names with its nonce, and requests go to this origin alone. The library has
 * its icons in `data:` URLs.
 */
function pageHeaders(nonce: string): Readonly<Record<string, string>> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': pagePolicy(
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      'img-src data:',
      "connect-src 'self'"
    )
  }
}

interface TryOutPage {
  readonly prefix: string
  /** Whether accounts of an OpenID provider can sign in. */
  readonly hasSignIn: boolean
  readonly nonce: string
  readonly paths: ReadonlyMap<FileName, string>
}

function tryOutPage({ prefix, hasSignIn, nonce, paths }: TryOutPage): string {
  const path = (name: FileName): string => escapeHtml(paths.get(name) ?? '')
  const provider = hasSignIn
    ? `\n<p>${link(`${prefix}/auth/sign-in?returnTo=${encodeURIComponent(`${prefix}/docs/try`)}`, 'Sign in with your provider')}</p>`
    : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try requests out</title>
<link rel="stylesheet" href="${path('swagger-ui.css')}" nonce="${nonce}">
<style nonce="${nonce}">${TRY_OUT_STYLE}</style>
<script src="${path('swagger-ui-bundle.js')}" nonce="${nonce}" defer></script>
<script src="${path('try-out.js')}" type="module" nonce="${nonce}"></script>
</head>
<body>
<header>
<nav aria-label="Documentation">
${link(`${prefix}/docs`, 'Overview')}
${link(`${prefix}/docs/search`, 'Search')}
${link(`${prefix}/problems`, 'Problems')}
</nav>
<form id="sign-in" hidden>
<label>E-mail address <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Sign in</button>${provider}
</form>
<button id="copy-token" type="button" hidden>Copy the access token</button>
<button id="sign-out" type="button" hidden>Sign out</button>
<p id="message" role="status"></p>
<noscript><p>Trying out needs JavaScript. ${link(`${prefix}/docs`, 'The pages of the resources')} do not.</p></noscript>
</header>
<div id="reference"></div>
</body>
</html>
`
}

/** The style sheet of the library has a dark mode, which the script of the page chooses as the browser does. */
const TRY_OUT_STYLE = `
${LOOK}
html, html.dark-mode, html.dark-mode .swagger-ui { background: var(--paper); }
body { margin: 0; color: var(--ink); }
header { font: 1rem/1.5 var(--sans); display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; max-width: 1460px; margin: 0 auto; padding: .5rem 20px; }
header p { margin: 0; }
header a { color: var(--accent); margin-right: .75rem; }
form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
[hidden] { display: none; }
`
