/// <reference lib="dom" />
import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { AdminPages, NEW_PRODUCT, type Row } from './admin-pages.js'
import { accessibilityViolations } from './axe.js'

// In the soak: what is done to many rows, to children and to rows with a history (admin-rows.test.ts), and lists, imports and
// the first page (admin-lists.test.ts).
describe('the admin', () => {
  let admin: AdminPages

  before(async () => {
    admin = await AdminPages.start()
  })
  after(() => admin?.stop())
  afterEach(() => admin.afterTest())

  it('signs somebody in on its page, and then shows the page that was asked for', async () => {
    const visit = await admin.visitOf('signed in on the page')
    const page = await visit.open(admin.urlOf('/products'))
    await page.getByLabel('E-mail address').fill('admin@example.com')
    await page.getByLabel('Password').fill('demo-password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('cell', { name: 'JUG-00001', exact: true }).waitFor()
    expect(new URL(page.url()).hash).to.equal('#/products')
  })

  it('lists, searches, filters by operator, sorts and exports', async () => {
    const page = await admin.open('admin', '/products')
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

  it('shows names instead of ids: in a list on a phone, in the lines of an order, and in a filter', async () => {
    const nameOf = async (path: string) => String((await admin.api('admin', 'GET', path)).row['name'])
    const { row: order } = await admin.api('admin', 'GET', '/orders/1?includeChildren=true')
    const [line] = order['lines'] as readonly Row[]
    const phone = await admin.open('admin', '/orders', 'phone')
    await phone
      .getByText(`Customer: ${await nameOf(`/customers/${String(order['customerId'])}`)}`)
      .first()
      .waitFor()
    const page = await admin.open('admin', '/orders/1/show')
    const product = await nameOf(`/products/${String(line?.['productId'])}`)
    await page
      .getByRole('region', { name: 'Lines' })
      .getByRole('link', { name: product, exact: true })
      .first()
      .waitFor()
    await page.goto(admin.urlOf('/products'))
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Field' }).click()
    await page.getByRole('option', { name: 'Category', exact: true }).click()
    const category = await nameOf('/categories/1')
    await page.getByRole('combobox', { name: 'Value' }).fill(category)
    await page.getByRole('option', { name: category, exact: true }).click()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    const asked = page.waitForRequest((one) => one.url().includes('/products/paged?'))
    await page.getByRole('button', { name: 'Apply' }).click()
    expect(new URL((await asked).url()).searchParams.get('filters[categoryId].value')).to.equal('1')
    await page.getByRole('button', { name: `Remove the filter Category equals ${category}` }).waitFor()
  })

  it('opens a row by keyboard, keeps chosen columns in the address, and says why a list was rejected', async () => {
    const page = await admin.open('admin', '/products')
    await page.getByRole('columnheader', { name: 'Sku' }).waitFor()
    await page.getByRole('button', { name: 'Columns' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    for (const name of ['Sku', 'Barcode']) {
      await dialog.getByRole('checkbox', { name }).focus()
      await page.keyboard.press('Space')
      await dialog.getByRole('checkbox', { name, checked: name === 'Barcode' }).waitFor()
    }
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await page.reload()
    await page.getByRole('columnheader', { name: 'Barcode' }).waitFor()
    expect(await page.getByRole('columnheader', { name: 'Sku' }).count()).to.equal(0)
    await page.getByRole('link', { name: 'Everyday Copper Jug' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/#\/products\/1\/show$/)
    await page.goto(admin.urlOf(`/products?filter=${encodeURIComponent('{"price.lessThan":"cheap"}')}`))
    await page.getByRole('main').getByText('"cheap" is not a decimal number').first().waitFor()
    expect(await page.getByText('No Products found').count()).to.equal(0)
    expect(admin.visit.complaints.splice(0)).to.satisfy((all: string[]) => all.every((one) => one.includes('400')))
    await page.getByRole('button', { name: 'Remove the filter Price less than cheap' }).click()
    await page.getByRole('link', { name: 'Everyday Copper Jug' }).waitFor()
  })

  it('says that it is loading before its script is there', async () => {
    const visit = await admin.visitOf('without a script')
    await visit.context.route('**/admin/assets/*', (route) => route.abort())
    const page = await visit.open(admin.urlOf('/'))
    await page.getByRole('status').getByText('The admin is loading.').waitFor()
    expect(visit.complaints.splice(0)).to.deep.equal(['Failed to load resource: net::ERR_FAILED'])
  })

  it('shows both sides of a save that came too late, and saves what is chosen', async () => {
    const page = await admin.open('admin', '/products/3')
    await page.getByLabel('Name').fill('Mine')
    const other = await admin.visit.open(admin.urlOf('/products/3'))
    await other.getByLabel('Name').fill('Theirs')
    await other.getByRole('button', { name: 'Save' }).click()
    await other.getByRole('heading', { name: /Theirs/ }).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Somebody else has changed this meanwhile' })
    expect(await dialog.getByRole('row', { name: /^Name/ }).innerText()).to.match(/Mine[\s\S]*Theirs/)
    expect(await accessibilityViolations(page)).to.deep.equal([])
    // Nothing is chosen for anybody where both sides have changed the same.
    const save = dialog.getByRole('button', { name: 'Save the choice' })
    expect(await save.isDisabled()).to.equal(true)
    await dialog.getByRole('radio', { name: 'Name: mine' }).check()
    await save.click()
    await page.getByRole('heading', { name: /Mine/ }).waitFor()
  })

  it('says which value another row has, and keeps what was typed', async () => {
    const page = await admin.open('admin', '/products/4')
    await page.getByLabel('Sku').fill('JUG-00001')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Another row has this sku, which must be unique.').first().waitFor()
    expect(await page.getByLabel('Sku').inputValue()).to.equal('JUG-00001')
    expect(await page.getByRole('dialog').count()).to.equal(0)
    expect((await admin.api('admin', 'GET', '/products/4')).row['sku']).to.not.equal('JUG-00001')
  })

  it('offers an action in the state that allows it, and a delete', async () => {
    const page = await admin.open('admin', '/suppliers/1/show')
    await page.getByRole('button', { name: 'Delete the supplier' }).waitFor()
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const isActive = (await button('Deactivate the supplier').count()) === 1
    const deeds = ['Deactivate the supplier', 'Activate the supplier'] as const
    const [offered, other] = isActive ? deeds : ([deeds[1], deeds[0]] as const)
    expect(await button(other).count()).to.equal(0)
    await button(offered).click()
    await page.getByRole('dialog', { name: offered }).getByRole('button', { name: offered }).click()
    await button(other).waitFor()
    expect(await button(offered).count()).to.equal(0)
  })

  it('asks for the name of a row where an action takes its id', async () => {
    const { row } = await admin.api('admin', 'POST', '/products', { ...NEW_PRODUCT, sku: 'ACT-1', categoryId: 1 })
    const category = String((await admin.api('admin', 'GET', '/categories/2')).row['name'])
    const page = await admin.open('admin', `/products/${row.id}/show`)
    await page.getByRole('button', { name: 'Change category' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change category' })
    await dialog.getByRole('combobox', { name: 'Category' }).fill(category)
    await page.getByRole('option', { name: category, exact: true }).click()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await dialog.getByRole('button', { name: 'Change category' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText(category, { exact: true }).first().waitFor()
    expect((await admin.api('admin', 'GET', `/products/${row.id}`)).row['categoryId']).to.equal(2)
  })

  it('deletes a row', async () => {
    const { row } = await admin.api('admin', 'POST', '/products', { ...NEW_PRODUCT, sku: 'DAY-1' })
    const statusOf = async (): Promise<number> => (await fetch(`${admin.shop.url()}/products/${row.id}`)).status
    expect(await statusOf()).to.equal(200)
    const page = await admin.open('admin', `/products/${row.id}/show`)
    const remove = page.getByRole('button', { name: 'Delete the product' })
    const dialog = page.getByRole('dialog', { name: 'Delete the product' })
    await remove.click()
    await dialog.getByRole('button', { name: 'Keep the product' }).click()
    await dialog.waitFor({ state: 'detached' })
    await remove.click()
    await dialog.getByText(`${NEW_PRODUCT.name} is deleted for good.`).waitFor()
    await dialog.getByRole('button', { name: 'Delete the product' }).click()
    await page.waitForURL(/#\/products(?:\?|$)/)
    expect(await statusOf()).to.equal(404)
  })

  // In the soak: what stands in the way of a batch (admin-rows.test.ts).
  it('checks a change of selected rows, and then does it', async () => {
    const countryOf = async (id: number) => (await admin.api('admin', 'GET', `/suppliers/${id}`)).row['country']
    const { row } = await admin.api('admin', 'POST', '/suppliers', { name: 'Selected', country: 'FR' })
    const page = await admin.open('admin', `/suppliers?filter=${encodeURIComponent('{"name":"Selected"}')}`)
    await page.getByRole('checkbox', { name: `Select ${row.id}: Selected` }).check()
    await page.getByRole('button', { name: 'Change selected' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Fields to change' }).click()
    await page.getByRole('option', { name: 'Country' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByRole('textbox', { name: 'Country' }).fill('IT')
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.getByRole('status').getByText('1 row would be changed. Nothing was changed yet.').waitFor()
    expect(await countryOf(row.id)).to.equal('FR')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('1 row changed').waitFor()
    expect(await countryOf(row.id)).to.equal('IT')
  })

  // In the soak: the other zone for each, and forms that are emptied (admin-dates.test.ts).
  it('saves the moment that a clock shows where the browser is, in a create and in a form of another zone', async () => {
    const page = await admin.open('admin', '/coupons/create')
    await page.getByLabel('Code').fill('NEW-YORK')
    await page.getByLabel('Percent').fill('10')
    await page.getByLabel('Starts at').fill('2031-03-05T00:00')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/#\/coupons\/\d+\/show$/)
    const [id = ''] = /\d+(?=\/show$)/.exec(page.url()) ?? []
    const stored = async (): Promise<Row> => (await admin.api('admin', 'GET', `/coupons/${id}`)).row
    expect(await stored()).to.include({ startsAt: '2031-03-05T05:00:00.000Z', endsAt: null })
    const form = await admin.open('admin', `/coupons/${id}`, 'phone')
    await form.getByLabel('Percent').waitFor()
    expect(await form.getByLabel('Starts at').inputValue()).to.equal('2031-03-05T10:30')
    await form.getByLabel('Ends at').fill('2031-07-05T10:30')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitForURL(/#\/coupons\/\d+\/show$/)
    expect(await stored()).to.include({ startsAt: '2031-03-05T05:00:00.000Z', endsAt: '2031-07-05T05:00:00.000Z' })
  })

  // In the soak: every read and write of a caller who is one owner (admin-owners.test.ts).
  if (isSoak)
    it('asks whose carts are meant by the name of the customer', async () => {
      const page = await admin.open('admin', '/shopping-carts')
      const asked: string[] = []
      page.on('request', (request) => {
        if (request.url().includes('/shopping-carts/'))
          asked.push(new URL(request.url()).searchParams.get('customerId') ?? '')
      })
      const { row: ada } = await admin.api('admin', 'GET', '/customers/1')
      await page.getByRole('combobox', { name: 'Customer' }).fill(String(ada['name']))
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
    const page = await admin.open('ada', '/products/1/show')
    await page.getByRole('heading', { name: /Copper Jug/ }).waitFor()
    const menu = await page.getByRole('menuitem').allInnerTexts()
    expect(menu).to.include.members(['Products', 'Orders']).and.not.include.members(['Customers'])
    expect(menu).to.not.include('Audit entries')
    for (const name of ['Edit', 'Delete the product', 'Publish the product', 'Unpublish the product', 'Add variant']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).to.equal(0)
      expect(await page.getByRole('link', { name, exact: true }).count(), name).to.equal(0)
    }
    expect(await page.getByText('Cost price').count()).to.equal(0)
    const whose: (string | null)[] = []
    page.on('request', (request) => {
      if (request.url().includes('/shopping-carts/')) whose.push(new URL(request.url()).searchParams.get('customerId'))
    })
    const carts = page.waitForResponse((one) => one.url().includes('/shopping-carts/paged'))
    await page.goto(admin.urlOf('/shopping-carts'))
    expect((await carts).status(), 'the own carts').to.equal(200)
    expect(whose).to.deep.equal(['1'])
    for (const path of ['/customers', '/customers/2', '/no-such-resource']) {
      await page.goto(admin.urlOf(path))
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
      const page = await admin.open('admin', '/', size)
      // In the soak each page in each size, here the list on a phone and the form of a new row on a desktop.
      const these = isSoak ? pages : size === 'phone' ? pages.slice(0, 1) : pages.slice(-1)
      for (const [path, text] of these) {
        await page.goto(admin.urlOf(path))
        await page.getByText(text).first().waitFor()
        expect(await accessibilityViolations(page), path).to.deep.equal([])
        const isTooWide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
        expect(isTooWide, path).to.equal(false)
      }
    })
  }
})
