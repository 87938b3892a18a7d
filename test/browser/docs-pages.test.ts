/// <reference lib="dom" />
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Browser, Page, Route } from 'playwright-core'
import { isSoak } from '../harness/in-soak.js'
import { outputRoot } from '../harness/package-root.js'
import { accessibilityViolations } from './axe.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

const run = promisify(execFile)

const VIEWPORTS = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const

const COLOUR_SCHEMES = ['light', 'dark'] as const

/** The examples that are run. A row of an example can be created once. */
const WAYS = [
  ['products', 'curl'],
  ['speakers', 'fetch'],
  ['venues', 'typed']
] as const

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

describe('the documentation and the shop in a browser', () => {
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

    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy the access token' }).click()
    await page.getByText(/^Copied\. The token is valid until/).waitFor()
    const token = await page.evaluate(() => navigator.clipboard.readText())
    expect(`Bearer ${token}`).to.equal(authorization)
    for (const [resource, way] of WAYS) {
      const shown = await (await fetch(`${shop.url()}/docs/resources/${resource}`)).text()
      for (const example of examplesIn(shown)[way]) {
        await runExample(way, example, token)
      }
    }

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

    for (const [size, viewport] of Object.entries(VIEWPORTS)) {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme: size === 'phone' ? 'dark' : 'light' })
      const html = size === 'phone' ? 'html.dark-mode' : 'html:not(.dark-mode)'
      await page.locator(html).waitFor({ state: 'attached' })
      expect(await accessibilityViolations(page, OF_THE_LIBRARY)).to.deep.equal([])
    }
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('E-mail address').waitFor()
    expect(await visit.cookies()).to.deep.equal({})
    expect(asked.filter((url) => !/^(?:data|blob):/.test(url) && !url.startsWith(`${shop.url()}/`))).to.deep.equal([])
    // The browser reports the 401 of a request without a session, too.
    expect(visit.complaints.filter((text) => !text.includes('status of 401'))).to.deep.equal([])
  })

  it('finds a resource by the names of its fields and actions, without a network', async () => {
    visit = await Visit.start(browser)
    const page = await visit.open(`${shop.url()}/docs/search`)
    await visit.context.setOffline(true)
    const links = page.locator('#index > li:visible a')
    const all = await links.count()
    await page.getByLabel('Words of a resource').fill('Order ')
    expect((await links.allTextContents()).slice(0, 1)).to.deep.equal(['orders'])
    await page.getByLabel('Words of a resource').fill('sku PUBLISH')
    expect(await links.allTextContents()).to.deep.equal(['products'])
    expect(await page.getByRole('status').textContent()).to.equal(`1 of ${all} shown`)
    await page.getByLabel('Words of a resource').fill('')
    expect(await links.count()).to.equal(all)
    await visit.context.setOffline(false)
    await page.getByLabel('Words of a resource').fill('warehouse')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${shop.url()}/docs/resources/warehouses`)
    await page.goto(`${shop.url()}/docs/orders`)
    expect(page.url()).to.equal(`${shop.url()}/docs/resources/orders`)
    expect(visit.complaints).to.deep.equal([])
  })

  it('has no violation that axe finds, on a screen of a desktop and on that of a phone, light and dark', async () => {
    visit = await Visit.start(browser)
    let page = await visit.open(shop.url())
    const found: string[] = []
    const views = Object.entries(VIEWPORTS).flatMap(([size, viewport]) =>
      COLOUR_SCHEMES.map((colorScheme) => ({ view: `${size}, ${colorScheme}`, viewport, colorScheme }))
    )
    let judged = 0
    const judge = async (path: string): Promise<void> => {
      await page.goto(shop.url() + path)
      await page.locator('[aria-busy]').waitFor({ state: 'detached' })
      // In turn, which is all that differs from the soak: axe takes seconds for the longest of the pages.
      const these = views.filter((_, at) => isSoak || at === judged % views.length)
      judged += 1
      for (const { view, viewport, colorScheme } of these) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme })
        await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))
        for (const violation of await accessibilityViolations(page)) found.push(`${path}, ${view}: ${violation}`)
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
        if (overflow > 0) found.push(`${path}, ${view}: ${overflow} pixels wider than the screen`)
      }
    }
    for (const path of [
      '/docs',
      '/docs/resources/orders',
      '/docs/search',
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

type Way = (typeof WAYS)[number][1]

/** The texts of the examples of a page: a read, a create and a change, each in three ways. */
function examplesIn(page: string): Readonly<Record<Way, readonly string[]>> {
  const escapes: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  const texts = Array.from(page.matchAll(/<pre tabindex="0"><code>([^<]*)<\/code>/g), ([, text = '']) =>
    text.replaceAll(/&([#\w]+);/g, (_, name: string) => escapes[name] ?? '')
  )
  expect(texts).to.have.length(9)
  const every = (first: number): string[] => texts.filter((_, at) => at % 3 === first)
  return { curl: every(0), fetch: every(1), typed: every(2) }
}

/** Runs it as a person would, with the token in the environment. */
async function runExample(way: Way, example: string, token: string): Promise<void> {
  const env = { ...process.env, TOKEN: token }
  if (way === 'curl') {
    const { stdout } = await run('bash', ['-c', example], { env })
    expect(stdout, example).to.match(/^HTTP\/1\.1 20[01] /)
    return
  }
  // Node takes no types. Those of the application are tested with the client.
  const script = example
    .replace(/^import type .*$/m, '')
    .replace('<Application>', '')
    .replace('@uniform-rest/client', pathToFileURL(join(outputRoot, 'clients/typescript/src/client.js')).href)
  await run(process.execPath, ['--input-type=module', '-e', script], { env })
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
