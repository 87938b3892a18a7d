import { expect } from 'chai'
import { filter, ids, json } from '../api/http-call.js'
import { StatementLog } from '../api/statement-log.js'
import { describeLibrary, type LibraryStore } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>

/** Callers and, written by hand, the documents that they may see. */
const READERS: readonly (readonly [name: string, claims: Claims, where: string])[] = [
  ['without claims of its own', { sub: 'x' }, 'is_open = 1'],
  ['of one branch', { sub: 'x', branches: [2], grade: 3 }, 'is_open = 1 OR (branch_id = 2 AND grade <= 3)'],
  [
    'of three branches',
    { sub: 'x', branches: [1, 2, 9], grade: 1 },
    'is_open = 1 OR (branch_id IN (1, 2) AND grade <= 1)'
  ],
  ['whose branches are no list', { sub: 'x', branches: '2', grade: 9 }, 'is_open = 1'],
  ['whose grade is beyond an int', { sub: 'x', branches: [2], grade: 1e15 }, 'is_open = 1 OR branch_id = 2'],
  ['whose grade is no whole number', { sub: 'x', branches: [2], grade: 2.5 }, 'is_open = 1'],
  ['whose grade has lost digits', { sub: 'x', branches: [2], grade: 2 ** 60 }, 'is_open = 1'],
  ['of half a branch', { sub: 'x', branches: [2, 2.5], grade: 3 }, 'is_open = 1 OR (branch_id = 2 AND grade <= 3)'],
  ['who is an author', { sub: 'Ann' }, "is_open = 1 OR author = 'Ann'"],
  ['of the bypass role', { sub: 'x', role: 'admin' }, '1 = 1'],
  ['who sees nothing', { sub: 'x', clearance: 'none', role: 'Admin' }, '1 = 0']
]

const STAFF = { permissions: ['loans:read'], sub: 'x' }
const LENDERS: readonly (readonly [name: string, claims: Claims, where: string])[] = [
  ['an owner', { member_id: 1, sub: 'x' }, 'member_id = 1'],
  ['staff of a branch', { ...STAFF, branches: [2] }, 'branch_id = 2'],
  ['an owner who is staff', { ...STAFF, branches: [2], member_id: 1 }, 'member_id = 1 OR branch_id = 2'],
  ['staff without branches', STAFF, '1 = 0'],
  ['an owner of branches without the permission', { member_id: 2, branches: [1], sub: 'x' }, 'member_id = 2'],
  ['the bypass role', { role: 'Admin', sub: 'x' }, '1 = 1']
]

async function fillLibrary({ sql }: LibraryStore): Promise<void> {
  const insert = (table: string, columns: string, rows: readonly (readonly (string | number | null)[])[]) =>
    Promise.all(
      rows.map((row) =>
        sql.run(`INSERT INTO ${table} (${columns}, row_version) VALUES (${row.map(() => '?').join(', ')}, ?)`, [
          ...row,
          Buffer.alloc(8, 1)
        ])
      )
    )
  const at = sql.kind === 'sqlite' ? '2026-01-01T00:00:00.000Z' : '2026-01-01 00:00:00.000'
  const authors = [null, 'Ann', 'ben', 'Ann Other', '']
  await insert(
    'documents',
    'id, title, branch_id, is_open, grade, author, added_at',
    Array.from({ length: 40 }, (_, n) => [
      n + 1,
      `T${n % 7}`,
      (n % 4) + 1,
      n % 5 === 0 ? 1 : 0,
      n % 6,
      authors[n % authors.length] ?? null,
      at
    ])
  )
  await insert(
    'loans',
    'id, member_id, document_id, branch_id',
    Array.from({ length: 30 }, (_, n) => [n + 1, (n % 3) + 1, n + 1, (n % 4) + 1])
  )
  await insert('notices', 'id, text, status, place', [
    [1, 'a', 'out', null],
    [2, 'b', 'draft', 'Hall'],
    [3, 'c', 'urgent', 'Attic'],
    [4, 'd', 'draft', 'Attic'],
    [5, 'e', 'draft', null]
  ])
}

