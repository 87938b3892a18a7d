import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi, type ApiStore } from './api-store.js'
import { ids, type Answer } from './http-call.js'

/** Orders of rows, with nullable columns, ties, a column of another row and mixed directions. */
const ORDERS = [
  '',
  'sortDirection=desc',
  'sortColumn=price',
  'sortColumn=price&sortDirection=desc',
  'sortColumn=barcode',
  'sortColumn=barcode&sortDirection=desc',
  'sortColumn=name&sortDirection=desc',
  'sortColumn=externalId',
  'sortColumn=releasedAt&sortDirection=desc',
  'sortColumn=isActive,weightGrams&sortDirection=desc,asc',
  'sortColumn=weightGrams,price,name&sortDirection=desc,asc,desc',
  'sortColumn=categoryId,weightGrams,releasedAt,barcode&sortDirection=asc,desc,desc,asc',
  'sortColumn=price,id,name&sortDirection=desc'
]
const next = (answer: Answer): string | undefined => cursor(answer, 'x-next-cursor')
const previous = (answer: Answer): string | undefined => cursor(answer, 'x-previous-cursor')

function cursor(answer: Answer, name: string): string | undefined {
  const value = answer.headers[name]
  if (value === undefined) return undefined
  expect(value).to.match(/^[\w-]{1,1024}$/)
  return String(value)
}

/** Follows cursors until there are none, at most 100 of them. */
async function walk(
  read: (cursor: string) => Promise<Answer>,
  first: Answer,
  onward: (answer: Answer) => string | undefined
): Promise<unknown[][]> {
  const pages: unknown[][] = []
  for (let at = onward(first); at !== undefined && pages.length < 100;) {
    const answer = await read(at)
    expect(answer.status, answer.text).to.equal(200)
    pages.push(ids(answer))
    at = onward(answer)
  }
  return pages
}

