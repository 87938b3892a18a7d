/// <reference lib="dom" />
import { expect } from 'chai'
import { AdminPages, type Row } from './admin-pages.js'
import { accessibilityViolations } from './axe.js'

// `npm test` has a filter of one condition, and a list that was rejected, in admin.test.ts.
describe('lists, imports and the first page of the admin', () => {
  let admin: AdminPages

  before(async () => {
    admin = await AdminPages.start()
  })
  after(() => admin?.stop())
  afterEach(() => admin.afterTest())

  it('filters by several conditions of which one must hold, by keyboard too, and keeps them in the address', async () => {
    const page = await admin.open('admin', '/products')
    await page.getByRole('button', { name: 'Add filter' }).click()
    const condition = (place: number) => page.getByRole('group', { name: `Condition ${place}` })
    const chosen = async (label: string, option: string, place: number): Promise<void> => {
      await condition(place).getByRole('combobox', { name: label }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('option', { name: option, exact: true }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('listbox').waitFor({ state: 'detached' })
    }
    await chosen('Field', 'Sku', 1)
    await chosen('Condition', 'equals', 1)
    await condition(1).getByLabel('Value').fill('JUG-00001')
    await page.getByRole('button', { name: 'Or another condition' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Any of these' }).waitFor()
    await chosen('Field', 'Sku', 2)
    await chosen('Condition', 'equals', 2)
    await condition(2).getByLabel('Value').fill('PAN-00002')
    await page.getByRole('button', { name: 'Or another condition' }).click()
    await page.getByRole('button', { name: 'Remove condition 3' }).click()
    await condition(3).waitFor({ state: 'detached' })
    expect(await accessibilityViolations(page)).to.deep.equal([])
    const asked = page.waitForResponse((one) => /products\/paged\?.*anyOf/.test(decodeURIComponent(one.url())))
    await condition(2).getByLabel('Value').focus()
    await page.keyboard.press('Enter')
    const answer = await asked
    const rows = (await answer.json()) as { readonly sku: string }[]
    expect(rows.map(({ sku }) => sku).toSorted()).to.deep.equal(['JUG-00001', 'PAN-00002'])
    const { searchParams } = new URL(answer.url())
    expect(searchParams.getAll('anyOf[1].filters[sku].value')).to.deep.equal(['JUG-00001', 'PAN-00002'])
    const chip = 'Remove the filter Sku equals JUG-00001 or Sku equals PAN-00002'
    await page.getByRole('button', { name: chip }).waitFor()
    // The address alone makes the same list, and the export is of these rows.
    const other = await admin.visit.open(page.url())
    await other.getByRole('cell', { name: 'PAN-00002', exact: true }).waitFor()
    const exported = other.waitForRequest((one) => /products\/export\?.*anyOf/.test(decodeURIComponent(one.url())))
    await other.getByRole('button', { name: 'Export' }).click()
    await exported
    await other.getByRole('button', { name: chip }).press('Enter')
    await other.waitForURL((url) => !decodeURIComponent(url.hash).includes('anyOf'))
  })

  it('keeps what somebody types into a reference, and the one of two same names that they choose', async () => {
    for (const country of ['FR', 'IT']) await admin.api('admin', 'POST', '/suppliers', { name: 'Twin Press', country })
    const page = await admin.open('admin', '/purchase-orders/create')
    const sought: string[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith('/suppliers/paged')) sought.push(...searchParams.getAll('search'))
    })
    const french = page.getByRole('option', { name: 'Twin Press (FR)', exact: true })
    const supplier = page.getByRole('combobox', { name: 'Supplier' })
    await supplier.pressSequentially('Twin')
    // What was found is there, so the pause has been long enough for a search.
    await french.waitFor()
    expect(await supplier.inputValue()).to.equal('Twin')
    const answer = page.waitForResponse((one) => new URL(one.url()).searchParams.get('search') === 'Twin Press')
    await supplier.pressSequentially(' Press')
    await answer
    expect(await supplier.inputValue()).to.equal('Twin Press')
    await page.goto(admin.urlOf('/purchase-orders'))
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Field' }).click()
    await page.getByRole('option', { name: 'Supplier', exact: true }).click()
    sought.splice(0)
    const value = page.getByRole('combobox', { name: 'Value' })
    await value.fill('Twin Press')
    await french.click()
    await value.press('Tab')
    expect(await value.inputValue()).to.equal('Twin Press (FR)')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: 'Remove the filter Supplier equals Twin Press' }).waitFor()
    expect(new Set(sought)).to.deep.equal(new Set(['Twin Press']))
  })

  it('finds a page by a part of its name, and is dark where the system is', async () => {
    const page = await admin.open('admin', '/suppliers')
    await page.getByRole('link', { name: /./ }).first().waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.getByRole('menu', { name: 'Stock' }).getByRole('menuitem', { name: 'Suppliers' }).waitFor()
    await page.getByRole('searchbox', { name: 'Find a page' }).fill('chase ord')
    await page.getByRole('menuitem', { name: 'Suppliers' }).waitFor({ state: 'detached' })
    expect(await page.getByRole('menuitem').allInnerTexts()).to.deep.equal(['Purchase orders'])
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await page.getByRole('menuitem').press('Enter')
    await page.waitForURL(/#\/purchase-orders/)
  })

  it('imports a file whose first rows it has shown, and tells which rows it could not create', async () => {
    const page = await admin.open('admin', '/categories')
    await page.getByRole('button', { name: 'Import' }).click()
    const dialog = page.getByRole('dialog', { name: 'Import Categories' })
    const buffer = Buffer.from('name,slug\nLutes,lutes\nOuds,lutes\n')
    await dialog.getByLabel('File of CSV or NDJSON').setInputFiles({ name: 'new.csv', mimeType: 'text/csv', buffer })
    await dialog.getByLabel('First rows').getByText('Lutes,lutes').waitFor()
    await dialog.getByRole('combobox', { name: 'When a row cannot be created' }).click()
    await page.getByRole('option', { name: 'create the others' }).click()
    await dialog.getByRole('button', { name: 'Import' }).click()
    await dialog.getByText('2 rows: 1 created, 0 there already, 1 failed.').waitFor()
    expect(await dialog.getByRole('list', { name: 'Errors' }).innerText()).to.match(/^Row 2, slug: /)
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  it('counts the orders of twelve months by status in a picture and in a table, of the rows that the caller may read', async () => {
    for (const [account, size] of [
      ['admin', 'desktop'],
      ['ada', 'phone']
    ] as const) {
      const page = await admin.open(account, '/', size)
      const section = page.getByRole('region', { name: 'Orders by month and status' })
      await section.getByRole('table').waitFor()
      const [head = [], ...rows] = (await section.getByRole('row').allInnerTexts()).map((text) =>
        text.split(/\s*\t\s*/)
      )
      const orders = await admin.api(
        account,
        'GET',
        '/orders/paged?pageSize=500&sortColumn=placedAt&sortDirection=desc'
      )
      const placed = (orders.row as unknown as Row[]).map(({ placedAt, status }) => [
        String(placedAt).slice(0, 7),
        status
      ])
      const [newest = ''] = placed[0] ?? []
      expect([rows.length, rows.at(-1)?.[0]]).to.deep.equal([12, newest])
      // As far as the 500 newest go, without the month in which they end.
      const [oldest = ''] = placed.length < 500 ? [] : (placed.at(-1) ?? [])
      const whole = rows.filter(([month = '']) => month > String(oldest))
      const expected = whole.map(([month]) => [
        month,
        ...head.slice(1).map((word) => String(placed.filter((one) => one[0] === month && one[1] === word).length))
      ])
      expect(whole.length).to.be.greaterThan(0)
      expect(whole).to.deep.equal(expected)
      expect(await section.locator('svg rect').count()).to.be.greaterThan(12)
      expect(await accessibilityViolations(page)).to.deep.equal([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)).to.equal(false)
    }
  })
})
