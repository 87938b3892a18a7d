import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { filter } from './http-call.js'
import { describeLogged, type LoggedStatement } from './statement-log.js'

/** More than a text would be prepared for by chance. `npm run soak` sends ten times as many. */
const VALUES = isSoak ? 1000 : 100
/** So many at a time, so that several connections of the pool prepare for themselves. */
const AT_ONCE = 8

describeLogged('statement texts in the log of MariaDB', (store, during) => {
  const run = async (targets: readonly string[]): Promise<LoggedStatement[]> => {
    return during(async () => {
      const waiting = [...targets]
      const work = async (): Promise<void> => {
        for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
          const answer = await store.call(target)
          expect(answer.status, `${target} ${answer.text.slice(0, 300)}`).to.equal(200)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
    })
  }
  /** Those of the requests: once a minute the service looks whether its tables fit. */
  const prepared = (lines: readonly LoggedStatement[]): Set<string> =>
    new Set(
      lines
        .filter(({ command, text }) => command === 'Prepare' && /FROM `(?:products|events)`/.test(text))
        .map(({ text }) => text)
    )
  const queried = (lines: readonly LoggedStatement[]): string[] =>
    lines.filter(({ command }) => command === 'Query').map(({ text }) => text)
  const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, n) => from + n)

  it(`are one for ${VALUES} distinct filter values, none of which a Query line holds`, async () => {
    const lines = await run(
      numbers(VALUES).map(
        (n) => `/products/paged?includeTotal=false&fields=id&${filter('name', 'equals', `value${n}x`)}`
      )
    )
    expect([...prepared(lines)]).to.have.length(1)
    expect(lines.filter(({ command }) => command === 'Execute')).to.have.length.at.least(VALUES)
    expect(queried(lines).filter((text) => /value\d+x/.test(text))).to.deep.equal([])
  })

  it('are one with the total, and two where no index could serve the count', async () => {
    const page = (property: string, operator: string, value: (n: number) => string): string[] =>
      numbers(20).map((n) => `/products/paged?fields=id,sku&pageSize=2&${filter(property, operator, value(n))}`)
    const indexed = await run(page('price', 'gte', (n) => `0.${n + 10}`))
    expect(prepared(indexed).size).to.equal(1)
    expect(queried(indexed).filter((text) => /0\.\d\d/.test(text))).to.deep.equal([])
    const containing = await run(page('sku', 'contains', (n) => `-${'0'.repeat(n % 3)}`))
    expect(prepared(containing).size).to.equal(2)
  })

  it('are the same for all page numbers and sizes', async () => {
    const lines = await run(
      numbers(60, 1).map((n) => `/products/paged?includeTotal=false&fields=id,name&pageNumber=${n}&pageSize=${n}`)
    )
    expect([...prepared(lines)]).to.have.length(1)
  })

  it('are the same for `in` lengths within a power of two', async () => {
    const target = (length: number): string =>
      `/products/paged?includeTotal=false&fields=id,price&${filter('id', 'in', numbers(length, 5000).join(','))}`
    expect(prepared(await run([65, 66, 97, 127, 128].map(target))).size).to.equal(1)
    expect(prepared(await run(numbers(50).map((n) => target(1 + 4 * n)))).size).to.be.at.most(9)
  })

  it('of reads by id depend on nothing but the power of two of how many rows are read together', async () => {
    const lines = await run(numbers(100).map((n) => `/products/${(n % 12) + 1}?fields=id,sku,price`))
    // One for a single row, and one each for up to 2, 4 and 8: so many are asked at a time.
    expect(prepared(lines).size).to.be.within(1, 4)
    expect(queried(lines).filter((text) => /FROM `products`/.test(text))).to.deep.equal([])
  })

  const SHAPES: readonly (readonly [what: string, target: (n: number) => string])[] = [
    [
      'totals',
      (n) => `/products/totals?by=isActive&sortColumn=average.price&${filter('name', 'equals', `value${n}x`)}`
    ],
    ['lookup searches', (n) => `/products/lookup?search=value${n}x`],
    [
      'text fragments',
      (n) => `/products/paged?includeTotal=false&fields=sku&${filter('name', 'contains', `value${n}x`)}`
    ],
    [
      'dates',
      (n) =>
        `/products/paged?includeTotal=false&fields=sku&${filter('releasedAt', 'is after', new Date(n * 1e9).toISOString())}`
    ],
    ...['equals', 'not equals', 'greater than', 'less than or equal', 'in', 'between'].map(
      (operator) =>
        [
          `decimals by ${operator}, of any scale and size`,
          (n: number): string => {
            const value = ['5.50', '5.499', '0', '-1.5', '9'.repeat(70), '99999999.99', '99999999.995'][n % 7] ?? ''
            const list = operator === 'in' ? `${value},1` : operator === 'between' ? `${value},${value}` : value
            return `/products/paged?includeTotal=false&fields=sku&${filter('price', operator, list)}`
          }
        ] as const
    ),
    [
      'groups',
      (n) =>
        `/products/paged?includeTotal=false&fields=sku&anyOf[${1 + (n % 9)}].${filter('name', 'contains', `v${n}x`).replace('&', `&anyOf[${1 + (n % 9)}].`)}` +
        `&anyOf[${1 + (n % 9)}].${filter('price', 'gt', String(n)).replace('&', `&anyOf[${1 + (n % 9)}].`)}`
    ],
    [
      'searches by as many words of the index, in any order of their kinds',
      (n) => {
        const words = ['a-b', `value${n}x`, 'c-d'].map((_, at, all) => all[(at + n) % 3])
        return `/events/paged?includeTotal=false&fields=title&search=${words.join('%20')}`
      }
    ],
    ['longs', (n) => `/products/paged?includeTotal=false&fields=sku&${filter('barcode', 'gt', `900719925474099${n}`)}`],
    [
      'filter keys in another order',
      (n) =>
        n % 2 === 0
          ? `/products/paged?includeTotal=false&fields=name&${filter('id', 'gt', '1')}&${filter('price', 'gt', '1')}`
          : `/products/paged?includeTotal=false&fields=name&${filter('ID', 'GT', '2')}&${filter('Price', 'greaterThan', '3')}`
    ]
  ]
  for (const [what, target] of SHAPES) {
    it(`are one for all ${what}`, async () => {
      const lines = await run(numbers(14).map(target))
      expect([...prepared(lines)]).to.have.length(1)
      expect(queried(lines).filter((text) => /value\d+x/.test(text))).to.deep.equal([])
    })
  }

  /** The cursors of consecutive rows, one a row. */
  const cursorsOf = async (query: string, count: number): Promise<string[]> => {
    const found: string[] = []
    let target = `/products/paged?${query}&pageSize=1`
    while (found.length < count) {
      const next = (await store.call(target)).headers['x-next-cursor']
      if (typeof next !== 'string') return found
      found.push(next)
      target = `/products/paged?${query}&pageSize=1&after=${next}`
    }
    return found
  }

  for (const [sort, patterns] of [
    ['sortColumn=sku', 1],
    ['sortColumn=weightGrams', 2],
    ['sortColumn=weightGrams,barcode&sortDirection=desc,asc', 4]
  ] as const) {
    it(`are one for each direction and pattern of null keys, for ${VALUES} cursors by ${sort}`, async () => {
      const query = `includeTotal=false&fields=id,name&${sort}`
      const cursors = await cursorsOf(query, 100)
      expect(cursors).to.have.length(11)
      for (const parameter of ['after', 'before']) {
        const targets = numbers(VALUES).map(
          (n) => `/products/paged?${query}&${parameter}=${cursors[n % cursors.length] ?? ''}`
        )
        const texts = [...prepared(await run(targets))]
        expect(texts).to.have.length.within(1, patterns)
      }
    })
  }

  it('are one for sort lists of one shape, and one for searches of one number of words', async () => {
    const sorted = (n: number): string =>
      `sortColumn=price,${n % 2 === 0 ? 'NAME' : 'name'}&sortDirection=${n % 3 === 0 ? 'desc' : 'DESC,desc'}`
    const lists = await run(
      numbers(12, 1).map((n) => `/products/paged?includeTotal=false&fields=sku&${sorted(n)}&page=${n}`)
    )
    expect([...prepared(lists)]).to.have.length(1)
    for (const words of [1, 2, 8]) {
      const search = (n: number): string =>
        numbers(words)
          .map((word) => `word${n}x${word}`)
          .join('+')
      const lines = await run(
        numbers(12).map((n) => `/products/paged?includeTotal=false&fields=sku&search=${search(n)}`)
      )
      expect([...prepared(lines)]).to.have.length(1)
      expect(queried(lines).filter((text) => /word\d+x/.test(text))).to.deep.equal([])
    }
  })

  it('hold no value in exports either', async () => {
    const lines = await run(numbers(10).map((n) => `/products/export?${filter('name', 'ne', `value${n}x`)}`))
    expect(queried(lines).filter((text) => /value\d+x/.test(text))).to.deep.equal([])
    expect(prepared(lines).size).to.be.at.most(3)
  })
})
