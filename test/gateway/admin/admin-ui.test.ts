import { createHash } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { LOOK } from '../../../shared/look.js'
import { described, operation, products, property } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

const BASE = 'https://shop.example/api'
const ON = { PUBLIC_BASE_URL: BASE, ADMIN_UI: 'true' }

/** The headers of every answer of the gateway itself. */
const SAFE = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000'
}

describe('/admin', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway(ON, [products()])
  })
  after(() => gateway.close())

  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    gateway.app.inject({ url: `/api${path}`, headers })
  const script = async (): Promise<string> => /src="(assets\/[^"]+)"/.exec((await get('/admin/')).body)?.[1] ?? ''

  it('leads to the page, which its links are relative to', async () => {
    const answer = await get('/admin')
    expect(answer.statusCode).to.equal(308)
    expect(answer.headers).to.include({ location: `${BASE}/admin/`, 'cache-control': 'no-store', ...SAFE })
  })

  it('is a page that runs the script of this origin alone, with styles by a nonce of its own', async () => {
    const pages = [await get('/admin/'), await get('/admin/')]
    const nonces = pages.map(({ statusCode, headers, body }) => {
      expect(statusCode).to.equal(200)
      const [, nonce = ''] = /style-src 'nonce-([^']+)'/.exec(String(headers['content-security-policy'])) ?? []
      expect(headers).to.deep.include({
        ...SAFE,
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        'cross-origin-opener-policy': 'same-origin',
        'content-security-policy':
          `default-src 'none'; script-src 'self'; style-src 'nonce-${nonce}'; img-src 'self' data:; ` +
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      })
      expect(Buffer.from(nonce, 'base64')).to.have.length(16)
      expect(body.match(/<script[^>]*>/g)).to.deep.equal([
        `<script type="module" nonce="${nonce}" src="${/src="([^"]+)"/.exec(body)?.[1] ?? ''}">`
      ])
      expect(body.match(/<style[^>]*>/g)).to.deep.equal([`<style nonce="${nonce}">`])
      expect(body)
        .to.contain('></script>')
        .and.contain(`<style nonce="${nonce}">${LOOK}`)
        .and.not.match(/\sstyle=|\son\w+=|https?:/)
      return nonce
    })
    expect(new Set(nonces)).to.have.property('size', 2)
  })

  it('serves the script compressed as the client takes it, for ever', async () => {
    const path = `/admin/${await script()}`
    const plain = await get(path)
    const [brotli, zipped] = [
      await get(path, { 'accept-encoding': 'gzip, br;q=0.5' }),
      await get(path, { 'accept-encoding': 'GZIP, br;q=0' })
    ]
    for (const [answer, coding] of [
      [plain, undefined],
      [brotli, 'br'],
      [zipped, 'gzip']
    ] as const) {
      expect(answer.statusCode).to.equal(200)
      expect(answer.headers).to.deep.include({
        ...SAFE,
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding'
      })
      expect(answer.headers['content-encoding']).to.equal(coding)
    }
    const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
    expect(digest(brotliDecompressSync(brotli.rawPayload))).to.equal(digest(plain.rawPayload))
    expect(digest(gunzipSync(zipped.rawPayload))).to.equal(digest(plain.rawPayload))
    // Of itself, of documents of standards and of the pages that React's errors name: it calls none.
    expect(plain.body)
      .to.contain('catalogue.json')
      .and.not.match(/\beval\(|new Function\(/)
  })

  it('has no other file', async () => {
    for (const file of [
      'main.js',
      'licenses.txt',
      '..%2fadmin-ui.js',
      'main-.js.gz',
      encodeURIComponent('../../app.js')
    ]) {
      const answer = await get(`/admin/assets/${file}`)
      expect(answer.json(), file).to.include({ status: 404, code: 'route.not-found' })
    }
    expect((await get('/admin/nothing')).json()).to.include({ status: 404, code: 'route.not-found' })
  })

  it('answers no method but GET and HEAD', async () => {
    for (const url of ['/admin', '/admin/', '/admin/catalogue.json', '/admin/assets/main.js']) {
      const posted = await gateway.app.inject({ method: 'POST', url: `/api${url}` })
      expect(posted.json(), url).to.include({ status: 405, code: 'method.not-allowed' })
      expect(posted.headers.allow).to.equal('GET, HEAD, OPTIONS')
    }
    const head = await gateway.app.inject({ method: 'HEAD', url: '/api/admin/' })
    expect([head.statusCode, head.body]).to.deep.equal([200, ''])
  })

  it('tells the catalogue of the caller, with what the caller may call', async () => {
    gateway.data.answerDescribeTo = () =>
      described([products({ properties: [property('id', 'int')] }), products({ name: 'others' })], {
        allowed: [
          { resource: 'products', names: ['paged', 'publish'] },
          { resource: 'others', names: [] }
        ],
        owner: '7',
        everyOwner: true,
        operations: [
          operation('stock-report', 'GET', '/reports/stock'),
          operation('close-year', 'POST', '/year/close')
        ],
        allowedOperations: ['stock-report']
      })
    const answer = await get('/admin/catalogue.json', { authorization: 'Bearer t' })
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers).to.include({ ...SAFE, 'cache-control': 'no-store', vary: 'Authorization' })
    expect(answer.json()).to.deep.equal({
      resources: [{ ...products({ properties: [property('id', 'int')] }), allowed: ['paged', 'publish'] }],
      operations: ['GET /reports/stock'],
      owner: '7',
      everyOwner: true
    })
    expect(gateway.data.calls.at(-1)).to.have.nested.property('call.authorization', 'Bearer t')
  })

  it('tells nothing to a token that is not valid', async () => {
    gateway.data.answerDescribeTo = () => {
      throw new DomainError('auth.invalid-token', 'The access token is not valid.')
    }
    const answer = await get('/admin/catalogue.json', { authorization: 'Bearer bad' })
    expect(answer.json()).to.include({ status: 401, code: 'auth.invalid-token' })
  })
})