/** contract.md section 6, read scope. */
describeLibrary('a read scope by a predicate', (store, kind) => {
  before(() => fillLibrary(store))

  const idsWhere = async (table: string, where: string): Promise<number[]> =>
    (await store.sql.run(`SELECT id FROM ${table} WHERE ${where} ORDER BY id`)).map(({ id }) => Number(id))

  for (const [name, claims, where] of READERS) {
    it(`shows a caller ${name} its rows on every route`, async () => {
      const expected = await idsWhere('documents', where)
      expect(ids(await store.as(claims, '/documents')), 'list').to.deep.equal(expected)
      const paged = await store.as(claims, `/documents/paged?pageSize=500&${filter('grade', 'gte', '2')}`)
      const graded = await idsWhere('documents', `(${where}) AND grade >= 2`)
      expect(ids(paged), 'paged').to.deep.equal(graded)
      expect(paged.headers['x-total-count'], 'count').to.equal(String(graded.length))
      const small = await store.as(claims, '/documents/paged?pageSize=1&sortColumn=title')
      expect(small.headers['x-total-count'], 'count of small pages').to.equal(String(expected.length))
      const csv = await store.as(claims, '/documents/export?bom=false&fields=id&sortColumn=grade&sortDirection=desc')
      const exported = csv.text.split('\r\n').slice(1, -1).map(Number)
      expect(
        exported.toSorted((a, b) => a - b),
        'export'
      ).to.deep.equal(expected)
      const { items } = json(await store.as(claims, '/documents/lookup')) as { items: { id: number }[] }
      expect(
        items.map(({ id }) => id).toSorted((a, b) => a - b),
        'lookup'
      ).to.deep.equal(expected)
      const titles = json(await store.as(claims, '/documents/titles')) as string[]
      expect(titles, 'a custom read').to.have.length(expected.length)
      for (const id of [1, 2, 3, 6, 7, 12]) {
        const { status } = await store.as(claims, `/documents/${id}`)
        expect(status, `document ${id}`).to.equal(expected.includes(id) ? 200 : 404)
      }
    })

    it(`includes for a caller ${name} the documents that it could read by id`, async () => {
      const seen = new Set(await idsWhere('documents', where))
      const lender = { ...claims, member_id: 1 }
      const answer = json(await store.as(lender, '/loans?includeFKs=true')) as {
        documentId: number
        document: { id: number } | null
      }[]
      expect(answer).to.not.be.empty
      for (const { documentId, document } of answer) {
        expect(document?.id ?? null, String(documentId)).to.equal(seen.has(documentId) ? documentId : null)
      }
    })
  }

  it('answers a row outside of it as one that does not exist', async () => {
    const [hidden, absent] = [
      await store.as({ sub: 'x' }, '/documents/2'),
      await store.as({ sub: 'x' }, '/documents/9999')
    ]
    const body = (text: string): object => {
      const { instance: _path, requestId: _id, ...rest } = JSON.parse(text) as Record<string, unknown>
      return rest
    }
    expect(hidden.status).to.equal(404)
    expect(body(hidden.text)).to.deep.equal(body(absent.text))
  })

  it('needs a token unless it says that it does not', async () => {
    for (const path of ['', '/paged', '/export', '/lookup', '/1', '/titles']) {
      expect((await store.as(undefined, `/documents${path}`)).status, path).to.equal(401)
    }
    expect(ids(await store.as(undefined, '/notices'))).to.deep.equal([1, 3])
    expect(ids(await store.as({ sub: 'x' }, '/notices'))).to.deep.equal([1, 3])
    expect(ids(await store.as({ sub: 'x', place: 'Attic' }, '/notices'))).to.deep.equal([1, 3, 4])
    expect((await store.as(undefined, '/notices/2')).status).to.equal(404)
    expect((await store.as({ sub: 'x', place: 'Hall' }, '/notices/2')).status).to.equal(200)
    expect((await store.as({ sub: 'x', place: 'hall' }, '/notices/2')).status).to.equal(404)
    const { paths } = json(await store.as({ sub: 'x' }, '/openapi.json')) as {
      paths: Record<string, { get: { security: object[] } }>
    }
    expect(paths['/notices']?.get.security).to.deep.include({})
    expect(paths['/documents']?.get.security).to.not.deep.include({})
  })

  for (const [name, claims, where] of LENDERS) {
    it(`combined with others by AND and OR shows ${name} its rows`, async () => {
      const expected = await idsWhere('loans', where)
      expect(ids(await store.as(claims, '/loans'))).to.deep.equal(expected)
      const paged = await store.as(claims, '/loans/paged?pageSize=2')
      expect(paged.headers['x-total-count']).to.equal(String(expected.length))
      const csv = await store.as(claims, '/loans/export?bom=false&fields=id')
      expect(csv.text.split('\r\n').slice(1, -1).map(Number)).to.deep.equal(expected)
    })
  }

  it('is narrowed by the owner filter', async () => {
    const both = { ...STAFF, branches: [2], member_id: 1 }
    const lookup = async (claims: Claims, query: string): Promise<number[]> => {
      const { items } = json(await store.as(claims, `/loans/lookup${query}`)) as { items: { id: number }[] }
      return items.map(({ id }) => id).toSorted((a, b) => a - b)
    }
    expect(await lookup(both, '')).to.deep.equal(await idsWhere('loans', 'member_id = 1 OR branch_id = 2'))
    expect(await lookup(both, '?memberId=1')).to.deep.equal(await idsWhere('loans', 'member_id = 1'))
    expect((await store.as(both, '/loans/lookup?memberId=2')).status).to.equal(403)
    const boss = { role: 'Admin', sub: 'x' }
    expect(await lookup(boss, '?memberId=2')).to.deep.equal(await idsWhere('loans', 'member_id = 2'))
  })

  it('tells who has none of its parts why: 401, then the permission, then the owner', async () => {
    const code = async (claims: Claims | undefined): Promise<string> =>
      (json(await store.as(claims, '/loans')) as { code: string }).code
    expect(await code(undefined)).to.equal('auth.required')
    expect(await code({ sub: 'x', branches: [2] })).to.equal('capability.denied')
  })

  it('that throws is a 500 without a row', async () => {
    for (const path of ['/documents', '/documents/1', '/documents/export', '/documents/lookup']) {
      const answer = await store.as({ sub: 'x', clearance: 'broken' }, path)
      expect([answer.status, (json(answer) as { code: string }).code], path).to.deep.equal([500, 'internal'])
      expect(answer.text).to.not.include('predicate')
    }
  })

  it('is a part of what may be written: a row that answers 404 to a read does so to a write', async () => {
    const [librarian, admin] = [
      { role: 'Librarian', sub: 'x' },
      { role: 'Admin', sub: 'x' }
    ]
    const body = JSON.stringify({ title: 'New', branchId: 3, isOpen: false, grade: 9 })
    const headers = { 'content-type': 'application/json' }
    const made = await store.as(admin, '/documents', { method: 'POST', headers, body })
    expect(made.status).to.equal(201)
    const { id } = json(made) as { id: number }
    expect((await store.as(librarian, `/documents/${id}`)).status).to.equal(404)
    const tag = made.headers.etag ?? ''
    const put = await store.as(librarian, `/documents/${id}`, {
      method: 'PUT',
      headers: { ...headers, 'if-match': tag },
      body
    })
    expect(put.status).to.equal(404)
    expect((await store.as(librarian, `/documents/${id}`, { method: 'DELETE' })).status).to.equal(404)
    const kept = await store.as(admin, `/documents/${id}`)
    expect([kept.status, kept.headers.etag]).to.deep.equal([200, tag])
    expect((await store.as(admin, `/documents/${id}`, { method: 'DELETE' })).status).to.equal(204)
  })

  if (kind !== 'sqlite') {
    it('has one statement text for all claims of one shape', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      try {
        const lines = await log.during(async () => {
          for (let n = 0; n < 40; n++) {
            const claims = { sub: `reader${n}x`, branches: [n, n + 1, n + 2].slice(n % 2), grade: n }
            expect((await store.as(claims, '/documents?fields=id')).status).to.equal(200)
          }
        })
        const texts = new Set(lines.filter(({ command }) => command === 'Prepare').map(({ text }) => text))
        // Lists of two branches, and of three and four.
        expect([...texts]).to.have.length(2)
        const told = lines.filter(({ command, text }) => command === 'Query' && /reader\d+x/.test(text))
        expect(told).to.deep.equal([])
      } finally {
        await log.close()
      }
    })
  }
})
