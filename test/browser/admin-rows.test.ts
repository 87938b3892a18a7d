import { expect } from 'chai'
import { AdminPages, NEW_PRODUCT, type Row } from './admin-pages.js'
import { accessibilityViolations } from './axe.js'

describe('rows in the admin', function () {
  this.timeout(300_000)
  let admin: AdminPages

  before(async () => {
    admin = await AdminPages.start()
  })
  after(() => admin?.stop())
  afterEach(() => admin.afterTest())

  it('deletes selected rows, each by its own version, and says which are still there and why', async () => {
    const made: Row[] = []
    for (const name of ['first', 'second', 'third', 'fourth']) {
      made.push((await admin.api('clerk', 'POST', '/suppliers', { name: `Bulk ${name}`, country: 'FR' })).row)
    }
    const [first, second, third, fourth] = made.map(({ id }) => id)
    const filter = encodeURIComponent(JSON.stringify({ 'name.startsWith': 'Bulk' }))
    const page = await admin.open('admin', `/suppliers?filter=${filter}`)
    const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
    await box('Select all rows of this page').check()
    await page.getByText('4 selected').waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await box(`Select ${fourth}: Bulk fourth`).uncheck()
    // Somebody else writes one of them, refers to another with an order, and deletes none.
    await admin.api(
      'clerk',
      'PUT',
      `/suppliers/${second}`,
      { name: 'Bulk new', country: 'FR', isActive: true },
      made[1]
    )
    const product = { productId: 1, quantity: 1 }
    await admin.api('clerk', 'POST', '/purchase-orders', { supplierId: third, lines: [product] })

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
    expect((await admin.api('clerk', 'GET', `/suppliers/${first}`)).status).to.equal(404)

    await box(`Select ${third}: Bulk third`).uncheck()
    await page.getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Delete selected' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 row deleted').waitFor()
    expect((await admin.api('clerk', 'GET', `/suppliers/${second}`)).status).to.equal(404)
  })

  it('selects only rows that are shown and that their state lets be deleted', async () => {
    const { row: supplier } = await admin.api('clerk', 'POST', '/suppliers', { name: 'Of an order', country: 'FR' })
    const { row } = await admin.api('clerk', 'POST', '/purchase-orders', {
      supplierId: supplier.id,
      lines: [{ productId: 1, quantity: 1 }]
    })
    await admin.api('clerk', 'PUT', `/purchase-orders/${row.id}/submit`, {}, row)
    const filter = encodeURIComponent(JSON.stringify({ 'id.greaterThanOrEqual': row.id }))
    const page = await admin.open('admin', `/purchase-orders?filter=${filter}`)
    const box = page.getByRole('checkbox', { name: new RegExp(`^Select ${row.id}\\b`) })
    await box.waitFor()
    expect(await box.isDisabled()).to.equal(true)
    expect(await page.getByRole('checkbox', { name: 'Select all rows of this page' }).isDisabled()).to.equal(true)

    await page.goto(admin.urlOf('/products?perPage=10'))
    await page.getByRole('checkbox', { name: 'Select 1: Everyday Copper Jug' }).check()
    await page.getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Go to next page' }).click()
    await page.getByRole('cell', { name: '11', exact: true }).waitFor()
    await page.getByText('1 selected').waitFor({ state: 'detached' })
  })

  it('tells the history of a row: what was done, by whom, the newest first', async () => {
    const { row } = await admin.api('clerk', 'POST', '/suppliers', { name: 'Of a history', country: 'FR' })
    const { row: other } = await admin.api('clerk', 'POST', '/suppliers', { name: 'Of another', country: 'FR' })
    await admin.api('clerk', 'PUT', `/suppliers/${other.id}/deactivate`, {}, other)
    const page = await admin.open('admin', `/suppliers/${row.id}/show`)
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
    const administrator = clerk.replace('clerk@', 'admin@')
    await shows(`Deactivate by ${administrator}`, `Create by ${clerk}`)
    const { row: deactivated } = await admin.api('clerk', 'GET', `/suppliers/${row.id}`)
    await admin.api('clerk', 'PATCH', `/suppliers/${row.id}`, { name: 'Renamed' }, deactivated)
    await page.reload()
    await shows(`Update by ${clerk}`, `Deactivate by ${administrator}`, `Create by ${clerk}`)
  })

  it('acts on a child by its version, and shows what somebody else has changed of it', async () => {
    const { row } = await admin.api('admin', 'POST', '/products', { ...NEW_PRODUCT, sku: 'CHILD-1' })
    const path = `/products/${row.id}`
    const page = await admin.open('admin', `${path}/show`)
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
      const { row: shown } = await admin.api('admin', 'GET', `${path}?includeChildren=true`)
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
    await admin.api('clerk', 'PUT', `${path}/change-variant-price`, body, root)
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
})