describeApi('cursors of GET /{resource}/paged', (store) => {
  const page = (query: string): Promise<Answer> => store.call(`/products/paged?fields=id&${query}`)
  afterEach(() => withTestDatabase(store.databaseUrl, (database) => database.run('DELETE FROM products WHERE id > 12')))

  // Each on one of the two databases in turn, and on both in the soak.
  for (const order of ORDERS.filter((_, at) => isSoak || at % 2 === Number(store.kind === 'sqlite'))) {
    it(`walk forward and back through the rows that page numbers show, by ${order || 'the id'}`, async () => {
      const all = ids(await page(`${order}&pageSize=500`))
      expect(all).to.have.length(12)
      // Pages of one row have a cursor behind each.
      for (const size of isSoak ? [1, 5] : [1]) {
        const query = `${order}&pageSize=${size}`
        const first = await page(query)
        const forward = await walk((after) => page(`${query}&after=${after}`), first, next)
        expect([...ids(first), ...forward.flat()]).to.deep.equal(all)
        const last = await page(`${query}&pageNumber=${Math.ceil(12 / size)}`)
        expect(next(last)).to.equal(undefined)
        const back = await walk((before) => page(`${query}&before=${before}`), last, previous)
        expect([...back.toReversed().flat(), ...ids(last)]).to.deep.equal(all)
      }
    })
  }

  it('walk through a column of another row', async () => {
    for (const direction of ['asc', 'desc']) {
      const query = `/categories/paged?fields=id&pageSize=2&sortColumn=parentName&sortDirection=${direction}`
      const all = ids(await store.call(query.replace('pageSize=2', 'pageSize=9')))
      const first = await store.call(query)
      const pages = await walk((after) => store.call(`${query}&after=${after}`), first, next)
      expect([...ids(first), ...pages.flat()]).to.deep.equal(all)
    }
  })

  it('are told where there are such rows, beside links that are cursors and a page without a number', async () => {
    const query = 'sortColumn=price&pageSize=5'
    const first = await page(query)
    expect(previous(first)).to.equal(undefined)
    const second = await page(`${query}&after=${next(first)}`)
    expect(JSON.parse(String(second.headers['x-pagination']))).to.deep.equal({
      totalCount: 12,
      pageSize: 5,
      currentPage: null,
      totalPages: 3,
      hasPrevious: true,
      hasNext: true
    })
    expect(second.headers['x-total-count']).to.equal('12')
    const links = [...String(second.headers['link']).matchAll(/<([^>]+)>; rel="(\w+)"/g)]
    const targets = links.map(([, target = '', rel]) => {
      const { searchParams } = new URL(target)
      expect(searchParams.get('sortColumn')).to.equal('price')
      const [after, before] = [searchParams.get('after'), searchParams.get('before')]
      return { rel, after, before, pageNumber: searchParams.get('pageNumber') }
    })
    expect(targets).to.have.deep.members([
      { rel: 'first', after: null, before: null, pageNumber: '1' },
      { rel: 'prev', after: null, before: previous(second), pageNumber: null },
      { rel: 'next', after: next(second), before: null, pageNumber: null },
      { rel: 'last', after: null, before: null, pageNumber: '3' }
    ])
    const third = await page(`${query}&includeTotal=false&after=${next(second)}`)
    expect(JSON.parse(String(third.headers['x-pagination']))).to.deep.equal({
      pageSize: 5,
      currentPage: null,
      hasPrevious: true,
      hasNext: false
    })
    expect(next(third)).to.equal(undefined)
    const start = await page(`${query}&before=${previous(second)}`)
    expect(ids(start)).to.deep.equal(ids(first))
    expect(JSON.parse(String(start.headers['x-pagination']))).to.include({ hasPrevious: false, hasNext: true })
    expect(previous(start)).to.equal(undefined)
    // A page of a number keeps its numbers in links.
    expect(String((await page(`${query}&pageNumber=2`)).headers['link'])).not.to.match(/after=|before=/)
  })

  it('survive other page sizes, fields and spellings of the same query', async () => {
    const filters = 'filters[price].operator=gte&filters[price].value=1&filters[name].operator=ne&filters[name].value=x'
    const same =
      'filters[NAME].operator=not%20equals&filters[NAME].value=x&filters[Price].operator=GTE&filters[Price].value=1.00'
    const first = await page(`${filters}&sortColumn=name&pageSize=2`)
    const all = ids(await page(`${filters}&sortColumn=name&pageSize=100`))
    const answer = await store.call(`/products/paged?${same}&sortColumn=NAME&sortDirection=ASC&after=${next(first)}`)
    expect(ids(answer)).to.deep.equal(all.slice(2, 12))
  })

  it('begin a walk anew from an empty page, in both directions', async () => {
    const { rows, remove } = await temporary(store, [20_001, 20_002, 20_003])
    const query = `${rows}&pageSize=2`
    const first = await page(query)
    expect(ids(first)).to.deep.equal([20_001, 20_002])
    await remove([20_003])
    const empty = await page(`${query}&after=${next(first)}`)
    expect(ids(empty)).to.deep.equal([])
    expect(next(empty)).to.equal(undefined)
    expect(ids(await page(`${query}&before=${previous(empty)}`))).to.deep.equal([20_001, 20_002])
    await remove([20_002])
    expect(ids(await page(`${query}&before=${previous(empty)}`))).to.deep.equal([20_001])
    await remove([20_001])
    const gone = await page(`${query}&before=${previous(empty)}`)
    expect(ids(gone)).to.deep.equal([])
    expect([next(gone), previous(gone)]).to.deep.equal([undefined, undefined])
  })

  for (const direction of isSoak ? ['asc', 'desc'] : [store.kind === 'sqlite' ? 'asc' : 'desc']) {
    it(`meet every other row once while rows are inserted, deleted and moved, ${direction}`, async () => {
      const all = Array.from({ length: 60 }, (_, n) => 30_000 + n * 10)
      const { rows, insert, remove, run } = await temporary(store, all)
      const sorted = `${rows}&sortColumn=weightGrams,price&sortDirection=${direction}`
      const query = `${sorted}&pageSize=7`
      for (const [onward, parameter] of [
        [next, 'after'],
        [previous, 'before']
      ] as const) {
        const order = ids(await page(`${sorted}&pageSize=500`)).map(Number)
        const disturbed = new Set<number>()
        let step = 0
        const read = async (at: string): Promise<Answer> => {
          const answer = await page(`${query}&${parameter}=${at}`)
          const seen = ids(answer).map(Number)
          // The row that the next cursor stands at goes away, another one moves to the front or the end, a third comes.
          const edge = parameter === 'after' ? seen.at(-1) : seen[0]
          const moved = order[(step * 11 + 5) % order.length]
          if (edge !== undefined && step % 3 === 0) {
            disturbed.add(edge)
            await remove([edge])
          } else if (moved !== undefined && step % 3 === 1) {
            disturbed.add(moved)
            await run(`UPDATE products SET weight_grams = ${step % 2 === 0 ? 'NULL' : '9999'} WHERE id = ${moved}`)
          } else {
            await insert([31_000 + step + (parameter === 'after' ? 0 : 500)])
          }
          step++
          return answer
        }
        const edgePage = parameter === 'after' ? 1 : Math.ceil(order.length / 7)
        const start = await page(`${query}&pageNumber=${edgePage}`)
        const pages = await walk(read, start, onward)
        const shown =
          parameter === 'after' ? [...ids(start), ...pages.flat()] : [...pages.toReversed().flat(), ...ids(start)]
        const steady = order.filter((id) => !disturbed.has(id))
        expect(shown.map(Number).filter((id) => steady.includes(id))).to.deep.equal(steady)
        expect(step).to.be.greaterThan(5)
      }
    })
  }

  it('show a caller the rows of that caller, whoever they come from', async () => {
    const query = '/orders/paged?fields=id,customerId&pageSize=1&sortColumn=placedAt'
    const first = await store.as('ada', query)
    expect(ids(first)).to.deep.equal([1])
    const other = await store.as('ben', `${query}&after=${next(first)}`)
    expect(ids(other)).to.deep.equal([2])
    // Order 1 is not Ben's: nothing of his precedes order 2.
    expect(previous(other)).to.equal(undefined)
    const rest = await store.as('ben', `${query}&after=${next(other)}`)
    expect(ids(rest)).to.deep.equal([5])
    store.problem(await store.call(`${query}&after=${next(first)}`), { status: 401, code: 'auth.required' })
  })

  it('with any byte changed are rejected, and so is all else that is no cursor', async () => {
    const query = 'sortColumn=name&pageSize=1'
    const good = next(await page(query)) ?? ''
    const changed = [...good].map(
      (letter, at) => `${good.slice(0, at)}${letter === 'A' ? 'B' : 'A'}${good.slice(at + 1)}`
    )
    const others = [
      '',
      'x',
      `${good}A`,
      `${good}=`,
      good.slice(1),
      good.slice(0, -1),
      `${good},${good}`,
      'A'.repeat(2000)
    ]
    for (const [turn, parameter] of ['after', 'before'].entries()) {
      // Each byte of one of the two, and of both in the soak.
      const some = changed.filter((_, at) => isSoak || at % 2 === turn)
      for (const text of [...some, ...others]) {
        const answer = await page(`${query}&${parameter}=${text}`)
        expect(answer.status, `${parameter}=${text} ${answer.text}`).to.equal(400)
        expect(answer.text).to.include('"code":"paging.cursor.invalid"').and.include(`"detail":"${parameter} takes`)
      }
    }
  })

  it('of another query or resource are rejected, by the name of the parameter', async () => {
    const good = next(await page('sortColumn=name&pageSize=1')) ?? ''
    const others = [
      '/products/paged?sortColumn=sku',
      '/products/paged',
      '/products/paged?sortColumn=name&sortDirection=desc',
      '/products/paged?sortColumn=name,price',
      '/products/paged?sortColumn=name&search=a',
      '/products/paged?sortColumn=name&filters[id].operator=gt&filters[id].value=0',
      '/categories/paged?sortColumn=name'
    ]
    for (const target of others) {
      const answer = await store.call(`${target}${target.includes('?') ? '&' : '?'}before=${good}`)
      const violation = { code: 'paging.cursor.invalid', parameter: 'before' }
      const problem = store.problem(answer, { status: 400, code: violation.code, violations: [violation] })
      expect(problem.detail, target).to.include('before takes')
    }
  })

  it('exclude each other and page numbers', async () => {
    const good = next(await page('pageSize=1')) ?? ''
    for (const query of [`after=${good}&before=${good}`, `after=${good}&page=1`, `before=${good}&pageNumber=1`]) {
      store.problem(await page(query), { status: 400, code: 'paging.invalid' })
    }
  })

  it('are the same each time, since they hold all that they mean', async () => {
    expect(next(await page('pageSize=3&sortColumn=sku'))).to.equal(next(await page('pageSize=3&sortColumn=sku')))
  })

  it('that would be longer than 1 KiB are left out', async () => {
    const name = '🎈'.repeat(200)
    const { rows } = await temporary(store, [40_001, 40_002], { name })
    const answer = await page(`${rows}&sortColumn=name&pageSize=1`)
    expect(ids(answer)).to.deep.equal([40_001])
    expect(next(answer)).to.equal(undefined)
    expect(JSON.parse(String(answer.headers['x-pagination']))).to.include({ hasNext: true })
    expect(String(answer.headers['link'])).to.include('rel="next"')
  })
})

