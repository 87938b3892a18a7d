import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { expectKeptSecrets } from './secrecy.js'
import { Shop } from './shop.js'
import { sharedBrowser, Visit } from './visit.js'

const HEADS = ['Article', 'Name', 'Price']

describe('searching and paging in the shop', () => {
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
    expect(visit.complaints).to.deep.equal([])
    await visit.context.close()
  })

  it('finds a product by words of its name in any order and by its article', async () => {
    visit = await Visit.start(browser)
    const page = await visit.open(shop.url())
    for (const words of ['jug copper everyday', 'jug-00001']) {
      await page.getByRole('searchbox', { name: 'Search products' }).fill(words)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: `“${words}”` }).waitFor()
      expect(await tiles(page), words).to.include('/products/1')
    }
  })

  it('walks all pages of a search forward and back again, each product once', async () => {
    visit = await Visit.start(browser)
    const page = await visit.open(`${shop.url()}/products?search=copper&sort=price`)
    const total = Number(/^([\d,]+) products/m.exec(await page.locator('main').innerText())?.[1]?.replace(',', ''))
    const pages = [await tiles(page)]
    for (;;) {
      if ((await page.locator('a[rel=next]').count()) === 0) break
      expect(await turn(page, 'next')).to.match(/&after=/)
      pages.push(await tiles(page))
    }
    expect(pages.length).to.be.greaterThan(2)
    expect(pages.flat()).to.have.length(total)
    expect(new Set(pages.flat())).to.have.property('size', total)
    for (const before of pages.slice(0, -1).toReversed()) {
      expect(await turn(page, 'prev')).to.match(/&before=/)
      expect(await tiles(page)).to.deep.equal(before)
    }
    expect(await page.locator('a[rel=prev]').count()).to.equal(0)
  })

  it('shows the first page where a link has a cursor of another search', async () => {
    visit = await Visit.start(browser)
    const page = await visit.open(`${shop.url()}/products?sort=price`)
    const first = await tiles(page)
    const next = new URL((await page.locator('a[rel=next]').getAttribute('href')) ?? '', shop.url())
    await page.goto(`${shop.url()}/products?sort=price&after=AAAA`)
    expect(await tiles(page)).to.deep.equal(first)
    await page.goto(`${shop.url()}/products?sort=name&after=${next.searchParams.get('after') ?? ''}`)
    const byName = await tiles(page)
    await page.goto(`${shop.url()}/products?sort=name`)
    expect(await tiles(page)).to.deep.equal(byName)
  })

  for (const [account, heads] of [
    ['clerk', [...HEADS, 'Cost', 'Margin', 'Reorder at']],
    ['ada', HEADS]
  ] as const) {
    it(`shows ${account} the columns of the stock list that ${account} may read`, async () => {
      visit = await Visit.start(browser)
      const page = await visit.signIn(shop.url(), account, '/stock')
      const table = page.locator('table.stock')
      await table.waitFor()
      expect(await table.locator('thead th').allInnerTexts()).to.deep.equal(heads)
      const totals = page.locator('table.stock-totals')
      expect(await totals.locator('th').allInnerTexts()).to.deep.equal([
        'Articles',
        'Number',
        'Average price',
        ...(account === 'clerk' ? ['Sum of costs'] : [])
      ])
      const numbers = await totals.locator('tbody td:nth-child(-n+2)').allInnerTexts()
      const countOf = async (isActive: boolean): Promise<string> => {
        const query = `filters[isActive].operator=is&filters[isActive].value=${isActive}&pageSize=1`
        const answer = await fetch(`${shop.url()}/products/paged?${query}`)
        return answer.headers.get('x-total-count') ?? ''
      }
      expect(numbers).to.deep.equal(['On sale', await countOf(true), 'Not on sale', await countOf(false)])
      expect(await table.locator('tbody tr').count()).to.equal(50)
      await page.getByRole('button', { name: 'More' }).click()
      await table.locator('tbody tr').nth(99).waitFor()
      const names = await table.locator('tbody td:nth-child(2)').allInnerTexts()
      expect(names).to.have.length(100)
      await page.getByRole('searchbox', { name: 'Search the stock list' }).fill('jug-00001')
      await page.keyboard.press('Enter')
      await table.getByRole('cell', { name: 'JUG-00001' }).waitFor()
      expect(await table.locator('tbody tr').count()).to.equal(1)
      expectKeptSecrets(shop)
    })
  }
})

/** Where the tiles of the page lead, in their order. */
async function tiles(page: Page): Promise<(string | null)[]> {
  const links = await page.locator('.tiles a.tile').all()
  return Promise.all(links.map((one) => one.getAttribute('href')))
}

/** Follows the link to the next or the previous page, and answers where it led. */
async function turn(page: Page, rel: 'next' | 'prev'): Promise<string> {
  const link = page.locator(`a[rel=${rel}]`)
  const href = (await link.getAttribute('href')) ?? ''
  await link.click()
  await page.waitForURL((url) => url.href.endsWith(href))
  return href
}
