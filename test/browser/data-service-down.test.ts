import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { expectKeptSecrets } from './secrecy.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

/** Milliseconds that an access token is good for, as docs/settings.md says. */
const ACCESS_TOKEN_TTL = 15 * 60_000

describe('the shop while the data service is down', () => {
  let shop: Shop
  let browser: Browser
  let visit: Visit

  before(async () => {
    shop = await Shop.start()
    browser = await sharedBrowser()
  })
  after(async () => {
    await visit?.context.close()
    await shop?.stop()
    expectKeptSecrets(shop)
  })

  it('answers pages without a 5xx, keeps the cookies, and goes on with the session afterwards', async () => {
    visit = await Visit.start(browser)
    const page = await visit.signIn(shop.url(), 'ada')
    const cookies = await visit.cookies()
    await shop.stopDataServices()
    // Until the access token has expired, the name in the cookie is as good as ever.
    expect(await (await page.goto(`${shop.url()}/products/12`))?.text()).to.contain('<b dir="auto">Ada</b>')
    shop.advance(ACCESS_TOKEN_TTL)
    await page.goto(`${shop.url()}/orders`)
    await page.getByText('Sign in to see this.').waitFor()
    for (const path of ['/', '/products/12', '/cart', '/account', '/sign-in']) {
      const response = await page.goto(shop.url() + path)
      expect(response?.status(), path).to.equal(200)
      expect(await response?.text(), path).to.not.contain('Ada')
    }
    await page.goto(`${shop.url()}/products/12`)
    await page.getByText('The store cannot be reached at the moment.').waitFor()
    expect(await visit.cookies()).to.deep.equal(cookies)

    await page.goto(`${shop.url()}/sign-in`)
    await page.getByLabel('E-mail address').fill('ben@example.com')
    await page.getByLabel('Password').fill('demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('The store cannot be reached at the moment.').waitFor()
    expect(await visit.cookies()).to.deep.equal(cookies)

    await shop.restartDataServices()
    await greetedAgain()
    await page.goto(`${shop.url()}/orders`)
    await page.getByRole('link', { name: /^O-/ }).first().waitFor()
    expect((await visit.cookies())['app_auth_refresh']).to.not.equal(cookies['app_auth_refresh'])

    /** A gateway dials again after a while of its own. */
    async function greetedAgain(): Promise<void> {
      for (;;) {
        const response = await page.goto(`${shop.url()}/products/12`)
        expect(response?.status()).to.equal(200)
        if ((await response?.text())?.includes('<b dir="auto">Ada</b>') === true) return
      }
    }
  })
})
