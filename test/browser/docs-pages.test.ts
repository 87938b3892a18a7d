/// <reference lib="dom" />
import { expect } from 'chai'
import type { Browser, Page, Route } from 'playwright-core'
import { isSoak } from '../harness/in-soak.js'
import { accessibilityViolations } from './axe.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

const VIEWPORTS = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const

/** What swagger-ui renders wrong by itself, below the element that it is given. */
const OF_THE_LIBRARY = {
  within: '#reference',
  rules: {
    'color-contrast': 'its colours of methods, buttons and small texts are not ours',
    'nested-interactive': 'the line of an operation is a button with others in it',
    'select-name': 'selections of parameters have their name in another cell of the table',
    label: 'and so have fields of parameters',
    'scrollable-region-focusable': 'examples scroll and take no focus',
    'heading-order': 'its headings go from the second level to the third where it has no second one',
    region: 'the title of the document stands outside the landmarks that it makes'
  }
}

describe('the documentation and the shop in a browser', function () {
  this.timeout(300_000)
  let shop: Shop
  let browser: Browser
  let visit: Visit

  before(async () => {
    shop = await Shop.start()
    browser = await sharedBrowser()
  })
  after(async () => {
    await shop?.stop()
  })
  afterEach(async () => {
    // A page may ask for the document once more while it closes.
    await visit.context.unrouteAll({ behavior: 'ignoreErrors' })
    await visit.context.close()
  })

  it('lets an account try out what it may do, with its token in memory alone and within the policy of the page', async () => {
    visit = await Visit.start(browser)
    const asked: string[] = []
    visit.context.on('request', (request) => asked.push(request.url()))
    const page = await visit.context.newPage()
    await visit.context.route('**/openapi.json?exact=true', keepFew)
    const [anonymous] = await Promise.all([
      page.waitForResponse('**/openapi.json?exact=true'),
      page.goto(`${shop.url()}/docs/try`)
    ])
    expect(await anonymous.text()).to.not.contain('costPrice')

    await page.locator('.opblock-tag').first().waitFor()
    await page.getByLabel('E-mail address').fill('clerk@example.com')
    await page.getByLabel('Password').fill('demo-password')
    const [signedIn] = await Promise.all([
      page.waitForResponse('**/openapi.json?exact=true'),
      page.getByRole('button', { name: 'Sign in' }).click()
    ])
    const { authorization = '' } = await signedIn.request().allHeaders()
    expect(await signedIn.text()).to.contain('costPrice')
    expect(authorization).to.match(/^Bearer /)

    const answer = await triedOut(page, 'customers')
    expect([answer.status, new URL(answer.url).pathname, answer.authorization], answer.shown).to.deep.equal([
      200,
      '/customers/paged',
      authorization
    ])
    expect(answer.shown).to.contain('"email"')
    expect(
      await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]))
    ).to.equal('["",{},{}]')

    for (const viewport of Object.values(VIEWPORTS)) {
      await page.setViewportSize(viewport)
      expect(await accessibilityViolations(page, OF_THE_LIBRARY)).to.deep.equal([])
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail address').waitFor()
    expect(await visit.cookies()).to.deep.equal({})
    expect(asked.filter((url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${shop.url()}/`))).to.deep.equal([])
    // The browser reports the 401 of a request without a session, too.
    expect(visit.complaints.filter((text) => !text.includes('status of 401'))).to.deep.equal([])
  })

  it('has no violation that axe finds, on a screen of a desktop and on that of a phone', async () => {
    visit = await Visit.start(browser)
    let page = await visit.open(shop.url())
    const found: string[] = []
    const sizes = Object.entries(VIEWPORTS)
    let judged = 0
    const judge = async (path: string): Promise<void> => {
      await page.goto(shop.url() + path)
      await page.locator('[aria-busy]').waitFor({ state: 'detached' })
      // In turn, which is all that differs from the soak: axe takes seconds for the longest of the pages.
      const these = sizes.filter((_, at) => isSoak || at === judged % 2)
      judged += 1
      for (const [size, viewport] of these) {
        await page.setViewportSize(viewport)
        for (const violation of await accessibilityViolations(page)) found.push(`${path}, ${size}: ${violation}`)
      }
    }
    for (const path of [
      '/docs',
      '/docs/resources/orders',
      '/problems',
      '/problems/conflict',
      '/',
      '/products/517',
      '/sign-in'
    ]) {
      await judge(path)
    }
    // A sign-in reloads the other pages, which would interrupt what they open next.
    page = await visit.signIn(shop.url(), 'ada')
    for (const path of ['/cart', '/orders', '/account', '/stock']) await judge(path)
    expect(found).to.deep.equal([])
  })
})

/** Leaves two resources in the document that a page gets: swagger-ui renders the hundreds of others for most of a minute. */
async function keepFew(route: Route): Promise<void> {
  const response = await route.fetch()
  const document = (await response.json()) as { paths: Record<string, unknown> }
  const few = Object.entries(document.paths).filter(([path]) => /^\/(?:customers|products)(?:\/|$)/.test(path))
  await route.fulfill({ response, json: { ...document, paths: Object.fromEntries(few) } })
}

interface TriedOut {
  readonly url: string
  readonly status: number
  readonly authorization: string | undefined
  /** What the page shows of the answer. */
  readonly shown: string
}

/** Opens the paged read of a resource in the page, and runs it. */
async function triedOut(page: Page, resource: string): Promise<TriedOut> {
  const section = page.locator(`.opblock-tag-section:has([data-tag="${resource}"])`)
  await section.locator('.opblock-tag').click()
  const operation = section.locator(`.opblock-get:has([data-path="/${resource}/paged"])`)
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  const [answer] = await Promise.all([
    page.waitForResponse(`**/${resource}/paged**`),
    operation.getByRole('button', { name: 'Execute' }).click()
  ])
  const shown = await operation.locator('.live-responses-table').innerText()
  const { authorization } = await answer.request().allHeaders()
  return { url: answer.url(), status: answer.status(), authorization, shown }
}
