import { expect } from 'chai'
import type { FastifyInstance } from 'fastify'
import { buildStorefront } from '../../../examples/store/storefront/app.js'
import { StoreApi } from '../../../examples/store/storefront/store-api.js'
import { createLogger } from '../../../shared/logger.js'

const NOW = 1_800_000_000_000

function accessCookie(claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `app_auth_access=${part({ alg: 'none' })}.${part(claims)}.`
}

describe('the storefront’s server', () => {
  let app: FastifyInstance
  const page = async (url: string, cookie = ''): Promise<{ status: number; text: string; cache: unknown }> => {
    const { statusCode, body, headers } = await app.inject({ url, headers: { cookie } })
    return { status: statusCode, text: body, cache: headers['cache-control'] }
  }

  before(() => {
    app = buildStorefront({
      // Nobody listens there.
      api: new StoreApi('http://127.0.0.1:9'),
      apiPath: '/api',
      clock: () => NOW,
      log: createLogger({ name: 'storefront', level: 'silent' })
    })
  })
  after(() => app.close())

  it('takes heads of the 64 KiB that the gateway takes, and what it adds', async () => {
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const ask = async (length: number): Promise<unknown> => {
      const { status } = await fetch(`${url}/cart`, { headers: { 'x-long': 'a'.repeat(length) } })
      return status
    }
    expect(await ask(72 * 1024)).to.equal(200)
    expect(await ask(100 * 1024)).to.equal(431)
  })

  it('serves its files, and 404 for any other path', async () => {
    for (const path of ['shop.css', 'look.css', 'mark.svg', 'client/cart.js']) {
      expect((await page(`/shop-assets/${path}`)).status, path).to.equal(200)
    }
    for (const path of ['none.css', 'client/none.js', 'client/cart.ts', '../app.js', '%2e%2e/app.js', 'client/', '']) {
      expect((await page(`/shop-assets/${path}`)).status, path).to.equal(404)
    }
    expect((await page('/favicon.ico')).status).to.equal(200)
  })

  it('answers 200 with a page of its own where the store cannot be reached', async () => {
    for (const path of ['/', '/products', '/products/1']) {
      const { status, text, cache } = await page(path)
      expect([status, cache], path).to.deep.equal([200, 'private, no-store'])
      expect(text, path).to.contain('The store cannot be reached at the moment.')
    }
  })

  it('greets by the cookie, and treats the name as text', async () => {
    const cookie = accessCookie({ sub: 'x', name: '<img src=x onerror=alert(1)>', exp: NOW / 1000 + 60 })
    const { text } = await page('/account', cookie)
    expect(text).to.contain('&lt;img src=x onerror=alert(1)>')
    expect(text).to.not.contain('<img src=x')
    expect((await page('/account', accessCookie({ sub: 'x', name: 'Ada', exp: NOW / 1000 }))).text).to.not.contain(
      'Ada'
    )
  })

  it('renders of a private page the frame alone, and no script for one who is not signed in', async () => {
    const { text } = await page('/orders', accessCookie({ sub: 'x', name: 'Ada', exp: NOW / 1000 + 60 }))
    expect(text).to.contain('client/orders.js')
    expect((await page('/orders')).text).to.not.contain('client/orders.js')
    expect((await page('/orders')).text).to.contain('href="/sign-in?next=%2Forders"')
  })

  it('tells the browser where the API is', async () => {
    expect((await page('/account')).text).to.contain('data-api="/api"')
  })

  for (const next of ['//example.com', 'https://example.com', '/\\example.com', '/\t/example.com', 'cart', '/a\nb']) {
    it(`leads nowhere else after signing in: ${JSON.stringify(next)}`, async () => {
      const { text } = await page(`/sign-in?next=${encodeURIComponent(next)}`)
      expect(/data-next="([^"]*)"/.exec(text)?.[1]).to.equal('/')
    })
  }

  it('leads on to a page of this site, with its query', async () => {
    const { text } = await page(`/sign-in?next=${encodeURIComponent('/products?search=a&page=2')}`)
    expect(/data-next="([^"]*)"/.exec(text)?.[1]).to.equal('/products?search=a&amp;page=2')
  })
})
