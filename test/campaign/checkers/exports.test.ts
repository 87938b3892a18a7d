import { expect } from 'chai'
import { OneMoment } from '../../../campaign/checkers/reads/exports.js'
import { born, read, tag, update, version } from './counted-venue.js'
import { violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'

describe('checker of exports', () => {
  const csv = (...lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('')
  const other = { id: 8, name: 'counters-0.2 #0', capacity: 0, rowVersion: version(100) }
  const bornToo: Written = { ...born, headers: { 'idempotency-key': 'k-2' }, answer: other }
  const updateToo: Written = {
    ...update(0),
    call: 'PUT /venues/8',
    headers: { 'if-match': tag(100) },
    answer: { ...other, name: 'counters-0.2 #1', capacity: 1, rowVersion: version(101) },
    got: { etag: tag(101) }
  }
  const exported = (at: readonly [number, number], ...rows: readonly string[]): Written => ({
    call: 'GET /venues/export',
    status: 200,
    answer: csv('id,name,capacity', ...rows),
    got: { 'x-export-row-limit': '4' },
    at
  })
  // 7 has been written from 20 to 25, and after that 8 from 30 to 35.
  const story = [born, bornToo, update(0), updateToo]

  it('accepts each moment, and rows that came while it ran', async () => {
    for (const rows of [
      ['7,counters-0.1 #0,0', '8,counters-0.2 #0,0'],
      ['7,counters-0.1 #1,1', '8,counters-0.2 #0,0'],
      ['7,counters-0.1 #1,1', '8,counters-0.2 #1,1']
    ]) {
      expect(await violationsOf(new OneMoment(), [...story, exported([16, 50], ...rows)])).to.deep.equal([])
    }
    expect(await violationsOf(new OneMoment(), [...story, exported([1, 50], '7,counters-0.1 #0,0')])).to.deep.equal([])
  })

  const bad: readonly (readonly [string, Written, RegExp])[] = [
    ['rows of two moments', exported([16, 50], '7,counters-0.1 #0,0', '8,counters-0.2 #1,1'), /no single moment/],
    ['a stale export', exported([40, 50], '7,counters-0.1 #0,0', '8,counters-0.2 #0,0'), /no single moment/],
    ['a row that is left out', exported([16, 50], '7,counters-0.1 #0,0'), /leaves out/],
    [
      'a row that is there twice',
      exported([16, 50], '7,counters-0.1 #0,0', '7,counters-0.1 #0,0', '8,counters-0.2 #0,0'),
      /a row twice/
    ],
    [
      'an end that is none',
      exported([16, 50], '7,counters-0.1 #0,0', '# export incomplete after 1 rows,,'),
      /incomplete/
    ],
    [
      'a row that was left out long before others came',
      exported([200_000, 200_010], '7,counters-0.1 #1,1'),
      /leaves out/
    ]
  ]
  const asking = (query: string, ...rows: readonly string[]): Written => ({
    ...exported([40, 50], ...rows),
    call: `GET /venues/export?${query}`
  })
  const FULL = 'filters[capacity].operator=gte&filters[capacity].value=1'

  it('accepts what is filtered and sorted by the count', async () => {
    const sorted = asking('sortColumn=capacity&sortDirection=desc', '8,counters-0.2 #1,1', '7,counters-0.1 #1,1')
    expect(await violationsOf(new OneMoment(), [...story, sorted])).to.deep.equal([])
    const early = { ...asking(FULL, '7,counters-0.1 #1,1'), at: [26, 29] as const }
    expect(await violationsOf(new OneMoment(), [...story, early])).to.deep.equal([])
  })

  it('finds an update that came after the answer to another, shown by reads before both', async () => {
    // 7 is written from 20 to 60, and a read shows it before its answer; 8 is written from 30 to 35.
    const slow: Written = { ...update(0), at: [20, 60] }
    const looked: Written = { ...read(1), at: [40, 45] }
    const other8: Written = { ...updateToo, at: [10, 15] }
    const history = [born, { ...bornToo, at: [6, 9] }, other8, looked, slow] as const
    const late = exported([12, 50], '7,counters-0.1 #1,1', '8,counters-0.2 #0,0')
    expect((await violationsOf(new OneMoment(), [...history, late])).join()).to.match(/no single moment/)
    const right = exported([12, 50], '7,counters-0.1 #1,1', '8,counters-0.2 #1,1')
    expect(await violationsOf(new OneMoment(), [...history, right])).to.deep.equal([])
  })

  // Venues that nobody writes.
  const batch: Written = {
    workload: 'exports',
    call: 'POST /venues/batch',
    body: [{}],
    status: 201,
    answer: [{ id: 3 }],
    at: [0, 1]
  }
  const still = (at: number, row: string): Written => ({
    ...exported([at, at + 5], row, '7,counters-0.1 #1,1', '8,counters-0.2 #1,1')
  })

  it('accepts rows that stay as they are', async () => {
    const exports = [40, 50].map((at) => still(at, '3,exports-x,1'))
    expect(await violationsOf(new OneMoment(), [...story, batch, ...exports])).to.deep.equal([])
  })

  const torn: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a name of another version', [asking('', '7,counters-0.1 #0,1', '8,counters-0.2 #1,1')], /#0 and the count 1/],
    ['a column of another row', [asking('', '7,counters-0.1 #1,1', '8,counters-0.1 #1,1')], /and its version/],
    [
      'another order of counts',
      [asking('sortColumn=capacity', '8,counters-0.2 #1,1', '7,counters-0.1 #1,1')],
      /1, 7 after 1, 8/
    ],
    ['a row that the filter leaves out', [asking(FULL, '7,counters-0.1 #1,1')], /leaves out/],
    [
      'a row that the filter does not have',
      [asking(FULL, '7,counters-0.1 #0,0', '8,counters-0.2 #1,1')],
      /unasked for/
    ],
    [
      'a row of the beginning that is left out',
      [batch, asking('', '7,counters-0.1 #1,1', '8,counters-0.2 #1,1')],
      /leaves out the row 3/
    ],
    ['a row of the beginning that changes', [still(40, '3,x,1'), still(50, '3,x,2')], /rows that nobody writes/]
  ]
  for (const [what, history, expected] of torn) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new OneMoment(), [...story, ...history])).join('\n')).to.match(expected)
    })
  }

  for (const [what, written, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new OneMoment(), [...story, written])).join('\n')).to.match(expected)
    })
  }

  it('judges an export when nobody can still be told of a write before its end', async () => {
    const checker = new OneMoment()
    const late = { ...exported([200_000, 200_010], '7,counters-0.1 #2,2', '8,counters-0.2 #1,1') }
    // The answer to the update that it shows comes a moment after it, and other requests long after.
    const updated: Written = { ...update(1), at: [199_990, 200_020] }
    const reads = [260_000, 300_000].map((time): Written => ({ ...read(1), at: [time, time + 5] }))
    expect(await violationsOf(checker, [...story, late, updated, ...reads])).to.deep.equal([])
    const stale = exported([400_000, 400_010], '7,counters-0.1 #1,1', '8,counters-0.2 #1,1')
    expect((await violationsOf(checker, [stale, ...reads])).join()).to.match(/no single moment/)
  })

  // Rows 1 and 2 came from 0 to 5, rows 3 and 4 from 10 to 15, row 5 from 20 to 25.
  const speakers = (...ids: readonly number[]): Written => ({
    account: CLERK,
    call: ids.length > 1 ? 'POST /speakers/batch' : 'POST /speakers',
    headers: { 'idempotency-key': `k-${ids.join()}` },
    status: 201,
    answer: ids.map((id) => ({ id, name: `exports-s0.x ${id}` }))
  })
  const came = [speakers(1, 2), speakers(3, 4), speakers(5)]
  const MARKER = '# export truncated at 3 rows,'
  const cut = (query: string, at: readonly [number, number], ...rows: readonly (number | string)[]): Written => ({
    call: `GET /speakers/export?${query}`,
    status: 200,
    answer: csv('id,name', ...rows.map((row) => (typeof row === 'number' ? `${row},exports-s0.x ${row}` : row))),
    got: { 'x-export-row-limit': '3' },
    at
  })
  const NAMED = 'filters[name].operator=starts%20with&filters[name].value='
  const newest = 'sortColumn=id&sortDirection=desc'

  const left = { speakers: [1, 2, 6, 8, 9].map((id) => ({ id })) }

  it('accepts exports that are cut, with a batch that the cut has torn', async () => {
    for (const one of [
      cut('', [16, 50], 1, 2, 3, MARKER),
      cut(newest, [30, 50], 5, 4, 3, MARKER),
      cut(newest, [16, 50], 5, 4, 3, MARKER),
      // Row 5 was not there yet, and row 1 is beyond the cut.
      cut(newest, [16, 50], 4, 3, 2, MARKER),
      cut('sortColumn=name', [30, 50], 1, 3, 5, MARKER),
      cut('', [6, 9], 1, 2),
      // Nobody was told of the rows 8 and 9.
      cut(newest, [30, 50], 9, 8, 5, MARKER)
    ]) {
      expect(await violationsOf(new OneMoment(), [...came, one], left)).to.deep.equal([])
    }
    const quoted = {
      ...speakers(1, 2),
      answer: [
        { id: 1, name: 'a line,\r\nand "another"' },
        { id: 2, name: '' }
      ]
    }
    const asText = cut('', [16, 50], '1,"a line,\r\nand ""another"""', '2,""')
    expect(await violationsOf(new OneMoment(), [quoted, asText])).to.deep.equal([])
    const { status: _, answer: __, ...lost } = speakers(6)
    const replay: Written = { ...speakers(6), at: [90, 95] }
    const shown = cut(newest, [50, 60], 6, 5, 4, MARKER)
    expect(
      await violationsOf(new OneMoment(), [...came, { ...lost, at: [40, 45] }, shown, replay], left)
    ).to.deep.equal([])
  })

  const wrong: readonly (readonly [string, Written, RegExp])[] = [
    ['a cut that it does not tell', cut('', [30, 50], 1, 2, 3), /shows the row 3 and not 4/],
    ['a cut at other rows than it says', cut('', [30, 50], 1, 2, MARKER), /2 rows where 3 are the most/],
    ['more rows than the most', cut('', [30, 50], 1, 2, 3, 4, 5), /5 rows where 3 are the most/],
    ['another marker', cut('', [30, 50], 1, 2, 3, '# export truncated at 4 rows,'), /does not end with/],
    ['a marker that is not padded', cut('', [30, 50], 1, 2, 3, '# export truncated at 3 rows'), /does not end with/],
    ['no limit', { ...cut('', [30, 50], 1, 2, 3, MARKER), got: {} }, /has no X-Export-Row-Limit/],
    ['a row before the cut that is left out', cut('', [30, 50], 1, 2, 5, MARKER), /leaves out the row 3/],
    [
      'the oldest rows in place of the newest',
      cut(newest, [30, 50], 3, 2, 1, MARKER),
      /3 and not 4, which came together/
    ],
    ['a stale cut', cut(newest, [30, 50], 4, 3, 2, MARKER), /leaves out the row 5, which was there before/],
    ['rows of two moments before the cut', cut(newest, [6, 50], 5, 2, 1, MARKER), /leaves out the row 3.* before 5/],
    ['a batch that is torn before the cut', cut('', [6, 50], 1, 2, 4, MARKER), /shows the row 4 and not 3/],
    ['another order', cut('', [30, 50], 1, 3, 2, MARKER), /shows 2 after 3, which is not its order/],
    ['another order of names', cut('sortColumn=name', [30, 50], 3, 1, 2, MARKER), /x 1, 1 after exports-s0.x 3, 3/],
    ['a row that is there twice', cut('', [30, 50], 1, 1, 2, MARKER), /shows 1 after 1/],
    ['the name of another row', cut('', [6, 9], 1, '2,exports-s0.x 1'), /the row 2 with another name/],
    ['a line that is torn', cut('', [6, 9], 1, '2'), /a line of 1 cells below 2 columns/],
    ['a row that is not asked for', cut(`${NAMED}exports-s0.`, [6, 9], 1, '2,other'), /2,other, unasked for/]
  ]
  for (const [what, written, expected] of wrong) {
    it(`finds ${what} in an export with a limit`, async () => {
      expect((await violationsOf(new OneMoment(), [...came, written])).join('\n')).to.match(expected)
    })
  }

  it('finds rows that nobody was told of and that are taken back', async () => {
    const shown = cut('', [30, 35], 1, 2, 6)
    const lacking = cut('', [40, 45], 1, 2)
    const both = [speakers(1, 2), shown, lacking]
    expect((await violationsOf(new OneMoment(), both, left)).join()).to.match(
      /leaves out the row 6, which r-2 had shown/
    )
    const overlapping = [speakers(1, 2), shown, { ...lacking, at: [34, 45] as const }]
    expect(await violationsOf(new OneMoment(), overlapping, left)).to.deep.equal([])
    const killed = { fault: 'database killed', from: 36, until: 39 }
    expect(await violationsOf(new OneMoment(), [...both, killed])).to.deep.equal([])
    expect((await violationsOf(new OneMoment(), [speakers(1, 2), shown])).join()).to.match(
      /6, which is not there in the/
    )
  })

  it('finds half a batch', async () => {
    const shown = (...rows: readonly string[]): Written => cut('', [0, 50], ...rows)
    expect(await violationsOf(new OneMoment(), [shown('1,b 1 of 2', '2,b 2 of 2')], left)).to.deep.equal([])
    expect((await violationsOf(new OneMoment(), [shown('1,b 1 of 2')])).join()).to.match(/1 of the 2 rows of b/)
    expect((await violationsOf(new OneMoment(), [speakers(1, 2), shown('1,n')])).join()).to.match(/1 and not 2/)
  })
})
