import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { isSoak } from '../harness/in-soak.js'
import { accessibilityViolations } from './axe.js'
import { expectKeptSecrets } from './secrecy.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

const PHONE = { width: 360, height: 740 }
/** More than any page has places to stop at. */
const MAX_STOPS = 150

describe('a purchase', () => {
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
    await visit.context.close()
    expectKeptSecrets(shop)
  })

  it('is made with the keyboard alone', async () => {
    visit = await Visit.start(browser)
    const page = await visit.open(shop.url())
    await page.keyboard.press('Tab')
    expect(await focused(page)).to.equal('Skip to the content')
    await goTo(page, 'Search products')
    await page.keyboard.type('Everyday Copper Jug')
    await page.keyboard.press('Enter')
    await page.waitForURL(/search=Everyday/)
    await goTo(page, /^Everyday Copper Jug/)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/products\/\d+$/)
    await page.locator('#buy button:enabled').waitFor()
    const product = page.url()

    await goTo(page, 'Add to cart')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/sign-in\?next=%2Fproducts%2F\d+$/)
    await page.locator('#sign-in button:enabled').waitFor()
    await goTo(page, 'E-mail address')
    await page.keyboard.type('ada@example.com')
    await page.keyboard.press('Tab')
    await page.keyboard.type('demo-password')
    await page.keyboard.press('Enter')
    await page.waitForURL(product)

    await page.locator('#buy button:enabled').waitFor()
    await goTo(page, 'Quantity')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('It is in your cart.').waitFor()
    expect(await focused(page)).to.equal('Add to cart')
    await goTo(page, 'To the cart')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${shop.url()}/cart`)
    await page.getByText('2 × ').waitFor()
    await goTo(page, 'Place the order')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/orders\/\d+$/)
    await page.getByText('placed', { exact: true }).waitFor()
    await goTo(page, 'Pay')
    await page.keyboard.press('Enter')
    await page.getByText('Paid. Thank you!').waitFor()
    await page.getByText('paid', { exact: true }).waitFor()
    expect(visit.complaints).to.deep.equal([])
  })

  if (isSoak)
    it('fills a cart that is empty again once it is an order', async () => {
      visit = await Visit.start(browser)
      const page = await visit.signIn(shop.url(), 'ben', '/cart')
      // What the sample store has in it.
      await page.getByRole('button', { name: 'Empty the cart' }).click()
      await page.getByText('There is nothing in your cart yet.').waitFor()
      await page.goto(`${shop.url()}/products/7`)
      await add(page)
      await page.goto(`${shop.url()}/products/12`)
      await add(page)
      await add(page)
      await page.goto(`${shop.url()}/cart`)
      const lines = page.locator('.lines > li')
      await page.getByRole('button', { name: 'Place the order' }).waitFor()
      expect(await lines.count()).to.equal(2)

      await lines
        .nth(0)
        .getByLabel(/^Quantity of/)
        .fill('3')
      await page.keyboard.press('Enter')
      await lines.getByText('3 × ').waitFor()
      const [first, second] = await lines.locator('.price').allInnerTexts()
      expect(await page.locator('.sum .price').innerText()).to.equal(euros(amount(first) + amount(second)))
      await lines
        .nth(1)
        .getByRole('button', { name: /^Remove/ })
        .click()
      await lines.nth(1).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Place the order' }).click()
      await page.waitForURL(/\/orders\/\d+$/)
      expect(await page.locator('.sum .price').innerText()).to.equal(first)

      await page.goto(`${shop.url()}/cart`)
      await page.getByText('There is nothing in your cart yet.').waitFor()
      await page.goto(`${shop.url()}/products/7`)
      await add(page)
      await page.goto(`${shop.url()}/cart`)
      await page.getByText('1 × ').waitFor()
      expect(await lines.count()).to.equal(1)
      expect(visit.complaints).to.deep.equal([])
    })

  it('takes up what another tab did to the cart meanwhile', async () => {
    visit = await Visit.start(browser)
    const product = await visit.signIn(shop.url(), 'ada', '/products/7')
    await add(product)
    const cart = await visit.open(`${shop.url()}/cart`)
    await cart.getByText('1 × ').waitFor()
    await add(product)
    await cart.bringToFront()
    await cart.getByRole('button', { name: 'Place the order' }).click()
    await cart.getByText('This was changed meanwhile.').waitFor()
    await cart.getByText('2 × ').waitFor()
    expect(new URL(cart.url()).pathname).to.equal('/cart')
    await add(product)
    await cart.bringToFront()
    await cart.getByRole('button', { name: /^Remove/ }).click()
    await cart.getByText('There is nothing in your cart yet.').waitFor()
    expect(new Set(visit.complaints.map((text) => /status of (\d+)/.exec(text)?.[1]))).to.deep.equal(new Set(['412']))
  })

  if (isSoak)
    it('is called off on the page of its order', async () => {
      visit = await Visit.start(browser)
      const page = await visit.signIn(shop.url(), 'ada', '/products/7')
      await add(page)
      await page.goto(`${shop.url()}/cart`)
      await page.getByRole('button', { name: 'Place the order' }).click()
      await page.waitForURL(/\/orders\/\d+$/)
      await page.getByRole('button', { name: 'Cancel the order' }).click()
      await page.getByText('cancelled', { exact: true }).waitFor()
      expect(await page.getByRole('button', { name: 'Pay' }).count()).to.equal(0)
      expect(visit.complaints).to.deep.equal([])
    })

  if (isSoak)
    it('is nothing for an account that is no customer, which sees nobody’s cart or orders', async () => {
      visit = await Visit.start(browser)
      const page = await visit.signIn(shop.url(), 'admin', '/cart')
      for (const path of ['/cart', '/orders', '/account']) {
        await page.goto(shop.url() + path)
        await page.getByText('This account is no customer of the shop').waitFor()
        expect(await page.locator('a[href*="/orders/"]').count(), `orders shown by ${path}`).to.equal(0)
      }
    })

  it('shows nothing of another customer’s order', async () => {
    visit = await Visit.start(browser)
    const page = await visit.signIn(shop.url(), 'ada', '/orders')
    await page.locator('.orders a').first().waitFor()
    const path = new URL((await page.locator('.orders a').first().getAttribute('href')) ?? '', shop.url()).pathname
    const other = await Visit.start(browser)
    const stranger = await other.signIn(shop.url(), 'ben', path)
    await stranger.getByText('There is no such order of yours.').waitFor()
    const number = (await page.locator('.orders a').first().innerText()).trim()
    expect(number, 'the number of the order').to.match(/^O-/)
    expect(await stranger.content()).to.not.contain(number)
    await other.context.close()
  })

  // In the soak: every kind of page, on a desktop too (docs-pages.test.ts).
  it('begins at pages in which axe finds no violation on a phone: a product, and a page of the documentation', async () => {
    visit = await Visit.start(browser, { viewport: PHONE })
    const page = await visit.open(shop.url())
    for (const path of ['/products/517', '/docs/resources/orders']) {
      await page.goto(shop.url() + path)
      await page.locator('[aria-busy]').waitFor({ state: 'detached' })
      expect(await accessibilityViolations(page), path).to.deep.equal([])
    }
  })

  for (const colorScheme of isSoak ? (['light', 'dark'] as const) : (['light'] as const)) {
    it(`fits a phone, ${colorScheme}, without scrolling sideways`, async () => {
      visit = await Visit.start(browser, { viewport: PHONE, colorScheme, reducedMotion: 'reduce' })
      const page = await visit.signIn(shop.url(), 'ada', '/products/7')
      await add(page)
      const shopping = [
        '/',
        '/products?sort=name',
        '/products?search=a',
        '/products/1',
        '/products/4',
        '/cart',
        '/orders'
      ]
      const paths = [...shopping, '/orders/1', '/account', '/stock', '/sign-in?next=/cart', '/no/such/page']
      for (const path of paths) {
        await page.goto(shop.url() + path)
        await page.locator('[aria-busy]').waitFor({ state: 'detached' })
        const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
        expect(content, path).to.be.at.most(window ?? 0)
      }
      expect(visit.complaints.filter((text) => !text.includes('404'))).to.deep.equal([])
    })
  }
})

async function add(page: Page): Promise<void> {
  // A browser draws the pages behind another one rarely, and a click waits for that.
  await page.bringToFront()
  const answered = page.waitForResponse(/\/shopping-carts(?:\/\d+\/add-item)?$/)
  await page.getByRole('button', { name: 'Add to cart' }).click()
  await answered
  await page.locator('#buy button:enabled').waitFor()
  await page.getByRole('status').getByText('It is in your cart.').waitFor()
}

/** Presses Tab until what has the focus is called that. */
async function goTo(page: Page, name: string | RegExp): Promise<void> {
  for (let stops = 0; stops < MAX_STOPS; stops++) {
    await page.keyboard.press('Tab')
    const here = await focused(page)
    if (typeof name === 'string' ? here === name : name.test(here)) return
  }
  throw new Error(`Tab does not lead to ${String(name)}`)
}

/** What has the focus, as its label or text, and that it shows it has. */
function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (!(element instanceof HTMLElement) || element === document.body) return ''
    if (getComputedStyle(element).outlineStyle === 'none') return 'something without an outline'
    const label = element instanceof HTMLInputElement ? element.labels?.[0]?.innerText : undefined
    return (label ?? element.innerText).trim()
  })
}

function amount(text = ''): number {
  return Number(text.replaceAll(/[€,]/g, ''))
}

function euros(value: number): string {
  return `€${value.toFixed(2)}`
}
