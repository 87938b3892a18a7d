import { expect } from 'chai'
import { WholePages } from '../../../campaign/checkers/reads/pages.js'
import { born, gone } from './counted-venue.js'
import { violationsOf, type Written } from './written-history.js'

describe('checker of pages', () => {
  const row = (id: number, capacity = 0) => ({ id, name: `counters-0.${id} #${capacity}`, capacity })
  const bornAs = (id: number): Written => ({
    ...born,
    headers: { 'idempotency-key': `k-${id}` },
    body: { name: row(id).name },
    answer: row(id)
  })
  const all = [7, 8, 9].map(bornAs)
  const rows = (call: string, ...items: readonly unknown[]): Written => ({
    call: `GET ${call}`,
    status: 200,
    answer: items
  })
  const BY = '/venues/paged?filters[name].operator=starts%20with&filters[name].value=counters-'
  const paged = (total: number, more: string, ...items: readonly unknown[]): Written => ({
    ...rows(`${BY}${more}`, ...items),
    got: { 'x-total-count': String(total) }
  })
  /** A page of a walk, with the cursors of what is before it and after it. */
  const step = (
    query: string,
    previous: string | undefined,
    next: string | undefined,
    ...ids: readonly number[]
  ): Written => ({
    ...rows(`${BY}&pageSize=2${query}`, ...ids.map((id) => row(id))),
    got: {
      ...(previous === undefined ? {} : { 'x-previous-cursor': previous }),
      ...(next === undefined ? {} : { 'x-next-cursor': next })
    }
  })
  const first = step('', undefined, 'c-1', 7, 8)
  const lookup: Written = {
    call: 'GET /venues/lookup?search=counters-',
    status: 200,
    answer: { items: [row(7), row(9)] }
  }
  const deleted = (id: number): Written => ({ ...gone, call: `DELETE /venues/${id}` })

  it('accepts what is whole and in order, and rows that come and go', async () => {
    const stories: readonly (readonly Written[])[] = [
      [...all, rows('/venues', row(7), row(8), row(9)), lookup],
      [...all, paged(3, '&sortColumn=capacity&sortDirection=desc', row(8, 2), row(9), row(7))],
      [...all, paged(3, '&sortColumn=name', row(9), { ...row(7), name: 'counters-é' }, row(8))],
      [...all, first, step('&after=c-1', 'c-0', undefined, 9), step('&before=c-0', undefined, 'c-1', 7, 8)],
      // 8 went and 10 came meanwhile.
      [...all, first, deleted(8), bornAs(10), step('&after=c-1', 'c-0', undefined, 9)],
      [...all, { ...paged(2, '', row(7), row(9)), at: [35, 60] }, { ...deleted(8), at: [30, 62] }],
      [...all, { ...rows('/venues', row(7), row(8), row(9)), got: { 'x-ignored-parameters': '%' } }],
      [{ call: 'POST /venues', body: row(6) }, ...all, paged(4, '', row(7), row(8), row(9))]
    ]
    for (const story of stories) expect(await violationsOf(new WholePages(), story)).to.deep.equal([])
  })

  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a list in another order', [...all, rows('/venues', row(8), row(7), row(9))], /7 after 8/],
    [
      'a page in another order',
      [...all, paged(3, '&sortColumn=capacity', row(7, 2), row(8), row(9))],
      /0, 8 after 2, 7/
    ],
    [
      'equal rows in another order',
      [...all, paged(3, '&sortColumn=capacity&sortDirection=desc', row(7), row(9), row(8))],
      /0, 9 after 0, 7/
    ],
    ['a lookup in another order', [...all, { ...lookup, answer: { items: [row(9), row(7)] } }], /after/],
    ['a row that is there twice', [...all, rows('/venues', row(7), row(7))], /a row twice/],
    ['a row that is not asked for', [...all, paged(3, '', { ...row(3), name: 'River Hall' })], /unasked for/],
    ['a total that is too low', [...all, paged(2, '', row(7), row(8), row(9))], /of 2 rows where there are 3 at least/],
    ['a total that is too high', [...all, paged(4, '', row(7), row(8), row(9))], /of 4 rows where there are 3 at most/],
    ['a total with a deleted row', [...all, deleted(8), paged(3, '', row(7), row(9))], /there are 2 at most/],
    ['a row that a walk leaves out', [...all, first, step('&after=c-1', 'c-0', undefined)], /leaves out venues\/9/],
    ['a walk that ends too soon', [...all, step('', undefined, undefined, 7, 8)], /leaves out venues\/9/],
    ['a row that a walk shows twice', [...all, first, step('&after=c-1', 'c-0', undefined, 8, 9)], /shows 8 twice/],
    [
      'a walk back that leaves out a row',
      [...all, first, step('&after=c-1', 'c-0', undefined, 9), step('&before=c-0', undefined, 'c-1', 8)],
      /leaves out venues\/7/
    ]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new WholePages(), history)).join('\n')).to.match(expected)
    })
  }
})
