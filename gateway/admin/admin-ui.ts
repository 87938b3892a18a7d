import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AUTHORIZATION, DomainError, rejectionAt } from '../../shared/errors.js'
import { LOOK } from '../../shared/look.js'
import { StartError } from '../../shared/start-error.js'
import type { CatalogueSnapshot } from '../data/catalogue.js'
import { acceptedCoding, addVary, type Coding, IMMUTABLE } from '../http/header-fields.js'
import { escapeHtml } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import type { Documents } from '../openapi/documents.js'
import { answerOtherMethods } from '../server/methods.js'

/**
 * The admin as `npm run build` makes it of clients/admin: each file compressed by Brotli, and nowhere as it is. The names of
 * files have the digest of their content in them.
 */
interface BuiltApplication {
  readonly folder: URL
  readonly script: string
  readonly files: ReadonlySet<string>
}

/** Throws a StartError if the admin was not built. */
async function findAdmin(pages: URL): Promise<BuiltApplication> {
  const folder = new URL('admin/', pages)
  const found = await readdir(folder).catch(() => [])
  const files = new Set(found.filter((name) => name.endsWith('.br')).map((name) => name.slice(0, -'.br'.length)))
  const script = [...files].find((name) => /^main-[A-Z0-9]+\.js$/.test(name))
  if (script === undefined) throw new StartError('ADMIN_UI is true, and the admin was not built: run npm run build.')
  return { folder, script, files }
}

/**
 * The policy of the page: scripts and calls of this origin alone, no style but those that the application makes with the
 * nonce, which no other answer has. A picture may be part of the page itself.
 */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join('; ')
}

interface AdminPage {
  readonly script: string
  readonly nonce: string
  /** The site of the OpenID provider that people sign in with, `login.example.com`; undefined for none. */
  readonly signInSite: string | undefined
}

/** What is there until the script is: it needs nothing but the page, so that a slow connection shows it at once. */
const SHELL_STYLE = `body{margin:0;font:1rem/1.5 var(--sans);color:var(--ink);background:var(--paper)}
.shell header{padding:.6rem 1.5rem;background:var(--accent);color:var(--on-accent);font-size:1.25rem}
.shell p{margin:1.5rem}`

/**
 * The page of the application, which takes the nonce from its script element and the provider from its root element. Its paths
 * are relative to `/admin/`.
 */
