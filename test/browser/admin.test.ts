/// <reference lib="dom" />
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { accessibilityViolations } from './axe.js'
import { Shop } from './shop.js'
import { launchBrowser, Visit } from './visit.js'

const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const

describe('the admin', function () {
  this.timeout(120_000)
  let shop: Shop
  let browser: Browser
  let visit: Visit

  before(async () => {
    shop = await Shop.start({ env: { ADMIN_UI: 'true' } })
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await shop?.stop()
  })
  afterEach(async () => {
    // The first look for a session finds none, and a conflict is what a test is about.
    const expected = /status of (?:401|412)/
    expect(visit.complaints.filter((one) => !expected.test(one))).to.deep.equal([])
    await visit.context.close()
  })

  const open = async (account: string, path: string, size: keyof typeof SIZES = 'desktop'): Promise<Page> => {
    visit = await Visit.start(browser, { viewport: SIZES[size] })
    visit.context.setDefaultTimeout(45_000)
    const page = await visit.open(`${shop.url()}/admin`)
    await page.getByLabel('E-mail address').fill(`${account}@example.com`)
    await page.getByLabel('Password').fill('demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByLabel('Password').waitFor({ state: 'detached' })
    await go(page, path)
    return page
  }
  const go = (page: Page, path: string) => page.goto(`${shop.url()}/admin/#${path}`)

  it('lists, searches, filters by operator, sorts and exports', async () => {
    const page = await open('admin', '/products')
    await page.getByRole('cell', { name: 'JUG-00001', exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('copper jug')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'PAN-00002', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Field' }).click()
    await page.getByRole('option', { name: 'Price', exact: true }).click()
    await page.getByRole('combobox', { name: 'Condition' }).click()
    await page.getByRole('option', { name: 'less than', exact: true }).click()
    await page.getByLabel('Value').fill('50')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Remove the filter Price less than 50' }).waitFor()
    const sorted = page.waitForResponse((one) => /products\/paged\?.*sortColumn=price/.test(one.url()))
    await page.getByRole('columnheader', { name: 'Price' }).getByRole('button').click()
    const rows = (await (await sorted).json()) as { readonly name: string; readonly price: string }[]
    expect(rows.length).to.be.greaterThan(1)
    expect(rows.every(({ name, price }) => /copper/i.test(name) && /jug/i.test(name) && Number(price) < 50)).to.equal(
      true
    )
    const prices = rows.map(({ price }) => Number(price))
    expect(prices).to.deep.equal(prices.toSorted((a, b) => a - b))
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export' }).click()
    expect((await download).suggestedFilename()).to.match(/^products-\d{8}T\d{6}Z\.csv$/)
  })

  it('shows both sides of a save that came too late, and saves what is chosen', async () => {
    const page = await open('admin', '/products/3')
    await page.getByLabel('Name').fill('Mine')
    const other = await visit.open(`${shop.url()}/admin/#/products/3`)
    await other.getByLabel('Name').fill('Theirs')
    await other.getByRole('button', { name: 'Save' }).click()
    await other.getByRole('heading', { name: /Theirs/ }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Somebody else has changed this meanwhile' })
    expect(await dialog.getByRole('row', { name: /^Name/ }).innerText()).to.match(/Mine[\s\S]*Theirs/)
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await dialog.getByRole('button', { name: 'Save the choice' }).click()
    await page.getByRole('heading', { name: /Mine/ }).waitFor()
  })

  it('offers an action in the state that allows it, and a delete', async () => {
    const page = await open('admin', '/suppliers/1/show')
    await page.getByRole('button', { name: 'Delete' }).waitFor()
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const isActive = (await button('Deactivate').count()) === 1
    const [offered, other] = isActive ? ['Deactivate', 'Activate'] : ['Activate', 'Deactivate']
    expect(await button(other).count()).to.equal(0)
    await button(offered).click()
    await page.getByRole('dialog', { name: offered }).getByRole('button', { name: offered }).click()
    await button(other).waitFor()
    expect(await button(offered).count()).to.equal(0)
  })

  it('deletes a row', async () => {
    const page = await open('admin', '/products')
    const product = await page.evaluate(async () => {
      const session = await fetch('/auth/session/token', { method: 'POST' })
      const { accessToken } = (await session.json()) as { accessToken: string }
      const made = await fetch('/products', {
        method: 'POST',
        headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Pan of a day', sku: 'DAY-1', categoryId: 1, price: '19.90' })
      })
      return (await made.json()) as { id: number }
    })
    const statusOf = async (): Promise<number> => (await fetch(`${shop.url()}/products/${product.id}`)).status
    expect(await statusOf()).to.equal(200)
    await go(page, `/products/${product.id}/show`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    await page.waitForURL(/#\/products(?:\?|$)/)
    expect(await statusOf()).to.equal(404)
  })

  it('offers nothing that the caller may not do', async () => {
    const page = await open('ada', '/products/1/show')
    await page.getByRole('heading', { name: /Copper Jug/ }).waitFor()
    const menu = await page.getByRole('menuitem').allInnerTexts()
    expect(menu).to.include.members(['Products', 'Orders']).and.not.include.members(['Customers'])
    expect(menu).to.not.include('Audit entries')
    for (const name of ['Edit', 'Delete', 'Publish', 'Unpublish', 'Add variant']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).to.equal(0)
      expect(await page.getByRole('link', { name, exact: true }).count(), name).to.equal(0)
    }
    expect(await page.getByText('Cost price').count()).to.equal(0)
  })

  for (const size of ['desktop', 'phone'] as const) {
    it(`has no violation that axe finds: ${size}`, async () => {
      const page = await open('admin', '/products', size)
      await page.getByText('Everyday Copper Jug').first().waitFor()
      expect(await accessibilityViolations(page), 'list').to.deep.equal([])
      for (const [path, text] of [
        ['/products/1/show', 'Variants'],
        ['/products/1', 'Reorder level'],
        ['/orders/create', 'Tracking code']
      ] as const) {
        await go(page, path)
        await page.getByText(text).first().waitFor()
        expect(await accessibilityViolations(page), path).to.deep.equal([])
        const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
        expect(isTooWide, path).to.equal(false)
      }
    })
  }
})
