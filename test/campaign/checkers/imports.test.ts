import { expect } from 'chai'
import { ImportedOnce } from '../../../campaign/checkers/writes/imports.js'
import type { Exchange } from '../../../campaign/history.js'
import { entry, exchangeOf, type Written } from './written-history.js'

type Row = Readonly<Record<string, unknown>>

const key = (name: string) => ({ 'idempotency-key': name })

/** An import of a file of NDJSON, whose text `body` is. */
const sent = (more: Partial<Written> = {}): Written => ({
  workload: 'imports',
  call: 'POST /suppliers/import?onError=skip',
  headers: key('k-1'),
  ...more
})
const answered = { rows: 3, created: 2, failed: 1, replayed: 0 }
const FILE = ['a 1', 'a 2', 'a 3'].map((name, n) => ({ name: `imports-${name}`, country: n === 2 ? '' : 'SE' }))
const done = sent({ status: 200, answer: answered })
const change: Written = {
  workload: 'imports',
  call: 'PATCH /suppliers/batch',
  body: [1, 2].map((id) => ({ id, rowVersion: `v-${id}`, country: 'C' })),
  status: 200,
  answer: []
}
const remove: Written = {
  ...change,
  call: 'POST /suppliers/batch/delete',
  body: [{ id: 2, rowVersion: 'w-2' }],
  status: 204
}
/** The requests r-1 to r-5. */
const story: readonly Written[] = [
  sent(),
  done,
  sent({ status: 200, answer: { ...answered, created: 0, replayed: 2 } }),
  change,
  remove
]
const trail: readonly Row[] = [
  entry('suppliers/1', 'create', 'r-1'),
  entry('suppliers/2', 'create', 'r-1'),
  entry('suppliers/1', 'update', 'r-4'),
  entry('suppliers/2', 'update', 'r-4'),
  entry('suppliers/2', 'delete', 'r-5')
]
const left: readonly Row[] = [{ id: 1, name: 'imports-a 1', country: 'C' }]

/** The violations in a history. An exchange whose import has no body sends FILE. */
async function found(history: readonly Written[], entries: readonly Row[], table: readonly Row[]): Promise<string> {
  const checker = new ImportedOnce()
  for (const [n, one] of history.entries()) {
    const exchange = exchangeOf(one, n)
    const isImport = one.call.includes('/import')
    const body = FILE.map((row) => JSON.stringify(row)).join('\n')
    const whole: Exchange = isImport ? { ...exchange, request: { ...exchange.request, body } } : exchange
    checker.see(whole)
  }
  const { violations } = await checker.judge((sql) =>
    Promise.resolve(sql.includes('FROM ur_audit_entries') ? entries : table)
  )
  return violations.map(({ what }) => what).join('\n')
}