/** Products of category 5 for one test. `rows` is a filter for them and for those that `insert` adds. */
async function temporary(store: ApiStore, first: readonly number[], more: NewRow = {}) {
  const run = async (sql: string): Promise<void> => {
    await withTestDatabase(store.databaseUrl, async (database) => void (await database.run(sql)))
  }
  const insert = (wanted: readonly number[]): Promise<void> =>
    withTestDatabase(store.databaseUrl, (database) =>
      insertRows(
        database,
        TABLES.products,
        wanted.map((id, n) => ({
          id,
          name: 'Temporary',
          sku: `TMP-${id}`,
          categoryId: 5,
          price: `${(id * 7) % 5}.00`,
          weightGrams: (id * 3) % 4 === 0 || n % 5 === 0 ? null : (id * 3) % 11,
          isActive: true,
          ...more
        }))
      )
    )
  const remove = (gone: readonly number[]): Promise<void> => run(`DELETE FROM products WHERE id IN (${gone.join()})`)
  await insert(first)
  return { rows: 'filters[categoryId].operator=eq&filters[categoryId].value=5', insert, remove, run }
}

describeApi('cursors over names that differ in accents alone', (store) => {
  const names = ['Rosé', 'Rose', 'Rosè', 'Café', 'Cafe']

  // No index serves these orders, and a sort with a limit may compare less than an index does.
  for (const sort of ['weightGrams,name', 'weightGrams,name,price', 'isActive,name&sortDirection=desc,asc']) {
    it(`show each row once, and the same order as one page of all, by ${sort}`, async () => {
      const rows = names.map((name, n) => ({ id: 101 + n, name, sku: `ACC-${n}`, categoryId: 5, price: '1.00' }))
      const inserted = rows.map((row) => ({ ...row, weightGrams: 1, isActive: true }))
      await withTestDatabase(store.databaseUrl, async (database) => {
        await database.run('DELETE FROM products WHERE id > 100')
        await insertRows(database, TABLES.products, inserted)
      })
      const query = `/products/paged?fields=id&filters[id].operator=gt&filters[id].value=100&sortColumn=${sort}`
      const sorted = ['Cafe', 'Café', 'Rose'].map((name) => 101 + names.indexOf(name))
      const whole = ids(await store.call(`${query}&pageSize=100`))
      expect(whole).to.have.length(names.length)
      expect(whole.slice(0, sorted.length)).to.deep.equal(sorted)
      for (const size of [1, 2]) {
        const first = await store.call(`${query}&pageSize=${size}`)
        const onward = await walk((after) => store.call(`${query}&pageSize=${size}&after=${after}`), first, next)
        expect([...ids(first), ...onward.flat()], `pageSize ${size}`).to.deep.equal(whole)
        const numbered: unknown[] = []
        for (let number = 1; numbered.length < 5; number++) {
          numbered.push(...ids(await store.call(`${query}&pageSize=${size}&pageNumber=${number}`)))
        }
        expect(numbered, `pageSize ${size}, by number`).to.deep.equal(whole)
      }
    })
  }
})

describeApi('cursors whose index is dropped under a running service', (store) => {
  it('lead to the same rows', async () => {
    const query = '/products/paged?fields=id&pageSize=3&sortColumn=categoryId,price&sortDirection=desc'
    const all = ids(await store.call(query.replace('pageSize=3', 'pageSize=12')))
    const pagesNow = async (): Promise<unknown[]> => {
      const first = await store.call(query)
      const onward = await walk((after) => store.call(`${query}&after=${after}`), first, next)
      return [...ids(first), ...onward.flat()]
    }
    expect(await pagesNow()).to.deep.equal(all)
    await withTestDatabase(store.databaseUrl, (database) => {
      const on = database.kind === 'sqlite' ? '' : ' ON products'
      return database.run(`DROP INDEX products_category_id_price_order${on}`)
    })
    for (let round = 0; round < 2; round++) expect(await pagesNow()).to.deep.equal(all)
  })
})
