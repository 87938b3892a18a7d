import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { SignInStack } from '../api/sign-in/sign-in-stack.js'
import { accessibilityViolations } from './axe.js'
import { sharedBrowser, scriptVisible, Visit } from './visit.js'

/** The provider is at `localhost`, which is another site to a browser that is at `127.0.0.1`. */
describe('sign-in at the site of an OpenID provider', () => {
  const stack = new SignInStack('sqlite', { providerHost: 'localhost', settings: { ADMIN_UI: 'true' } })
  let browser: Browser
  let visit: Visit

  before(async () => {
    await stack.start()
    await stack.link('ada@example.com', 'ada')
    browser = await sharedBrowser()
  })
  after(async () => {
    await stack.stop()
  })
  const begin = async (person: string, options = {}): Promise<Page> => {
    visit = await Visit.start(browser, options)
    const page = await visit.open(`${stack.url}/auth/sign-in?returnTo=/problems%3Ffrom=sign-in`)
    await logInAtProvider(page, person)
    return page
  }
  const logInAtProvider = async (page: Page, person: string): Promise<void> => {
    expect(new URL(page.url()).origin).to.equal(stack.provider.issuer)
    await page.locator('[name=login]').fill(person)
    await page.locator('[name=password]').fill('any')
    await page.locator('[type=submit]').click()
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  /** Opens a page of the admin, which asks who is there, and goes to the provider. */
  const beginInAdmin = async (path: string): Promise<Page> => {
    visit = await Visit.start(browser)
    const page = await visit.open(`${stack.url}/admin/#${path}`)
    const link = page.getByRole('link', { name: `Sign in with ${new URL(stack.provider.issuer).host}` })
    await link.waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await link.click()
    await page.waitForURL(`${stack.provider.issuer}/**`)
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
    expect(await page.getByRole('link', { name: 'Begin again' }).getAttribute('href')).to.equal(
      `/auth/sign-in?returnTo=${encodeURIComponent('/problems?from=sign-in')}`
    )
    expect(await page.getByRole('link', { name: 'Go back' }).getAttribute('href')).to.equal('/problems?from=sign-in')
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

  it('leads from the admin back to the page that somebody has to be signed in for', async () => {
    const path = `/products?filter=${encodeURIComponent('{"name.contains":"Ä & b#1"}')}`
    const page = await beginInAdmin(path)
    await logInAtProvider(page, 'ada')
    await page.getByText('Name contains Ä & b#1').waitFor()
    const { pathname, hash } = new URL(page.url())
    expect([pathname, hash.split('&')[0]]).to.deep.equal(['/admin/', `#${path}`])
    expect(await visit.cookies()).to.include.keys('app_auth_access', 'app_auth_refresh')
  })

  it('says in words why the admin has nobody signed in, and begins again from the same page of it', async () => {
    const path = '/products/1/show'
    const page = await beginInAdmin(path)
    await logInAtProvider(page, 'eve')
    await page.getByText('No account is linked to this sign-in.').waitFor()
    const back = page.getByRole('link', { name: 'Go back' })
    expect(await back.getAttribute('href')).to.equal(`/admin/#${path}`)
    await visit.context.clearCookies({ domain: 'localhost' })
    await page.getByRole('link', { name: 'Begin again' }).click()
    await page.waitForURL(`${stack.provider.issuer}/**`)
    await logInAtProvider(page, 'ada')
    await page.waitForURL(`${stack.url}/admin/#${path}`)
    await page.getByRole('menuitem', { name: 'Products' }).waitFor()
  })

  it('leads back to the sign-in of the admin when it was cancelled at the provider', async () => {
    const page = await beginInAdmin('/orders')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.getByText('The sign-in was cancelled, or the provider did not allow it.').waitFor()
    await page.getByRole('link', { name: 'Go back' }).click()
    await page.getByLabel('Password').waitFor()
  })
})
