import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { brotliDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

describe('GET /docs/try', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway({ PUBLIC_BASE_URL: 'https://shop.example/api' })
  })
  after(() => gateway.close())

  const page = async (): Promise<{ readonly headers: Readonly<Record<string, unknown>>; readonly body: string }> => {
    const { statusCode, headers, body } = await gateway.app.inject('/api/docs/try')
    expect([statusCode, headers['content-type'], headers['cache-control']]).to.deep.equal([
      200,
      'text/html; charset=utf-8',
      'no-store'
    ])
    return { headers, body }
  }

  it('allows what the page names with a nonce of its own, and requests of this origin', async () => {
    const nonces = new Set<string>()
    for (const _ of [1, 2]) {
      const { headers, body } = await page()
      const [, nonce = ''] = /'nonce-([A-Za-z0-9+/]{22}==)'/.exec(String(headers['content-security-policy'])) ?? []
      expect(headers).to.include({
        'content-security-policy':
          `default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src data:; connect-src 'self'; ` +
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin'
      })
      for (const [tag] of body.matchAll(/<(?:script|style|link)\b[^>]*>/g)) expect(tag).to.contain(`nonce="${nonce}"`)
      expect(body).to.not.match(/<script[^>]*>[^<]|\son\w+=|\sstyle=|https?:/)
      nonces.add(nonce)
    }
    expect(nonces).to.have.property('size', 2)
  })

  it('names its files by what they hold, so that browsers keep them', async () => {
    const { body } = await page()
    const paths = Array.from(body.matchAll(/(?:src|href)="(\/api\/docs\/try\/[^"]+)"/g), ([, path = '']) => path)
    expect(paths.map((path) => path.split('/').at(-1))).to.deep.equal([
      'swagger-ui.css',
      'swagger-ui-bundle.js',
      'try-out.js'
    ])
    for (const path of paths) {
      const answer = await gateway.app.inject(path)
      const hash = createHash('sha256').update(answer.rawPayload).digest('hex').slice(0, 16)
      expect(path).to.contain(`/docs/try/${hash}/`)
      expect(answer.headers).to.include({
        'cache-control': 'public, max-age=31536000, immutable',
        'content-type': `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
        'content-length': String(answer.rawPayload.length)
      })
      const stale = await gateway.app.inject(path.replace(hash, '0123456789abcdef'))
      expect([stale.statusCode, stale.headers['cache-control']]).to.deep.equal([200, 'no-store'])
    }
  })

  it('serves the files of the package as they are, and no others', async () => {
    const answer = await gateway.app.inject('/api/docs/try/0/swagger-ui.css')
    const file = createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui.css')
    expect(answer.rawPayload.equals(readFileSync(file))).to.equal(true)
    const headers = { 'accept-encoding': 'gzip, br' }
    const coded = await gateway.app.inject({ url: '/api/docs/try/0/swagger-ui.css', headers })
    expect(coded.headers).to.include({ 'content-encoding': 'br', vary: 'Accept-Encoding' })
    expect(brotliDecompressSync(coded.rawPayload).equals(readFileSync(file))).to.equal(true)
    const own = await gateway.app.inject({ url: '/api/docs/try/0/try-out.js', headers })
    expect(own.headers).to.not.have.property('content-encoding')
    for (const name of [
      'nope.js',
      'package.json',
      '__proto__',
      'constructor',
      '..%2Fpackage.json',
      'swagger-ui.css.map'
    ]) {
      const missing = await gateway.app.inject(`/api/docs/try/0/${name}`)
      expect([name, missing.statusCode, missing.json<{ code: string }>().code]).to.deep.equal([
        name,
        404,
        'route.not-found'
      ])
    }
  })

  it('leads to the provider where accounts of one can sign in', async () => {
    expect((await page()).body).to.not.contain('/auth/sign-in')
    const withProvider = await startGateway({
      OIDC_ISSUER: 'https://provider.example',
      OIDC_CLIENT_ID: 'store',
      OIDC_CLIENT_SECRET: 'a secret'
    })
    const { body } = await withProvider.app.inject('/docs/try')
    expect(body).to.contain('href="/auth/sign-in?returnTo=%2Fdocs%2Ftry"')
    await withProvider.close()
  })
})
