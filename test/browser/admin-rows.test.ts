import { expect } from 'chai'
import { AdminPages, NEW_PRODUCT, type Row } from './admin-pages.js'
import { accessibilityViolations } from './axe.js'

describe('rows in the admin', () => {
  let admin: AdminPages

  before(async () => {
    admin = await AdminPages.start()
  })
  after(() => admin?.stop())
  afterEach(() => admin.afterTest())

  /** Suppliers that a list shows, all of them selected, and the batches that the page sends. */
  const selectedSuppliers = async (prefix: string, names: readonly string[]) => {
    const made: Row[] = []
    for (const name of names) {
      made.push((await admin.api('clerk', 'POST', '/suppliers', { name: `${prefix} ${name}`, country: 'FR' })).row)
    }
    const filter = encodeURIComponent(JSON.stringify({ 'name.startsWith': prefix }))
    const page = await admin.open('admin', `/suppliers?filter=${filter}`)
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByText(`${names.length} selected`).waitFor()
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'GET' || !request.url().includes('/suppliers/')) return
      const { prefer = 'written' } = request.headers()
      const rows = (request.postDataJSON() as Row[]).map(({ id, rowVersion }) => `${id} ${rowVersion}`)
      sent.push(`${request.method()} ${new URL(request.url()).pathname} ${prefer}: ${rows.join()}`)
    })
    const itemsOf = (rows: readonly Row[]): string => rows.map(({ id, rowVersion }) => `${id} ${rowVersion}`).join()
    const stored = async () => {
      const { row } = await admin.api(
        'clerk',
        'GET',
        `/suppliers/paged?filters[name].operator=startsWith&filters[name].value=${prefix}`
      )
      return (row as unknown as Row[]).map(
        ({ name, country, isActive }) => `${String(name)}, ${String(country)}, ${String(isActive)}`
      )
    }
    return { made, page, sent, itemsOf, stored }
  }

  it('deletes selected rows or none, says after a check and a try which are in the way, and leaves them out', async () => {
    const { made, page, sent, itemsOf, stored } = await selectedSuppliers('Bulk', [
      'first',
      'second',
      'third',
      'fourth'
    ])
    const [, second, third, fourth] = made.map(({ id }) => id)
    expect(await accessibilityViolations(page)).to.deep.equal([])
    const box = (name: string) => page.getByRole('checkbox', { name, exact: true })
    await box(`Select ${fourth}: Bulk fourth`).uncheck()
    // Somebody else writes one of them, refers to another with an order, and deletes none.
    const changed = { name: 'Bulk new', country: 'FR', isActive: true }
    await admin.api('clerk', 'PUT', `/suppliers/${second}`, changed, made[1])
    const product = { productId: 1, quantity: 1 }
    await admin.api('clerk', 'POST', '/purchase-orders', { supplierId: third, lines: [product] })
    const before = await stored()

    await page.getByRole('button', { name: 'Delete selected' }).click()
    const dialog = page.getByRole('dialog')
    const alert = dialog.getByRole('alert')
    const says = async (text: string): Promise<void> => {
      await alert.getByText(text).waitFor()
    }
    await dialog.getByRole('heading', { name: 'Delete 3 rows' }).waitFor()
    await dialog.getByRole('button', { name: 'Check' }).click()
    await says('0 of 3 rows would be deleted. In the way:')
    expect(await alert.getByRole('listitem').allInnerTexts()).to.deep.equal([
      `${second}: Bulk second\n\nSomebody else has changed it since it was shown here.`
    ])
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await says('0 of 3 rows were deleted. In the way:')
    expect(await stored()).to.deep.equal(before)
    await dialog.getByRole('button', { name: 'Leave these out' }).click()
    await dialog.getByRole('heading', { name: 'Delete 2 rows' }).waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await says('0 of 2 rows were deleted. In the way:')
    expect(await alert.getByRole('listitem').allInnerTexts()).to.deep.equal([
      `${third}: Bulk third\n\nOther rows refer to it.`
    ])
    await dialog.getByRole('button', { name: 'Leave these out' }).click()
    await dialog.getByRole('button', { name: 'Check' }).click()
    await dialog.getByRole('status').getByText('1 row would be deleted. Nothing was deleted yet.').waitFor()
    expect(await stored()).to.deep.equal(before)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 row deleted').waitFor()
    await page.getByText('2 selected').waitFor()
    await page.getByRole('cell', { name: 'Bulk new', exact: true }).waitFor()
    expect(await stored()).to.deep.equal(before.slice(1))
    const [all, two, one] = [made.slice(0, 3), [made[0], made[2]] as Row[], made.slice(0, 1)].map(itemsOf)
    expect(sent).to.deep.equal([
      `POST /suppliers/batch/delete tx=rollback: ${all}`,
      `POST /suppliers/batch/delete written: ${all}`,
      `POST /suppliers/batch/delete written: ${two}`,
      `POST /suppliers/batch/delete tx=rollback: ${one}`,
      `POST /suppliers/batch/delete written: ${one}`
    ])

    await box(`Select ${third}: Bulk third`).uncheck()
    await page.getByText('1 selected').waitFor()
    await page.getByRole('button', { name: 'Delete selected' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 row deleted').waitFor()
    expect((await admin.api('clerk', 'GET', `/suppliers/${second}`)).status).to.equal(404)
  })

  it('changes fields of selected rows or of none, and names every row that somebody else has changed or deleted', async () => {
    const { made, page, sent, itemsOf, stored } = await selectedSuppliers('Edit', [
      'first',
      'second',
      'third',
      'fourth'
    ])
    const [, second, , fourth] = made.map(({ id }) => id)
    await page.getByRole('button', { name: 'Change selected' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('heading', { name: 'Change 4 rows' }).waitFor()
    for (const name of ['Check', 'Change']) {
      expect(await dialog.getByRole('button', { name, exact: true }).isDisabled(), name).to.equal(true)
    }
    await dialog.getByRole('combobox', { name: 'Fields to change' }).click()
    for (const name of ['Country', 'Is active']) await page.getByRole('option', { name }).click()
    await page.keyboard.press('Escape')
    await dialog.getByRole('textbox', { name: 'Country' }).fill('IT')
    await dialog.getByRole('button', { name: 'Check' }).click()
    const checked = dialog.getByRole('status').getByText('4 rows would be changed. Nothing was changed yet.')
    await checked.waitFor()
    // What was checked is another change than this one.
    await dialog.getByRole('textbox', { name: 'Country' }).fill('ES')
    await checked.waitFor({ state: 'detached' })
    await dialog.getByRole('textbox', { name: 'Country' }).fill('IT')
    await checked.waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    await admin.api('clerk', 'PATCH', `/suppliers/${second}`, { name: 'Edit theirs' }, made[1])
    await admin.api('clerk', 'DELETE', `/suppliers/${fourth}`)
    const before = await stored()
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    const alert = dialog.getByRole('alert')
    await alert.getByText('0 of 4 rows were changed. In the way:').waitFor()
    expect(await alert.getByRole('listitem').allInnerTexts()).to.deep.equal([
      `${second}: Edit second\n\nSomebody else has changed it since it was shown here.`,
      `${fourth}: Edit fourth\n\nSomebody else has deleted it.`
    ])
    expect(await stored()).to.deep.equal(before)
    await dialog.getByRole('button', { name: 'Leave these out' }).click()
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('2 rows changed').waitFor()
    expect(await stored()).to.deep.equal(['Edit first, IT, false', 'Edit theirs, FR, true', 'Edit third, IT, false'])
    const [all, two] = [made, [made[0], made[2]] as Row[]].map(itemsOf)
    expect(sent).to.deep.equal([
      `PATCH /suppliers/batch tx=rollback: ${all}`,
      `PATCH /suppliers/batch written: ${all}`,
      `PATCH /suppliers/batch written: ${two}`
    ])
    await page.getByText('1 selected').waitFor()
  })

  it('checks the form of a new row and of an edited one, and saves nothing', async () => {
    const { row } = await admin.api('clerk', 'POST', '/suppliers', { name: 'Of a form', country: 'FR' })
    const page = await admin.open('admin', `/suppliers/${row.id}`)
    const check = page.getByRole('button', { name: 'Check' })
    await page.getByLabel('Country').fill('IT')
    await check.click()
    await page.getByText('This can be saved. Nothing was saved yet.').waitFor()
    expect((await admin.api('clerk', 'GET', `/suppliers/${row.id}`)).row).to.deep.equal(row)
    await admin.api('clerk', 'PATCH', `/suppliers/${row.id}`, { name: 'Of another' }, row)
    await check.click()
    await page.getByText('Somebody else has changed it meanwhile.').waitFor()
    await page.goto(admin.urlOf('/suppliers/create'))
    await page.getByLabel('Name').fill('Of a form')
    await page.getByLabel('Country').fill('FR')
    await check.click()
    await page.getByText('This can be saved. Nothing was saved yet.').waitFor()
    expect(await accessibilityViolations(page)).to.deep.equal([])
    // The form of the edited row has its first version, and is saved by it.
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/#\/suppliers\/\d+\/show$/)
  })

  it('offers no check and promises no batch where the resource takes none, and knows no outcome of a lost write', async () => {
    const { made, page } = await selectedSuppliers('Single', ['first', 'second'])
    await page.route('**/admin/catalogue.json', async (route) => {
      const answer = await route.fetch()
      const text = (await answer.text()).replaceAll(/"(?:batch|updateBatch|deleteBatch)",?/g, '"none",')
      await route.fulfill({ response: answer, body: text.replaceAll('"none",]', '"none"]') })
    })
    await page.reload()
    await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
    await page.getByRole('button', { name: 'Delete selected' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('They are deleted one after the other.').waitFor()
    const check = page.getByRole('button', { name: 'Check' })
    expect(await check.count()).to.equal(0)
    await page.route('**/suppliers/batch/delete', (route) => route.abort())
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('alert').getByText('It is not known whether all of 2 rows were deleted:').waitFor()
    const { complaints } = admin.visit
    const others = complaints.splice(0).filter((one) => one !== 'Failed to load resource: net::ERR_FAILED')
    complaints.push(...others)
    for (const path of [`/suppliers/${made[0]?.id}`, '/suppliers/create']) {
      await page.goto(admin.urlOf(path))
      await page.getByRole('button', { name: 'Save' }).waitFor()
      expect(await check.count(), path).to.equal(0)
    }
    await page.unrouteAll()
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
    await page.getByRole('button', { name: 'Deactivate the supplier' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate the supplier' }).click()
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