describe('/admin with an OpenID provider', () => {
  it('names its site on the page, which has no other difference', async () => {
    const provider = { OIDC_ISSUER: 'https://login.example:8443/realms/main', OIDC_CLIENT_ID: 'shop' }
    const bodies: string[] = []
    for (const settings of [ON, { ...ON, ...provider }]) {
      const gateway = await startGateway(settings)
      const { body } = await gateway.app.inject({ url: '/api/admin/' })
      await gateway.close()
      bodies.push(body.replaceAll(/nonce="[^"]*"/g, 'nonce'))
    }
    const [without = '', withProvider] = bodies
    expect(without).to.contain('<div id="root"><')
    expect(withProvider).to.equal(
      without.replace('<div id="root">', '<div id="root" data-sign-in-site="login.example:8443">')
    )
  })
})

describe('/admin without ADMIN_UI', () => {
  for (const settings of [{}, { ADMIN_UI: 'false' }, { RENDERER_URL: 'http://127.0.0.1:9' }]) {
    it(`is not there: ${JSON.stringify(settings)}`, async () => {
      const gateway = await startGateway({ PUBLIC_BASE_URL: BASE, ...settings })
      try {
        for (const path of ['/admin', '/admin/', '/admin/catalogue.json', '/admin/assets/main.js']) {
          const answer = await gateway.app.inject({ url: `/api${path}`, headers: { accept: 'text/html' } })
          expect(answer.json(), path).to.include({ status: 404, code: 'route.not-found' })
        }
      } finally {
        await gateway.close()
      }
    })
  }
})

describe('a gateway without the package of the pages', () => {
  const without = { findPages: () => undefined }
  const HINT = /needs a package that is not installed\. Install with `npm install @uniform-rest\/pages@[\d.]+`\./

  it('names the package once at its start, and serves everything but these pages', async () => {
    const gateway = await startGateway({ ...ON, DOCS_PUBLIC: 'true' }, [products()], without)
    try {
      const get = async (path: string) => gateway.app.inject({ url: `/api${path}` })
      // As any name of no resource.
      const { statusCode, headers } = await get('/docs/try')
      expect([statusCode, headers.location]).to.deep.equal([308, `${BASE}/docs/resources/try`])
      const absent = ['/admin', '/admin/', '/admin/catalogue.json', '/docs/resources/try', '/docs/try/0/try-out.js']
      for (const path of absent) {
        expect((await get(path)).json(), path).to.include({ status: 404, code: 'route.not-found' })
      }
      // No page leads there.
      for (const path of ['/docs', '/docs/search', '/docs/resources/products', '/openapi.json']) {
        const page = await get(path)
        expect(page.statusCode, path).to.equal(200)
        expect(page.body, path).to.not.match(/docs\/try|api\/admin|"\/admin/)
      }
      const hints = gateway.lines.filter(({ msg }) => HINT.test(String(msg)))
      expect(hints.map(({ level }) => level)).to.deep.equal(['warn'])
      expect(hints[0]?.['msg']).to.match(/^ADMIN_UI .* Until then there is no \/admin and no \/docs\/try\.$/)
    } finally {
      await gateway.close()
    }
  })

  it('says no more than how to get /docs/try where no setting asks for a page, and nothing without /docs', async () => {
    const levels: unknown[] = []
    for (const settings of [{}, { DOCS_UI: 'false' }]) {
      const gateway = await startGateway(settings, undefined, without)
      await gateway.close()
      levels.push(gateway.lines.filter(({ msg }) => HINT.test(String(msg))).map(({ level }) => level))
    }
    expect(levels).to.deep.equal([['info'], []])
  })
})
