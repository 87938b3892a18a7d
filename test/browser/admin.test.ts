/// <reference lib="dom" />
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { isSoak } from '../harness/in-soak.js'
import { accessibilityViolations } from './axe.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const

type Row = Readonly<Record<string, unknown>> & { readonly id: number; readonly rowVersion: string }

const NEW_PRODUCT = { name: 'Pan of a day', categoryId: 1, price: '19.90' }

describe('the admin', function () {
  this.timeout(300_000)
  let shop: Shop
  let browser: Browser
  let visit: Visit
  /** Of accounts that have signed in, by account and size: what the browser has compiled of the admin stays with its visit. */
  const visits = new Map<string, Visit>()

  before(async () => {
    shop = await Shop.start({ env: { ADMIN_UI: 'true' } })
    browser = await sharedBrowser()
  })
  after(async () => {
    for (const { context } of visits.values()) await context.close()
    await shop?.stop()
  })
  afterEach(async () => {
    // The first look for a session finds none, and a conflict is what a test is about.
    const expected = /status of (?:401|412)/
    const complaints = visit.complaints.splice(0).filter((one) => !expected.test(one))
    for (const page of visit.context.pages()) {
      // Filters and sorts of lists.
      await page.evaluate(() => localStorage.clear())
      await page.close()
    }
    expect(complaints).to.deep.equal([])
  })

  /** Opens a page of the admin for an account that is signed in already. The clock of its browser is that of New York. */
  const open = async (account: string, path: string, size: keyof typeof SIZES = 'desktop'): Promise<Page> => {
    const name = `${account}, ${size}`
    const known = visits.get(name)
    visit = known ?? (await Visit.start(browser, { viewport: SIZES[size], timezoneId: 'America/New_York' }))
    visits.set(name, visit)
    if (known === undefined) {
      const data = { email: `${account}@example.com`, password: 'demo-password' }
      const login = await visit.context.request.post(`${shop.url()}/auth/login`, { data })
      expect(login.status()).to.equal(200)
    }
    return visit.open(`${shop.url()}/admin/#${path}`)
  }
  const go = (page: Page, path: string) => page.goto(`${shop.url()}/admin/#${path}`)

  const tokens = new Map<string, string>()
  const tokenOf = async (account: string): Promise<string> => {
    const known = tokens.get(account)
    if (known !== undefined) return known
    const login = await fetch(`${shop.url()}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `${account}@example.com`, password: 'demo-password' })
    })
    const { accessToken } = (await login.json()) as { readonly accessToken: string }
    tokens.set(account, accessToken)
    return accessToken
  }

  /** A request of another client of the account, to see and to change what the page shows; `over` is the row as it was read. */
  const api = async (
    account: string,
    ...[method, path, body, over]: [method: string, path: string, body?: object, over?: Row]
  ): Promise<{ readonly status: number; readonly row: Row }> => {
    const token = await tokenOf(account)
    const answer = await fetch(shop.url() + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
        ...(over === undefined ? {} : { 'if-match': `W/"${over.rowVersion}"` })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    if (!answer.ok && method !== 'GET') throw new Error(await answer.text())
    return { status: answer.status, row: (await answer.json()) as Row }
  }

  it('signs somebody in on its page, and then shows the page that was asked for', async () => {
    visit = await Visit.start(browser, { viewport: SIZES.desktop })
    visits.set('signed in on the page', visit)
    const page = await visit.open(`${shop.url()}/admin/#/products`)
    await page.getByLabel('E-mail address').fill('admin@example.com')
    await page.getByLabel('Password').fill('demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('cell', { name: 'JUG-00001', exact: true }).waitFor()
    expect(new URL(page.url()).hash).to.equal('#/products')
  })

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
    const { row } = await api('admin', 'POST', '/products', { ...NEW_PRODUCT, sku: 'DAY-1' })
    const statusOf = async (): Promise<number> => (await fetch(`${shop.url()}/products/${row.id}`)).status
    expect(await statusOf()).to.equal(200)
    const page = await open('admin', `/products/${row.id}/show`)
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Confirm' }).click()
    await page.waitForURL(/#\/products(?:\?|$)/)
    expect(await statusOf()).to.equal(404)
  })

  it('deletes selected rows, each by its own version, and says which are still there and why', async () => {
    const made: Row[] = []
    for (const name of ['first', 'second', 'third', 'fourth']) {
      made.push((await api('clerk', 'POST', '/suppliers', { name: `Bulk ${name}`, country: 'FR' })).row)
    }
    const [first, second, third, fourth] = made.map(({ id }) => id)
    const filter = encodeURIComponent(JSON.stringify({ 'name.startsWith': 'Bulk' }))
    const page = await open('admin', `/suppliers?filter=${filter}`)
    const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
    await box('Select all rows of this page').check()
    await page.getByText('4 selected').waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await box(`Select ${fourth}: Bulk fourth`).uncheck()
    // Somebody else writes one of them, refers to another with an order, and deletes none.
    await api('clerk', 'PUT', `/suppliers/${second}`, { name: 'Bulk new', country: 'FR', isActive: true }, made[1])
    const product = { productId: 1, quantity: 1 }
    await api('clerk', 'POST', '/purchase-orders', { supplierId: third, lines: [product] })

    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() !== 'DELETE') return
      sent.push(`${new URL(request.url()).pathname} ${request.headers()['if-match'] ?? ''}`)
    })
    await page.getByRole('button', { name: 'Delete selected' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Delete 3 rows?' }).waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('heading', { name: '1 of 3 rows deleted' }).waitFor()
    expect(await dialog.getByRole('listitem').allInnerTexts()).to.deep.equal([
      `${second}: Bulk second\n\nSomebody else has changed it since it was shown here.`,
      `${third}: Bulk third\n\nOther rows refer to it.`
    ])
    expect(await accessibilityViolations(page)).to.deep.equal([])
    expect(sent).to.deep.equal(made.slice(0, 3).map(({ id, rowVersion }) => `/suppliers/${id} W/"${rowVersion}"`))
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('cell', { name: 'Bulk new', exact: true }).waitFor()
    expect(await page.locator('td.column-name').allInnerTexts()).to.deep.equal([
      'Bulk new',
      'Bulk third',
      'Bulk fourth'
    ])
    expect((await api('clerk', 'GET', `/suppliers/${first}`)).status).to.equal(404)

    await box(`Select ${third}: Bulk third`).uncheck()
    await page.getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Delete selected' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 row deleted').waitFor()
    expect((await api('clerk', 'GET', `/suppliers/${second}`)).status).to.equal(404)
  })

  it('selects only rows that are shown and that their state lets be deleted', async () => {
    const { row: supplier } = await api('clerk', 'POST', '/suppliers', { name: 'Of an order', country: 'FR' })
    const { row } = await api('clerk', 'POST', '/purchase-orders', {
      supplierId: supplier.id,
      lines: [{ productId: 1, quantity: 1 }]
    })
    await api('clerk', 'PUT', `/purchase-orders/${row.id}/submit`, {}, row)
    const filter = encodeURIComponent(JSON.stringify({ 'id.greaterThanOrEqual': row.id }))
    const page = await open('admin', `/purchase-orders?filter=${filter}`)
    const box = page.getByRole('checkbox', { name: new RegExp(`^Select ${row.id}\\b`) })
    await box.waitFor()
    expect(await box.isDisabled()).to.equal(true)
    expect(await page.getByRole('checkbox', { name: 'Select all rows of this page' }).isDisabled()).to.equal(true)

    await go(page, '/products?perPage=10')
    await page.getByRole('checkbox', { name: 'Select 1: Everyday Copper Jug' }).check()
    await page.getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Go to next page' }).click()
    await page.getByRole('cell', { name: '11', exact: true }).waitFor()
    await page.getByText('1 selected').waitFor({ state: 'detached' })
  })

  it('tells the history of a row: what was done, by whom, the newest first', async () => {
    const { row } = await api('clerk', 'POST', '/suppliers', { name: 'Of a history', country: 'FR' })
    const { row: other } = await api('clerk', 'POST', '/suppliers', { name: 'Of another', country: 'FR' })
    await api('clerk', 'PUT', `/suppliers/${other.id}/deactivate`, {}, other)
    const page = await open('admin', `/suppliers/${row.id}/show`)
    const history = page.getByRole('region', { name: 'History' })
    const entries = async (): Promise<string[]> =>
      (await history.getByRole('listitem').allInnerTexts()).map((text) => text.replace(/, .*\n+/, ' by '))
    // A change of the row has its history read again, which is empty meanwhile.
    const shows = async (...expected: readonly string[]): Promise<void> => {
      let found = await entries()
      for (let frames = 0; frames < 600 && found.join() !== expected.join(); frames++) {
        await page.evaluate('new Promise(requestAnimationFrame)')
        found = await entries()
      }
      expect(found).to.deep.equal(expected)
    }
    await history.getByText('clerk@example.com').waitFor()
    const [clerk = ''] = (await entries()).map((text) => text.replace(/^Create by /, ''))
    expect(clerk).to.match(/\bclerk@example\.com$/)
    await shows(`Create by ${clerk}`)
    await page.getByRole('button', { name: 'Deactivate', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    const admin = clerk.replace('clerk@', 'admin@')
    await shows(`Deactivate by ${admin}`, `Create by ${clerk}`)
    const { row: deactivated } = await api('clerk', 'GET', `/suppliers/${row.id}`)
    await api('clerk', 'PATCH', `/suppliers/${row.id}`, { name: 'Renamed' }, deactivated)
    await page.reload()
    await shows(`Update by ${clerk}`, `Deactivate by ${admin}`, `Create by ${clerk}`)
  })

  it('acts on a child by its version, and shows what somebody else has changed of it', async () => {
    const { row } = await api('admin', 'POST', '/products', { ...NEW_PRODUCT, sku: 'CHILD-1' })
    const path = `/products/${row.id}`
    const page = await open('admin', `${path}/show`)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const dialog = page.getByRole('dialog')
    await button('Add variant').click()
    for (const [label, value] of Object.entries({ Name: 'Large', Sku: 'CHILD-1-L', Price: '24.50', Stock: '3' })) {
      await dialog.getByLabel(label).fill(value)
    }
    await dialog.getByRole('button', { name: 'Add variant' }).click()
    const table = page.getByRole('region', { name: 'Variants' })
    await table.getByRole('cell', { name: 'CHILD-1-L' }).waitFor()
    const variant = async () => {
      const { row: shown } = await api('admin', 'GET', `${path}?includeChildren=true`)
      return { root: shown, child: (shown['variants'] as Row[])[0] ?? shown }
    }
    const { root, child } = await variant()
    expect(child).to.include({ name: 'Large', sku: 'CHILD-1-L', price: '24.50', stock: 3 })

    const choose = async (price: string): Promise<void> => {
      await button('Change variant price').click()
      await dialog.getByRole('combobox', { name: 'Variant id' }).click()
      await page.getByRole('option', { name: `${child.id}, Large, CHILD-1-L` }).click()
      await dialog.getByRole('textbox', { name: 'Price' }).fill(price)
    }
    await choose('30.00')
    const body = { variantId: child.id, price: '27.00', variantRowVersion: child.rowVersion }
    await api('clerk', 'PUT', `${path}/change-variant-price`, body, root)
    const request = page.waitForRequest((one) => one.url().endsWith('/change-variant-price'))
    await dialog.getByRole('button', { name: 'Change variant price' }).click()
    expect((await request).postDataJSON()).to.deep.equal({ ...body, price: '30.00' })
    const conflict = page.getByRole('dialog', { name: 'Somebody else has changed this meanwhile' })
    await conflict.waitFor()
    const rows = await conflict.getByRole('row').allInnerTexts()
    expect(rows.map((text) => text.split(/\s*\t\s*/))).to.deep.equal([
      ['Field', 'As you saw it', 'Yours', 'Theirs'],
      [`Variants ${child.id}: price`, '24.50', '(not changed)', '27.00']
    ])
    expect(await accessibilityViolations(page)).to.deep.equal([])
    expect((await variant()).child).to.include({ price: '27.00' })
    await conflict.getByRole('button', { name: 'Show the row as it is now' }).click()
    await table.getByRole('cell', { name: '27.00' }).waitFor()
    await choose('30.00')
    await dialog.getByRole('button', { name: 'Change variant price' }).click()
    await table.getByRole('cell', { name: '30.00' }).waitFor()
    expect((await variant()).child).to.include({ price: '30.00' })
  })

  // In the soak: creates, forms that are emptied, and another time zone (admin-dates.test.ts).
  it('saves the moment that a clock shows where the browser is', async () => {
    const page = await open('admin', '/coupons/create')
    await page.getByLabel('Code').fill('NEW-YORK')
    await page.getByLabel('Percent').fill('10')
    await page.getByLabel('Starts at').fill('2031-03-05T00:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/#\/coupons\/\d+\/show$/)
    const [id = ''] = /\d+(?=\/show$)/.exec(page.url()) ?? []
    const { row } = await api('admin', 'GET', `/coupons/${id}`)
    expect(row).to.include({ startsAt: '2031-03-05T05:00:00.000Z', endsAt: null })
  })

  // In the soak: every read and write of a caller who is one owner (admin-owners.test.ts).
  it('asks whose carts are meant by the name of the customer', async () => {
    const page = await open('admin', '/shopping-carts')
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/shopping-carts/'))
        asked.push(new URL(request.url()).searchParams.get('customerId') ?? '')
    })
    const { row: ada } = await api('admin', 'GET', '/customers/1')
    await page.getByRole('combobox', { name: 'Customer id' }).fill(String(ada['name']))
    await page
      .getByRole('option', { name: String(ada['name']) })
      .first()
      .click()
    expect(asked).to.deep.equal([])
    const answer = page.waitForResponse((one) => one.url().includes('/shopping-carts/paged'))
    await page.getByRole('button', { name: 'Show' }).click()
    const carts = (await (await answer).json()) as { readonly customerId: number }[]
    expect(asked).to.deep.equal(['1'])
    expect(carts.length).to.be.greaterThan(0)
    expect(carts.filter(({ customerId }) => customerId !== 1)).to.deep.equal([])
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
    const whose: (string | null)[] = []
    page.on('request', (request) => {
      if (request.url().includes('/shopping-carts/')) whose.push(new URL(request.url()).searchParams.get('customerId'))
    })
    const carts = page.waitForResponse((one) => one.url().includes('/shopping-carts/paged'))
    await go(page, '/shopping-carts')
    expect((await carts).status(), 'the own carts').to.equal(200)
    expect(whose).to.deep.equal(['1'])
    for (const path of ['/customers', '/customers/2', '/no-such-resource']) {
      await go(page, path)
      await page.getByRole('status').filter({ hasText: 'There is no such page, or you may not see it.' }).waitFor()
    }
  })

  for (const size of ['desktop', 'phone'] as const) {
    it(`has no violation that axe finds: ${size}`, async () => {
      const pages = [
        ['/products', 'Everyday Copper Jug'],
        ['/products/1/show', 'Variants'],
        ['/products/1', 'Reorder level'],
        ['/orders/create', 'Tracking code']
      ] as const
      const page = await open('admin', '/', size)
      // In the soak each page in each size, here the list on a phone and the form of a new row on a desktop.
      const these = isSoak ? pages : size === 'phone' ? pages.slice(0, 1) : pages.slice(-1)
      for (const [path, text] of these) {
        await go(page, path)
        await page.getByText(text).first().waitFor()
        expect(await accessibilityViolations(page), path).to.deep.equal([])
        const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
        expect(isTooWide, path).to.equal(false)
      }
    })
  }
})