describe('checker of imports', () => {
  it('finds nothing where a file was broken off and sent again, and its rows changed and deleted in batches', async () => {
    expect(await found(story, trail, left)).to.equal('')
    const csv = sent({ headers: { ...key('k-1'), 'content-type': 'text/csv' } })
    expect(await found([csv], [], [])).to.equal('')
    expect(await found([sent()], trail.slice(0, 1), [{ id: 1, name: 'imports-a 1', country: 'SE' }])).to.equal('')
  })

  it('finds nothing where the last cell of a CSV file is empty', async () => {
    const { request, ...exchange } = exchangeOf(sent({ status: 200, answer: { ...answered, rows: 2, created: 1 } }), 0)
    const headers = { ...request.headers, 'content-type': 'text/csv' }
    const checker = new ImportedOnce()
    checker.see({
      ...exchange,
      request: { ...request, headers, body: 'name,country\r\n"imports-a 1",SE\r\n"imports-a 2",' }
    })
    const { violations } = await checker.judge((sql) =>
      Promise.resolve(sql.includes('FROM ur_audit_entries') ? trail.slice(0, 1) : [{ ...left[0], country: 'SE' }])
    )
    expect(violations).to.deep.equal([])
  })

  const twice = { id: 7, name: 'imports-a 1', country: 'SE' }
  const stopping = sent({ call: 'POST /suppliers/import?onError=stop' })
  const half = [{ id: 1, name: 'imports-a 1', country: 'SE' }]
  const bad: readonly (readonly [
    what: string,
    history: readonly Written[],
    entries: readonly Row[],
    table: readonly Row[],
    says: RegExp
  ])[] = [
    [
      'a row that was created twice',
      story,
      [...trail, entry('suppliers/7', 'create', 'r-2')],
      [...left, twice],
      /exists more than once/
    ],
    [
      'it also where the second one was deleted',
      story,
      [...trail, entry('suppliers/7', 'create', 'r-2')],
      left,
      /has 2 rows that can be created, and the audit trail has 3/
    ],
    [
      'a row of an acknowledged file that is missing',
      [done],
      trail.slice(0, 1),
      half,
      /has 1 of it; r-1 was acknowledged/
    ],
    [
      'a row that must have failed',
      [done],
      [...trail.slice(0, 2), entry('suppliers/3', 'create', 'r-1')],
      [{ id: 3, name: 'imports-a 3', country: '' }],
      /a 3 must have failed/
    ],
    [
      'a row that nobody has sent',
      [done],
      trail,
      [{ id: 9, name: 'imports-b', country: 'SE' }],
      /Nobody asked for imports-b/
    ],
    [
      'a part of a file that takes all or none',
      [stopping],
      trail.slice(0, 1),
      half,
      /1 of 2 rows of r-1 are there, which takes all or none/
    ],
    [
      'rows of a file that was rejected',
      [sent({ status: 409, answer: {} })],
      trail.slice(0, 1),
      half,
      /r-1 was rejected, and has created 1 rows/
    ],
    [
      'counts that are not those of the file',
      [sent({ status: 200, answer: { ...answered, created: 3 } })],
      trail,
      left,
      /told of 3 rows, 3 created/
    ],
    [
      'a batch that was done in part',
      story,
      trail.filter((_, n) => n !== 3),
      left,
      /r-4 is a batch of 2 rows, of which 1 were written/
    ],
    [
      'a batch that was rejected and done',
      [...story.slice(0, 3), { ...change, status: 412 }],
      trail.slice(0, 4),
      left,
      /r-4 was rejected, and has written 2 rows/
    ],
    [
      'a batch that was acknowledged and not done',
      story.slice(0, 4),
      trail.slice(0, 2),
      left,
      /r-4 was acknowledged, and has written nothing/
    ],
    [
      'a batch that was done twice',
      story.slice(0, 4),
      [...trail.slice(0, 4), entry('suppliers/1', 'update', 'r-4')],
      left,
      /which it cannot have, or has twice/
    ],
    [
      'two batches on one version',
      [...story.slice(0, 4), change],
      [...trail.slice(0, 4), entry('suppliers/1', 'update', 'r-5'), entry('suppliers/2', 'update', 'r-5')],
      left,
      /r-4 and r-5 have both written suppliers\/1 on one version/
    ],
    [
      'a change that is lost',
      story,
      trail,
      [{ ...left[0], country: 'SE' }],
      /ends with SE; the last change that was done says C/
    ],
    [
      'a row that was deleted and is there',
      story,
      trail,
      [...left, { id: 2, name: 'imports-a 2', country: 'C' }],
      /was deleted, and is there/
    ],
    ['a row that is gone', story, trail, [], /suppliers\/1 was imported and is gone/],
    ['a row without an entry', [sent()], [], half, /has no audit entry of a create/],
    [
      'an entry of a request that was never sent',
      story,
      [...trail, entry('suppliers/8', 'create', 'r-77')],
      left,
      /r-77, which has not asked for it/
    ]
  ]
  for (const [what, history, entries, table, says] of bad) {
    it(`finds ${what}`, async () => {
      expect(await found(history, entries, table)).to.match(says)
    })
  }
})
