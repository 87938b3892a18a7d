import { expect } from 'chai'
import fc from 'fast-check'
import { agree, agreeWithCursors, spelled } from '../api/agree-with-oracle.js'
import { ids, json, type Answer } from '../api/http-call.js'
import { anyQuery } from '../api/random-query.js'
import { DATABASE_KINDS } from '../stack/databases.js'
import { parseCondition } from '../oracle/condition.js'
import { isSoak } from '../harness/in-soak.js'
import { insertRows, type NewRow } from '../harness/insert-rows.js'
import { loadRows, type OracleRow } from '../oracle/load-rows.js'
import { answer as oracle, type OracleQuery } from '../oracle/read-oracle.js'
import type { OracleProperty, OracleResource } from '../oracle/resource.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { LibraryStore } from './describe-library.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
/** Each query is asked of both databases, and its rows in some ten requests. */
const RUNS = isSoak ? { documents: 80, loans: 60 } : { documents: 12, loans: 8 }
const COUNT = 200

/** A caller, and the rows that are this caller's: what documents.ts says, worked out by hand for these claims. */
interface Reader {
  readonly name: string
  readonly claims: Readonly<Record<string, unknown>>
  readonly document: (row: OracleRow) => boolean
  readonly loan: (row: OracleRow) => boolean
}

const isOpen = (row: OracleRow): boolean => row['isOpen'] === true
const isOf = (branches: readonly number[], row: OracleRow): boolean => branches.includes(Number(row['branchId']))
const isGradedTo = (grade: number, row: OracleRow): boolean => Number(row['grade']) <= grade
const isBy = (author: string, row: OracleRow): boolean => row['author'] === author
const isOwnedBy = (member: number, row: OracleRow): boolean => row['memberId'] === member

const READERS: readonly Reader[] = [
  { name: 'a member', claims: { sub: 'x', member_id: 1 }, document: isOpen, loan: (row) => isOwnedBy(1, row) },
  {
    name: 'staff of a branch',
    claims: { sub: 'x', permissions: ['loans:read'], branches: [2], grade: 3 },
    document: (row) => isOpen(row) || (isOf([2], row) && isGradedTo(3, row)),
    loan: (row) => isOf([2], row)
  },
  {
    name: 'an author who is a member and staff',
    claims: { sub: 'aNN', permissions: ['loans:read'], branches: [1, 2, 9], grade: 1, member_id: 2 },
    document: (row) => isOpen(row) || (isOf([1, 2], row) && isGradedTo(1, row)) || isBy('aNN', row),
    loan: (row) => isOwnedBy(2, row) || isOf([1, 2], row)
  },
  {
    name: 'a member of branches without a grade and without the permission',
    claims: { sub: 'ben', branches: [1, 3], grade: '9', member_id: 3 },
    document: (row) => isOpen(row) || (isOf([1, 3], row) && isGradedTo(0, row)) || isBy('ben', row),
    loan: (row) => isOwnedBy(3, row)
  },
  { name: 'the bypass role', claims: { sub: 'x', role: 'Admin' }, document: () => true, loan: () => true },
  {
    name: 'the bypass role without clearance',
    claims: { sub: 'Ann', role: 'Admin', clearance: 'none' },
    document: () => false,
    loan: () => true
  }
]

function property(name: string, type: OracleProperty['type'], sql: string, nullable = false): OracleProperty {
  return { name, type, sql: `t.${sql}`, nullable, scale: 0, selectable: true }
}

const title = property('title', 'string', 'title')

const documents: OracleResource = {
  name: 'documents',
  from: 'documents t',
  searchable: ['title', 'author'],
  properties: [
    property('id', 'int', 'id'),
    title,
    property('branchId', 'int', 'branch_id'),
    property('isOpen', 'bool', 'is_open'),
    property('grade', 'int', 'grade'),
    property('author', 'string', 'author', true),
    property('addedAt', 'dateTime', 'added_at')
  ]
}

const loans: OracleResource = {
  name: 'loans',
  from: 'loans t',
  searchable: [],
  properties: [
    property('id', 'int', 'id'),
    property('memberId', 'int', 'member_id'),
    property('documentId', 'int', 'document_id'),
    property('branchId', 'int', 'branch_id')
  ]
}

const text = (maxLength: number) => fc.string({ unit: fc.constantFrom(...'aAbB %_'), minLength: 1, maxLength })

const randomDocuments = fc.array(
  fc.record({
    title: text(6),
    branchId: fc.constantFrom(1, 2, 3, 4),
    isOpen: fc.constantFrom(true, false, false, false),
    grade: fc.integer({ min: 0, max: 5 }),
    author: fc.oneof(fc.constantFrom(null, '', 'Ann', 'aNN', 'ben', 'Ann Other'), text(4)),
    addedAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-02-01T12:00:00.000Z')
  }),
  { minLength: COUNT, maxLength: COUNT }
)

const randomLoans = fc.array(
  fc.record({
    memberId: fc.constantFrom(1, 2, 3, 4),
    documentId: fc.integer({ min: 1, max: COUNT }),
    branchId: fc.constantFrom(1, 2, 3, 4)
  }),
  { minLength: COUNT, maxLength: COUNT }
)

function sample(of: fc.Arbitrary<NewRow[]>): readonly NewRow[] {
  const [rows = []] = fc.sample(of, { seed, numRuns: 1 })
  return rows.map((row, n) => ({ ...row, id: n + 1 }))
}

function tableOf({ name, properties }: OracleResource) {
  return { name, columns: Object.fromEntries(properties.map((one) => [one.name, { type: one.type }])) }
}

