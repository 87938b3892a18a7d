/// <reference lib="dom" />
import { expect } from 'chai'
import type { Locator, Page, Request } from 'playwright-core'
import { AdminPages, NEW_PRODUCT, type Row, SIZES } from './admin-pages.js'
import { accessibilityViolations } from './axe.js'

const SIZE_NAMES = Object.keys(SIZES) as (keyof typeof SIZES)[]

/** More than a page has to pass with the tabulator. */
const MOST_STEPS = 400

/** Presses a key until an element has the focus, as people do who have no mouse. */
async function reach(page: Page, element: Locator, key = 'Tab'): Promise<void> {
  await element.waitFor()
  for (let steps = 0; steps < MOST_STEPS; steps++) {
    if (await element.evaluate((one) => one === document.activeElement)) return
    await page.keyboard.press(key)
  }
  throw new Error(`${String(element)} cannot be reached with ${key}.`)
}

async function press(page: Page, element: Locator, key = 'Enter'): Promise<void> {
  await reach(page, element)
  await page.keyboard.press(key)
}

async function fill(page: Page, element: Locator, text: string): Promise<void> {
  await reach(page, element)
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(text)
}

/** Chooses of a list of options, which the element opens. */
async function choose(page: Page, element: Locator, option: string): Promise<void> {
  await press(page, element)
  await reach(page, page.getByRole('option', { name: option, exact: true }), 'ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}

/** Chooses a row of another resource by its name, the first of several that have it. */
async function chooseByName(page: Page, element: Locator, name: string): Promise<void> {
  const answer = page.waitForResponse((one) => [...new URL(one.url()).searchParams.values()].includes(name))
  await fill(page, element, name)
  await answer
  await page.getByRole('option', { name }).first().waitFor()
  const listbox = page.getByRole('listbox')
  // What is found meanwhile takes the place of what was there.
  const active = () =>
    element.evaluate(
      (one) => document.getElementById(one.getAttribute('aria-activedescendant') ?? '')?.textContent ?? ''
    )
  for (let steps = 0; steps < MOST_STEPS && (await listbox.count()) > 0; steps++) {
    await page.keyboard.press((await active()).startsWith(name) ? 'Enter' : 'ArrowDown')
  }
  await listbox.waitFor({ state: 'detached' })
}

/** The requests of a page that have no answer yet, as they are at any time. */
function requestsOf(page: Page): ReadonlySet<Request> {
  const waiting = new Set<Request>()
  page.on('request', (request) => waiting.add(request))
  page.on('requestfinished', (request) => waiting.delete(request))
  page.on('requestfailed', (request) => waiting.delete(request))
  return waiting
}

/** Waits until a page has all that it has asked for, and has shown it. */
async function settled(page: Page, waiting: ReadonlySet<Request>): Promise<void> {
  const shown = (): Promise<void> =>
    page.evaluate(
      () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))
    )
  do await shown()
  while (waiting.size > 0)
}

