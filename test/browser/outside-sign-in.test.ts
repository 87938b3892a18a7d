import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { SignInStack } from '../api/sign-in/sign-in-stack.js'
import { launchBrowser, scriptVisible, Visit } from './visit.js'

/** The provider is at `localhost`, which is another site to a browser that is at `127.0.0.1`. */
describe('sign-in at the site of an OpenID provider', function () {
  this.timeout(90_000)
  const stack = new SignInStack('sqlite', { providerHost: 'localhost' })
  let browser: Browser
  let visit: Visit

  before(async () => {
    await stack.start()
    await stack.link('ada@example.com', 'ada')
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await stack.stop()
  })
  const begin = async (person: string, options = {}): Promise<Page> => {
    visit = await Visit.start(browser, options)
    const page = await visit.open(`${stack.url}/auth/sign-in?returnTo=/problems%3Ffrom=sign-in`)
    expect(new URL(page.url()).origin).to.equal(stack.provider.issuer)
    await page.locator('[name=login]').fill(person)
    await page.locator('[name=password]').fill('any')
    await page.locator('[type=submit]').click()
    await page.getByRole('button', { name: 'Continue' }).click()
    return page
  }
  afterEach(() => visit.context.close())

  it('leads back into a session, with nothing of the code left behind', async () => {
    const page = await begin('ada')
    await page.waitForURL(`${stack.url}/problems?from=sign-in`)
    expect(await visit.cookies()).to.include.keys('app_auth_access', 'app_auth_refresh')
    expect(await visit.cookies()).to.not.have.any.keys('app_auth_sign_in')
    expect(await scriptVisible(page)).to.not.match(/code=|state=/)
    await page.goBack()
    expect(page.url()).to.not.contain('code=')
    expect(visit.complaints.filter((one) => one.includes(stack.url) || /security policy/i.test(one))).to.deep.equal([])
    const token = await visit.context.request.post(`${stack.url}/auth/session/token`)
    expect(token.status()).to.equal(200)
  })

  it('says on the page why somebody is not signed in', async () => {
    const page = await begin('eve')
    await page.getByText('No account is linked to this sign-in.').waitFor()
    expect(await page.getByRole('heading').innerText()).to.equal('You are not signed in')
    expect(page.url()).to.equal(`${stack.url}/auth/callback`)
    expect(await visit.cookies()).to.not.have.any.keys('app_auth_access', 'app_auth_refresh', 'app_auth_sign_in')
    expect(await page.getByRole('link', { name: 'Begin again' }).getAttribute('href')).to.equal('/auth/sign-in')
  })

  it('says that it needs scripts where they are off', async () => {
    const page = await begin('ada', { javaScriptEnabled: false })
    await page.getByText('Signing in needs JavaScript.').waitFor()
    expect(await visit.cookies()).to.not.have.any.keys('app_auth_access', 'app_auth_refresh')
  })

  it('does not go on from a callback that another browser began', async () => {
    visit = await Visit.start(browser)
    const page = await visit.open(`${stack.provider.issuer}/.well-known/openid-configuration`)
    const callback = `${stack.url}/auth/callback?code=made-up&state=${'x'.repeat(43)}&iss=${stack.provider.issuer}`
    await page.evaluate((url) => void (location.href = url), callback)
    await page.getByText('This browser has begun no such sign-in').waitFor()
    expect(await visit.cookies()).to.deep.equal({})
  })
})
