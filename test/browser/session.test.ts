import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import type { Browser } from 'playwright-core'
import { request } from '../harness/http.js'
import { expectKeptSecrets, refreshTokens } from './secrecy.js'
import { Shop } from './shop.js'
import { sharedBrowser, scriptVisible, Visit } from './visit.js'

const TABS = isSoak ? 10 : 4
/** Milliseconds that an access token is good for: longer than the grace of a refresh token that was used. */
const LIFETIME = 15 * 60_000

describe('a browser session', () => {
  let shop: Shop
  let browser: Browser
  let visit: Visit

  before(async () => {
    shop = await Shop.start({ replicas: 2, env: { ACCESS_TOKEN_TTL: '15m', REFRESH_GRACE: '2m' } })
    browser = await sharedBrowser()
  })
  after(async () => {
    await shop?.stop()
  })
  beforeEach(async () => {
    visit = await Visit.start(browser)
  })
  afterEach(async () => {
    await visit.context.close()
    expectKeptSecrets(shop)
  })

  it('greets in the first bytes of a deep link that is opened in a new tab', async () => {
    await visit.signIn(shop.url(), 'ada')
    const response = await visit.context.newPage().then((page) => page.goto(`${shop.url()}/products/12`))
    expect(await response?.text()).to.contain('Hello, <b dir="auto">Ada</b>')
    expect(visit.complaints).to.deep.equal([])
  })

  it('greets with scripting off as well', async () => {
    await visit.signIn(shop.url(), 'ada')
    const state = await visit.context.storageState()
    const scriptless = await Visit.start(browser, { javaScriptEnabled: false, storageState: state })
    const page = await scriptless.open(`${shop.url()}/products/12`)
    expect(await page.getByRole('navigation', { name: 'Shop' }).innerText()).to.match(/Hello, Ada/)
    expect(await page.getByRole('button', { name: 'Add to cart' }).isDisabled()).to.equal(true)
    await page.goto(`${shop.url()}/orders`)
    expect(await page.locator('.notice').innerText()).to.match(/needs JavaScript/)
    await scriptless.context.close()
  })

  it('shows a page to one who is not signed in, anonymously', async () => {
    const page = await visit.open(`${shop.url()}/products/12`)
    expect(await page.getByRole('navigation', { name: 'Shop' }).innerText()).to.match(/Sign in/)
    expect(await visit.cookies()).to.deep.equal({})
  })

  it('is refreshed once by the navigation after the access token has expired', async () => {
    await visit.signIn(shop.url(), 'ada')
    const before = await visit.cookies()
    shop.advance(LIFETIME)
    const known = refreshTokens(shop.answers()).size
    const page = await visit.context.newPage()
    const response = await page.goto(`${shop.url()}/products/12`)
    expect(await response?.text()).to.contain('<b dir="auto">Ada</b>')
    const fresh = await visit.cookies()
    expect(fresh['app_auth_access']).to.not.equal(before['app_auth_access'])
    expect(fresh['app_auth_refresh']).to.not.equal(before['app_auth_refresh'])
    expect(refreshTokens(shop.answers()).size).to.equal(known + 1)
  })

  it('outlives tabs that are restored at the same moment, over two gateways', async () => {
    await visit.signIn(shop.url(), 'ada')
    shop.advance(LIFETIME)
    const tabs = await Promise.all(Array.from({ length: TABS }, () => visit.context.newPage()))
    const answers = await Promise.all(
      tabs.map((tab, index) => tab.goto(`${shop.url(index % 2)}/products/${index + 1}`))
    )
    for (const [at, answer] of answers.entries()) {
      expect(answer?.status(), `answer ${at}`).to.equal(200)
      expect(await answer?.text(), `answer ${at}`).to.contain('<b dir="auto">Ada</b>')
    }
    // Whichever answer came last, its cookies are good, at either gateway: by now no grace is left for used ones.
    shop.advance(LIFETIME)
    for (const replica of [0, 1]) {
      const page = await visit.open(`${shop.url(replica)}/orders`)
      await page.getByRole('link', { name: /^O-/ }).first().waitFor()
    }
  })

  it('gives scripts nothing of the refresh token', async () => {
    const pages = [await visit.signIn(shop.url(), 'ada', '/account')]
    for (const path of ['/cart', '/orders', '/products/1']) pages.push(await visit.open(shop.url() + path))
    await pages[0]?.getByText('Ada Lovelace').waitFor()
    const { app_auth_access: access = '', app_auth_refresh: refresh = '' } = await visit.cookies()
    expect([access, refresh]).to.not.include('')
    for (const [at, page] of pages.entries()) {
      const seen = await scriptVisible(page)
      expect(seen, `page ${at}`).to.contain('Hello, ')
      expect(seen, `page ${at}`).to.not.contain(refresh)
      expect(seen, `page ${at}`).to.not.contain(access)
      expect(await page.evaluate(() => document.cookie), `page ${at}`).to.equal('')
    }
  })

  it('is over after signing out, on every way back', async () => {
    await visit.signIn(shop.url(), 'ada')
    const page = await visit.open(`${shop.url()}/orders`)
    await page.getByRole('link', { name: /^O-/ }).first().waitFor()
    await page.goto(`${shop.url()}/account`)
    await page.getByText('Ada Lovelace').waitFor()
    const { app_auth_access: access = '', app_auth_refresh: refresh = '' } = await visit.cookies()
    const left = page.waitForResponse('**/auth/logout')
    await page.getByRole('button', { name: 'Sign out' }).click()
    const setCookies = (await (await left).headersArray()).filter(({ name }) => name.toLowerCase() === 'set-cookie')
    expect(setCookies.map(({ value }) => value)).to.have.members([
      'app_auth_access=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
      'app_auth_refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'
    ])
    await page.waitForURL(`${shop.url()}/`)
    expect(await visit.cookies()).to.deep.equal({})

    // The account's page has given its place in the history to the one after signing out.
    await page.goBack({ waitUntil: 'load' })
    await page.getByText('Sign in to see this.').waitFor()
    expect(await page.content()).to.not.match(/Ada|O-\d/)

    const dead = await request(`${shop.url()}/auth/session/token`, {
      method: 'POST',
      headers: { cookie: `app_auth_refresh=${refresh}` }
    })
    expect([dead.status, dead.text]).to.deep.equal([401, '{"error":"no_session"}'])
    expect(access).to.not.equal('')
  })

  it('that ends in one tab ends in the others', async () => {
    const other = await visit.signIn(shop.url(), 'ada', '/orders')
    await other.getByRole('link', { name: /^O-/ }).first().waitFor()
    const page = await visit.open(`${shop.url()}/account`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await other.getByText('Sign in to see this.').waitFor()
    expect(await other.getByRole('link', { name: /^O-/ }).count(), 'orders still shown in the other tab').to.equal(0)
  })

  it('leads on to pages of this site alone after signing in', async () => {
    const page = await visit.open(`${shop.url()}/sign-in?next=${encodeURIComponent('//example.com/')}`)
    expect(await page.locator('#sign-in').getAttribute('data-next')).to.equal('/')
    await page.getByLabel('E-mail address').fill('ada@example.com')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').innerText()).to.match(/password is wrong/)
  })

  it('with a forged cookie is a name on a page and nothing else', async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = { sub: 'admin@example.com', name: 'Admin', role: 'Admin', exp: 4_000_000_000 }
    const forged = `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.`
    await visit.context.addCookies([{ name: 'app_auth_access', value: forged, url: shop.url() }])
    const calls: number[] = []
    visit.context.on('response', (response) => {
      if (response.url().includes('/auth/session/token')) calls.push(response.status())
    })
    for (const path of ['/orders', '/account', '/cart']) {
      await visit.context.addCookies([{ name: 'app_auth_access', value: forged, url: shop.url() }])
      const page = await visit.open(shop.url() + path)
      await page.getByText('Your session is over.').waitFor()
      await page.close()
    }
    expect(calls).to.deep.equal([401, 401, 401])
    for (const path of ['/orders', '/customers/1', '/audit-entries', '/shopping-carts']) {
      const headers = { authorization: `Bearer ${forged}`, cookie: `app_auth_access=${forged}` }
      expect((await request(shop.url() + path, { headers })).status, path).to.equal(401)
      expect((await request(shop.url() + path, { headers: { cookie: headers.cookie } })).status, path).to.equal(401)
    }
  })
})