function adminPage({ script, nonce, signInSite }: AdminPage): string {
  const provider = signInSite === undefined ? '' : ` data-sign-in-site="${escapeHtml(signInSite)}"`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Admin</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style nonce="${escapeHtml(nonce)}">${LOOK}${SHELL_STYLE}</style>
<script type="module" nonce="${escapeHtml(nonce)}" src="assets/${escapeHtml(script)}"></script>
</head>
<body>
<div id="root"${provider}><div class="shell"><header>Admin</header><p role="status">The admin is loading.</p></div></div>
<noscript>The admin needs JavaScript. Allow it for this site, and load the page again.</noscript>
</body>
</html>
`
}

/** `/admin`: the application, its files, and the catalogue that it is made of. */
export const adminUi = fp<{
  documents: Documents
  address: PublicAddress
  /** The folder of the built pages. */
  pages: URL
  issuer: string | undefined
  /** Who gets the catalogue; empty for every caller. */
  roles: readonly string[]
}>(
  async (app, { documents, address, pages, issuer, roles }) => {
    const signInSite = issuer === undefined ? undefined : new URL(issuer).host
    const { folder, script, files } = await findAdmin(pages)
    const zipped = zippedFiles(folder, files)
    // A request that needs them reports the error.
    zipped.catch(() => undefined)
    const get = (
      url: string,
      answer: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
    ): void => {
      answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
      app.get(url, answer)
    }
    // What is linked on the page is relative to the path with the slash.
    get('/admin', async (request, reply) =>
      // A 308 is cached without being asked for, and this one names a host that the request may have told.
      reply.header('cache-control', 'no-store').redirect(`${address.baseFor(request)}/admin/`, 308)
    )
    get('/admin/', async (_request, reply) => {
      const nonce = randomBytes(16).toString('base64')
      return reply
        .headers({
          'content-security-policy': policy(nonce),
          // A page that opens the admin, or that it opens, gets no hold of its window.
          'cross-origin-opener-policy': 'same-origin',
          'cache-control': 'no-cache'
        })
        .type('text/html; charset=utf-8')
        .send(adminPage({ script, nonce, signInSite }))
    })
    get('/admin/assets/:file', async (request, reply) => {
      const { file } = request.params as { readonly file: string } // of the route
      if (!files.has(file)) throw new DomainError('route.not-found', 'The admin has no such file.')
      const { coding, body } = await codedFile({ folder, file, zipped }, request.headers['accept-encoding'] ?? '')
      if (coding !== undefined) reply.header('content-encoding', coding)
      return reply
        .headers({
          'cache-control': IMMUTABLE,
          vary: addVary(String(reply.getHeader('vary') ?? ''), ['Accept-Encoding'])
        })
        .type('text/javascript; charset=utf-8')
        .send(body)
    })
    // Letter case of roles counts nowhere.
    const admitted = new Set(roles.map((role) => role.toLowerCase()))
    get('/admin/catalogue.json', async (request, reply) => {
      const { body } = await documents.for(request, reply, (seen) => {
        if (roles.length > 0 && !seen.roles.some((role) => admitted.has(role.toLowerCase()))) {
          throw request.headers.authorization === undefined
            ? rejectionAt('auth.required', 'The admin takes an access token.', { place: AUTHORIZATION })
            : new DomainError('capability.denied', 'The admin is for other roles than those of this account.')
        }
        const { allowed, allowedOperations, owner, everyOwner } = seen
        return {
          key: `admin ${JSON.stringify([...allowed, allowedOperations, owner, everyOwner])}`,
          write: () => JSON.stringify(shownCatalogue(seen))
        }
      })
      return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(body)
    })
  },
  { name: 'admin-ui', dependencies: ['problem-responses'], fastify: '5.x' }
)

const builtFile = (folder: URL, file: string): Promise<Buffer> => readFile(new URL(`${file}.br`, folder))

/**
 * The files for clients without Brotli, as browsers are without TLS. They are made while the gateway starts, so that the
 * package holds each file once and no reader waits.
 */
async function zippedFiles(folder: URL, files: ReadonlySet<string>): Promise<ReadonlyMap<string, Buffer>> {
  const zip = async (file: string) =>
    [file, await promisify(gzip)(await promisify(brotliDecompress)(await builtFile(folder, file)))] as const
  return new Map(await Promise.all([...files].map(zip)))
}

/** A file in a coding that the client takes. */
async function codedFile(
  { folder, file, zipped }: { folder: URL; file: string; zipped: ReturnType<typeof zippedFiles> },
  accepted: string
): Promise<{ readonly coding?: Coding; readonly body: Buffer }> {
  const coding = acceptedCoding(accepted)
  if (coding === 'br') return { coding, body: await builtFile(folder, file) }
  const body = (await zipped).get(file) ?? Buffer.alloc(0) // of each file
  return coding === undefined ? { body: await promisify(gunzip)(body) } : { coding, body }
}

/** What the caller may see of the catalogue, and may call of it, as the application reads it. */
function shownCatalogue({ resources, allowed, operations, allowedOperations, ...seen }: CatalogueSnapshot): object {
  return {
    resources: [...resources.values()].map((resource) => ({ ...resource, allowed: allowed.get(resource.name) ?? [] })),
    operations: operations
      .filter(({ name }) => allowedOperations.includes(name))
      .map(({ method, path }) => `${method} ${path}`),
    owner: seen.owner,
    everyOwner: seen.everyOwner
  }
}
