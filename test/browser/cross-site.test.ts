import { createServer, type Server } from 'node:http'
import { expect } from 'chai'
import type { Browser, Page, Response } from 'playwright-core'
import { expectKeptSecrets, headsOf } from './secrecy.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'
import { listenLocally } from '../harness/local-server.js'

const LOGIN = '{"email":"ben@example.com","password":"demo-password"}'
const ENDPOINTS = [
  { path: '/auth/login', body: LOGIN },
  { path: '/auth/session-cookie', body: '{"accessToken":"a.b.c","refreshToken":"mine"}' },
  { path: '/auth/session/token', body: '' },
  { path: '/auth/logout', body: '' }
] as const

/** A page of another site: to a browser, `localhost` is one beside `127.0.0.1`. */
describe('a page of another site', () => {
  let shop: Shop
  let browser: Browser
  let visit: Visit
  let site: Server
  let sitePort: number
  let page: Page

  before(async () => {
    shop = await Shop.start()
    browser = await sharedBrowser()
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>Another site</title>')
    })
    sitePort = await listenLocally(site)
    visit = await Visit.start(browser)
    await visit.signIn(shop.url(), 'ada')
  })
  after(async () => {
    await visit?.context.close()
    site?.close()
    await shop?.stop()
  })
  beforeEach(async () => {
    page = await visit.open(`http://localhost:${sitePort}/`)
  })
  afterEach(() => page.close())
  after(() => expectKeptSecrets(shop))

  /** Does something, and sees to it that each answer to it was a 403 that set no cookie, and that none has changed. */
  async function expectRejected(act: () => Promise<unknown>): Promise<void> {
    const cookies = await visit.cookies()
    expect(cookies).to.have.keys('app_auth_access', 'app_auth_refresh')
    const before = new Set(headsOf(shop.answers()))
    await act()
    // The browser asks for the picture of the site by itself.
    const heads = headsOf(shop.answers()).filter((head) => !before.has(head) && !head.includes('image/svg+xml'))
    expect(heads).to.not.be.empty
    for (const head of heads) {
      expect(head).to.match(/^HTTP\/1\.1 403 /)
      expect(head).to.not.match(/^set-cookie:/im)
      expect(head).to.not.match(/^access-control-allow/im)
    }
    expect(await visit.cookies()).to.deep.equal(cookies)
  }

  /**
   * Does what leads the page to `url`, and waits until it is there: closing a page that is still on its way may never
   * end.
   */
  async function arriveAt(url: string, act: () => Promise<unknown>): Promise<Response> {
    const answered = page.waitForResponse(url)
    const arrived = page.waitForURL(url)
    const [answer] = await Promise.all([answered, arrived, act()])
    return answer
  }

  for (const { path, body } of ENDPOINTS) {
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']) {
      it(`posts no form of ${type} to ${path}`, async () => {
        await expectRejected(async () => {
          const answer = await arriveAt(shop.url() + path, () =>
            page.evaluate(postForm, { action: shop.url() + path, type, body })
          )
          expect(answer.status()).to.equal(403)
          expect(await answer.text()).to.contain('request.cross-site')
        })
      })
    }

    for (const mode of ['cors', 'no-cors'] as const) {
      it(`sends no plain fetch (${mode}) to ${path}`, () =>
        expectRejected(async () => {
          const plain = { url: shop.url() + path, mode, type: 'text/plain', method: 'POST', body }
          // Nor is the page told that there was an answer (Cross-Origin-Resource-Policy).
          expect(await page.evaluate(sendFetch, plain)).to.equal('nothing')
        }))
    }

    it(`sends no preflighted fetch to ${path}`, () =>
      expectRejected(async () => {
        const json = { url: shop.url() + path, mode: 'cors', type: 'application/json', method: 'POST', body }
        expect(await page.evaluate(sendFetch, json)).to.equal('nothing')
      }))
  }

  it('sends no preflighted DELETE to /auth/session-cookie', () =>
    expectRejected(async () => {
      const url = `${shop.url()}/auth/session-cookie`
      expect(
        await page.evaluate(sendFetch, { url, mode: 'cors', method: 'DELETE', type: 'application/json', body: '' })
      ).to.equal('nothing')
    }))

  it('gets no antiforgery token, by fetch or by a link', async () => {
    const url = `${shop.url()}/auth/antiforgery`
    await expectRejected(async () => {
      const sent = page.waitForRequest(url)
      expect(
        await page.evaluate(sendFetch, { url, mode: 'no-cors', method: 'GET', type: 'text/plain', body: '' })
      ).to.equal('nothing')
      await sent
    })
    await expectRejected(async () => {
      const answer = await arriveAt(url, () => page.evaluate((to) => location.assign(to), url))
      expect(answer.status()).to.equal(403)
    })
  })

  it('posts nothing to the pages of the shop', () => expectRejected(postToShop))

  it('posts nothing to the session endpoints either where it is a neighbour on the same site, whose posts come with the cookies', async () => {
    const address = page.url().replace('localhost', '127.0.0.1')
    await page.close()
    page = await visit.open(address)
    await expectRejected(postToShop)
  })

  async function postToShop(): Promise<void> {
    const url = `${shop.url()}/sign-in`
    const answer = await arriveAt(url, () =>
      page.evaluate(postForm, { action: url, type: 'application/x-www-form-urlencoded', body: 'x' })
    )
    expect(await answer.text()).to.contain('request.cross-site')
  }

  it('leads to the shop by a link, where the visitor is greeted', async () => {
    const url = `${shop.url()}/products/12`
    const answer = await arriveAt(url, () => page.evaluate((to) => location.assign(to), url))
    expect(await answer.text()).to.contain('<b dir="auto">Ada</b>')
  })
})

interface Sent {
  readonly url: string
  readonly mode: string
  readonly method: string
  readonly type: string
  /** Empty for none. */
  readonly body: string
}

/** Runs in the page. What it can read of the answer. */
async function sendFetch({ url, mode, method, type, body }: Sent): Promise<string> {
  try {
    const response = await fetch(url, {
      method,
      mode: mode === 'cors' ? 'cors' : 'no-cors',
      credentials: 'include',
      headers: { 'content-type': type },
      ...(body === '' ? {} : { body })
    })
    return response.type === 'opaque' ? 'opaque' : await response.text()
  } catch {
    return 'nothing'
  }
}

/** Runs in the page. With text/plain the body goes as JSON but for a sign of equality at its end. */
function postForm({
  action,
  type,
  body
}: {
  readonly action: string
  readonly type: string
  readonly body: string
}): void {
  const form = document.createElement('form')
  form.method = 'post'
  form.action = action
  form.enctype = type
  const field = document.createElement('input')
  field.name = body
  form.append(field)
  document.body.append(form)
  form.submit()
}