/** contract.md section 6: the rows of a caller are all that any read, total or include shows. */
describe(`random queries over row scopes by a predicate, seed ${seed}`, () => {
  const stores = new Map(DATABASE_KINDS.map((kind) => [kind, new LibraryStore()]))
  const [everyDocument, everyLoan] = [sample(randomDocuments), sample(randomLoans)]
  const loaded = new Map<LibraryStore, { documents: readonly OracleRow[]; loans: readonly OracleRow[] }>()
  const reader = fc.constantFrom(...READERS)

  before(async () => {
    for (const [kind, store] of stores) {
      await store.start(kind)
      await withTestDatabase(store.databaseUrl, async (database) => {
        await insertRows(database, tableOf(documents), everyDocument)
        await insertRows(database, tableOf(loans), everyLoan)
      })
      loaded.set(store, {
        documents: await loadRows(store.databaseUrl, documents),
        loans: await loadRows(store.databaseUrl, loans)
      })
    }
  })
  after(async () => {
    for (const store of stores.values()) await store.stop()
  })

  it('has readers of whom no two see the same rows', () => {
    for (const { documents: rows } of loaded.values()) {
      const seen = READERS.map(({ document }) =>
        rows
          .filter(document)
          .map((row) => row['id'])
          .join()
      )
      expect(new Set(seen).size).to.equal(READERS.length)
    }
  })

  it('agree with the oracle on every read of every caller', async () => {
    const id = fc.integer({ min: 1, max: COUNT + 3 })
    await fc.assert(
      fc.asyncProperty(reader, anyQuery(documents, everyDocument), id, async (who, query, one) => {
        const texts: string[] = []
        for (const store of stores.values()) {
          const rows = loaded.get(store)?.documents.filter(who.document) ?? []
          const read = (target: string): Promise<Answer> => store.as(who.claims, `/documents${target}`)
          const answer = await read(`/paged?${spelled(query)}`)
          agree(answer, { resource: documents, rows, query })
          texts.push(answer.status === 200 ? answer.text : '')
          const { status } = await read(`/${one}`)
          expect(status, `document ${one} of ${who.name}`).to.equal(rows.some((row) => row['id'] === one) ? 200 : 404)
          if (answer.status !== 200) continue
          await agreeWithCursors((other) => read(`/paged?${other}`), query)
          await agreeOnAllRows(read, { rows, query, of: who.name })
        }
        expect(new Set(texts).size, spelled(query)).to.equal(1)
      }),
      { seed, numRuns: RUNS.documents }
    )
  })

  it('combined with owners and permissions agree with the oracle, and so do the rows that they refer to', async () => {
    await fc.assert(
      fc.asyncProperty(reader, anyQuery(loans, everyLoan), async (who, query) => {
        for (const store of stores.values()) {
          const rows = loaded.get(store)?.loans.filter(who.loan) ?? []
          const read = (other: string): Promise<Answer> => store.as(who.claims, `/loans/paged?${other}`)
          const answer = await read(`${spelled(query)}&includeFKs=true`)
          agree(answer, { resource: loans, rows, query })
          if (answer.status !== 200) continue
          await agreeWithCursors(read, query)
          const readable = loaded.get(store)?.documents.filter(who.document) ?? []
          for (const { documentId, document } of json(answer) as Record<string, unknown>[]) {
            const { rowVersion: _version, ...shown } = (document ?? {}) as Record<string, unknown>
            const expected = readable.find((row) => row['id'] === documentId)
            expect(shown, `document ${String(documentId)} of ${who.name}`).to.deep.equal(expected ?? {})
          }
        }
      }),
      { seed, numRuns: RUNS.loans }
    )
  })
})

/** The reads that answer all rows: the export in the order of the pages, the list and the lookup with their search. */
async function agreeOnAllRows(
  read: (target: string) => Promise<Answer>,
  { rows, query, of }: { readonly rows: readonly OracleRow[]; readonly query: OracleQuery; readonly of: string }
): Promise<void> {
  const { pageNumber: _number, pageSize: _size, ...unpaged } = query
  const kept = allOf(rows, query)
  const csv = await read(`/export?bom=false&fields=id&${spelled(unpaged)}`)
  const exported = csv.text.split('\r\n').slice(1, -1).map(Number)
  const paged = await read(`/paged?${spelled({ ...unpaged, pageSize: 500 })}`)
  expect(exported, `export of ${of}`).to.deep.equal(ids(paged))
  expect(new Set(exported), `export of ${of}`).to.deep.equal(new Set(kept))
  const searched = query.search === undefined ? '' : `?search=${encodeURIComponent(query.search)}`
  const listed = allOf(rows, { filters: [], search: query.search })
  expect(ids(await read(searched)), `list of ${of}`).to.deep.equal(listed)
  const fragment = query.search?.trim().split(/\s+/)[0] ?? ''
  const test = parseCondition(title, 'contains', fragment)
  const named = rows.filter((row) => fragment === '' || ('code' in test ? false : test(row['title'] ?? null)))
  const lookup = await read(`/lookup${fragment === '' ? '' : `?search=${encodeURIComponent(fragment)}`}`)
  const { items } = json(lookup) as { items: { id: number }[] }
  const looked = items.map(({ id }) => id)
  expect(looked, `lookup of ${of}`).to.have.members(named.map((row) => row['id']))
}

/** The ids of the rows on all pages. */
function allOf(rows: readonly OracleRow[], query: OracleQuery): unknown[] {
  const found = oracle(documents, rows, { ...query, pageNumber: 1, pageSize: COUNT })
  if (found.rejected !== null) throw new Error(`rejected: ${found.rejected.join()}`)
  return found.items.map((row) => row['id'])
}