// In `npm test`, test/browser/admin.test.ts has axe on a page of each kind, and opens a row, filters and chooses columns by keyboard.
describe('the admin for everybody', function () {
  this.timeout(1_800_000)
  let admin: AdminPages

  before(async () => {
    admin = await AdminPages.start()
  })
  after(() => admin?.stop())
  afterEach(() => admin.afterTest())

  for (const size of SIZE_NAMES) {
    const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

    it(`takes ten tasks by keyboard alone: ${size}`, async () => {
      // 1: somebody signs in.
      const visit = await admin.visitOf(`by keyboard, ${size}`, size)
      const page = await visit.open(admin.urlOf('/'))
      await fill(page, page.getByLabel('E-mail address'), 'admin@example.com')
      await fill(page, page.getByLabel('Password'), 'demo-password')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Overview' }).waitFor()

      // 2: they find a page in the menu.
      if (size === 'phone') await press(page, page.getByRole('button', { name: 'Open menu' }))
      await fill(page, page.getByRole('searchbox', { name: 'Find a page' }), 'produc')
      await press(page, page.getByRole('menuitem', { name: 'Products' }))
      await page.waitForURL(/#\/products/)

      // 3: they search.
      await fill(page, page.getByRole('searchbox', { name: 'Search' }), 'jug')
      await page.keyboard.press('Enter')
      await page.waitForURL((url) => decodeURIComponent(url.hash).includes('"q":"jug"'))

      // 4: they filter by the name of a category.
      const category = String((await admin.api('admin', 'GET', '/categories/1')).row['name'])
      await press(page, button(page, 'Add filter'))
      await choose(page, page.getByRole('combobox', { name: 'Field' }), 'Category')
      await chooseByName(page, page.getByRole('combobox', { name: 'Value' }), category)
      await press(page, button(page, 'Apply'))
      const chip = button(page, `Remove the filter Category equals ${category}`)
      await press(page, chip)
      await chip.waitFor({ state: 'detached' })

      // 5: they choose a column.
      await press(page, button(page, 'Columns'))
      await press(page, page.getByRole('checkbox', { name: 'Barcode' }), 'Space')
      await press(page, button(page, 'Close'))
      await page.getByRole('dialog').waitFor({ state: 'detached' })

      // 6: they open a row.
      const { row: product } = await admin.api('admin', 'POST', '/products', {
        ...NEW_PRODUCT,
        name: `Jug of ${size}`,
        sku: `KEY-${size}`
      })
      const list = encodeURIComponent(JSON.stringify({ 'sku.equals': `KEY-${size}` }))
      await page.goto(admin.urlOf(`/products?filter=${list}`))
      await press(page, page.getByRole('link', { name: `Jug of ${size}` }))
      await page.waitForURL(/#\/products\/\d+\/show$/)

      // 7 and 8: they change it, and settle what somebody else has changed meanwhile.
      await press(page, page.getByRole('link', { name: 'Edit' }))
      await fill(page, page.getByLabel('Name'), 'Mine')
      const theirs = { name: 'Theirs' }
      await admin.api('clerk', 'PATCH', `/products/${product.id}`, theirs, product)
      await press(page, button(page, 'Save'))
      const conflict = page.getByRole('dialog', { name: 'Somebody else has changed this meanwhile' })
      const save = conflict.getByRole('button', { name: 'Save the choice' })
      await save.waitFor()
      expect(await save.isDisabled()).to.equal(true)
      expect(await accessibilityViolations(page)).to.deep.equal([])
      expect(await conflict.getByRole('table').count()).to.equal(size === 'phone' ? 0 : 1)
      await press(page, conflict.getByRole('radio', { name: 'Name: mine' }), 'Space')
      await press(page, save)
      await page.getByRole('heading', { name: /Mine/ }).waitFor()
      expect((await admin.api('admin', 'GET', `/products/${product.id}`)).row['name']).to.equal('Mine')

      // 9: they order, with a line that names the product.
      await page.goto(admin.urlOf('/orders/create'))
      await chooseByName(page, page.getByRole('combobox', { name: 'Customer' }), 'Ada Lovelace')
      await press(page, button(page, 'Add line'))
      await chooseByName(page, page.getByRole('combobox', { name: 'Product' }), 'Everyday Copper Jug')
      await fill(page, page.getByLabel('Quantity'), '1')
      await press(page, button(page, 'Save'))
      await page.waitForURL(/#\/orders\/\d+\/show$/)

      // 10: they cancel the order, after a second thought.
      await press(page, button(page, 'Cancel the order'))
      const dialog = page.getByRole('dialog', { name: 'Cancel the order' })
      await press(page, dialog.getByRole('button', { name: 'Keep the order as it is' }))
      await dialog.waitFor({ state: 'detached' })
      await press(page, button(page, 'Cancel the order'))
      await fill(page, dialog.getByLabel('Reason'), 'Ordered twice.')
      await press(page, dialog.getByRole('button', { name: 'Cancel the order' }))
      await page.getByText('Cancel the order: done').waitFor()
      const [id = ''] = /\d+(?=\/show$)/.exec(page.url()) ?? []
      expect((await admin.api('admin', 'GET', `/orders/${id}`)).row['status']).to.equal('cancelled')
    })

    it(`has no violation that axe finds on any page: ${size}`, async () => {
      const { row } = await admin.api('admin', 'GET', '/admin/catalogue.json')
      const resources = row['resources'] as readonly { readonly name: string; readonly allowed: readonly string[] }[]
      const page = await admin.open('admin', '/', size)
      const waiting = requestsOf(page)
      const found: string[] = []
      for (const path of ['/', '/accounts', ...(await pathsOf(resources))]) {
        // Two addresses that differ in the part after # alone are one page to the browser, which shows the one before at first.
        await page.goto('about:blank')
        await page.goto(admin.urlOf(path))
        await page.getByRole('heading', { level: 1 }).filter({ hasText: /\S/ }).waitFor()
        await settled(page, waiting)
        await page.getByRole('progressbar').first().waitFor({ state: 'detached' })
        for (const colorScheme of ['dark', 'light'] as const) {
          await page.emulateMedia({ colorScheme })
          await settled(page, waiting)
          found.push(...(await accessibilityViolations(page)).map((one) => `${path}, ${colorScheme}: ${one}`))
        }
        if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)) {
          found.push(`${path} is wider than the window`)
        }
      }
      expect(found).to.deep.equal([])
    })
  }

  /** The list of each resource, the form of a new row, and the page and the form of its first row. */
  async function pathsOf(
    resources: readonly { readonly name: string; readonly allowed: readonly string[] }[]
  ): Promise<readonly string[]> {
    const paths: string[] = []
    for (const { name, allowed } of resources) {
      if (!allowed.includes('paged')) continue
      paths.push(`/${name}`)
      if (allowed.includes('create')) paths.push(`/${name}/create`)
      if (!allowed.includes('get')) continue
      const { row } = await admin.api('admin', 'GET', `/${name}/paged?pageSize=1`)
      const [first] = Array.isArray(row) ? (row as readonly Row[]) : []
      if (first === undefined) continue
      paths.push(`/${name}/${first.id}/show`)
      if (allowed.includes('update')) paths.push(`/${name}/${first.id}`)
    }
    return paths
  }
})
