import { randomUUID } from 'node:crypto'
import type { ProductVersion, WriteLedger, Written } from '../database/write-ledger.js'
import type { GuardedWrites, LoadResult, Reads } from '../load/load.js'
import { changedProductBody, newProductBody } from '../load/product-body.js'
import { compareWrites, type ComparedWrite, ROWS_COMPARED } from './compare-writes.js'
import type { Answering, Workload } from './workload.js'

/** What the workloads that write work with. */
export interface WriteBench {
  /** Ids of the table go from 1 to this. */
  readonly products: number
  readonly categories: readonly number[]
  /** Of a clerk. */
  readonly token: string
  readonly ledger: WriteLedger
}

/** The writes of products, by a clerk, and the mix of them with `reads`, which customers send. */
export function writeWorkloads(bench: WriteBench, reads: (target: Answering) => Promise<Reads>): Workload[] {
  return [createWorkload(bench), updateWorkload(bench), actionWorkload(bench), mixWorkload(bench, reads)]
}

/** Creates that no two requests share anything of. */
function createWorkload(bench: WriteBench): Workload {
  const { categories, token, ledger } = bench
  return {
    name: 'create',
    description: 'POST /products, each with an Idempotency-Key of its own',
    connections: [32, 128],
    compare: (targets) => compareWrites(targets, bench, createsToCompare(bench)),
    async startRound() {
      const mark = await ledger.mark()
      return {
        requests: { kind: 'create', token, round: randomUUID(), categories },
        check: async ({ writes }) => checkCreated(await ledger.since(mark), writes)
      }
    }
  }
}

/** Guarded updates that all succeed: every connection has rows of its own and the tag of its last answer. */
function updateWorkload(bench: WriteBench): Workload {
  return {
    name: 'update',
    description: 'PUT /products/{id} with the current tag in If-Match, each connection on rows of its own',
    connections: [32, 128],
    compare: (targets) => compareWrites(targets, bench, updatesToCompare),
    async startRound(_target, connections) {
      const { requests, check } = await guardedWrites(bench, 'update', connections)
      return { requests, check }
    }
  }
}

function actionWorkload(bench: WriteBench): Workload {
  return {
    name: 'action',
    description: 'PUT /products/{id}/change-category with the current tag in If-Match, likewise',
    connections: [32],
    compare: (targets) => compareWrites(targets, bench, actionsToCompare(bench)),
    async startRound(_target, connections) {
      const { requests, check } = await guardedWrites(bench, 'action', connections)
      return { requests, check }
    }
  }
}

/** Its requests are compared by the workloads that they come from. */
function mixWorkload(bench: WriteBench, reads: (target: Answering) => Promise<Reads>): Workload {
  return {
    name: 'mix',
    description: 'of ten requests seven by-id, one page, one lookup and one update',
    connections: [32, 128],
    compare: () => Promise.resolve(0),
    async startRound(target, connections) {
      const { requests: writes, check } = await guardedWrites(bench, 'update', connections)
      return { requests: { kind: 'mix', reads: await reads(target), writes }, check }
    }
  }
}

/** Of each connection, where there are enough; so that it is not always the row just written. */
const ROWS_EACH = 8

/** The names that audit entries have of them. */
const AUDITED = { update: 'update', action: 'change-category' } as const

async function guardedWrites(
  { products, token, ledger, categories }: WriteBench,
  kind: GuardedWrites['kind'],
  connections: number
): Promise<{ requests: GuardedWrites; check: (result: LoadResult) => Promise<void> }> {
  if (products < connections) throw new Error(`To update over ${connections} connections takes as many products.`)
  const count = connections * Math.min(ROWS_EACH, Math.floor(products / connections))
  const [mark, before] = [await ledger.mark(), await ledger.versions(count)]
  const rows = before.map(({ version, ...row }) => ({ ...row, etag: tagOf(version) }))
  return {
    requests: { kind, token, rows, categories },
    async check({ writes }) {
      const [after, written] = [await ledger.versions(count), await ledger.since(mark)]
      checkChanged({ before, after, written, action: AUDITED[kind] }, writes)
    }
  }
}

/** Throws unless there are as many products, answered keys and rows with one audit entry each. */
export function checkCreated({ products, keys, entries }: Written, answers: number): void {
  assertCount('products', products, answers)
  assertCount('keys with an answer', keys, answers)
  const once = entries.filter(({ action, count }) => action === 'create' && count === 1)
  assertCount('products with one audit entry', once.length, answers)
  assertCount('rows with audit entries', entries.length, answers)
}

/** Throws unless the rows' versions went up as often as was answered, each as often as it has audit entries. */
export function checkChanged(
  found: {
    before: readonly ProductVersion[]
    after: readonly ProductVersion[]
    written: Written
    /** Of the audit entries. */
    action: string
  },
  answers: number
): void {
  const { before, after, written, action } = found
  assertCount('entries of writes', sumOf(written.entries.map(({ count }) => count)), answers)
  const entries = new Map(written.entries.map((entry) => [`${entry.action} ${entry.rowId}`, entry.count]))
  const advances = after.map(({ id, version }, index) => {
    const old = before[index]
    if (old?.id !== id) throw new Error(`Product ${id} came or went`)
    const advance = Number(BigInt.asUintN(64, version.readBigUInt64BE() - old.version.readBigUInt64BE()))
    assertCount(`advances of product ${id}`, advance, entries.get(`${action} ${id}`) ?? 0)
    return advance
  })
  assertCount('advances of row versions', sumOf(advances), answers)
}

function assertCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${expected} acknowledged writes, but ${found} ${what}`)
}

/** Every key comes twice, so that replays are compared too. */
function createsToCompare({ categories }: WriteBench): (target: string) => ComparedWrite[] {
  return (target) =>
    Array.from({ length: ROWS_COMPARED }, (_, number) => {
      const categoryId = categories[number % categories.length] ?? 0
      return {
        path: '/products',
        method: 'POST' as const,
        headers: { 'idempotency-key': `compare-${target}-${number}` },
        body: newProductBody({ sku: `compare-${number}`, categoryId, number })
      }
    }).flatMap((write) => [write, write])
}

/** In turn with a stale tag, of which no more than the status is compared. */
function updatesToCompare(_target: string, rows: readonly ProductVersion[]): ComparedWrite[] {
  return twice(rows, ({ id, sku, categoryId }, number) => ({
    path: `/products/${id}`,
    body: changedProductBody({ sku, categoryId, number })
  }))
}

function actionsToCompare({
  categories
}: WriteBench): (target: string, rows: readonly ProductVersion[]) => ComparedWrite[] {
  return (_target, rows) =>
    twice(rows, ({ id }, number) => ({
      path: `/products/${id}/change-category`,
      body: JSON.stringify({ categoryId: categories[number % categories.length] ?? 0 })
    }))
}

function twice(
  rows: readonly ProductVersion[],
  write: (row: ProductVersion, number: number) => Pick<ComparedWrite, 'path' | 'body'>
): ComparedWrite[] {
  return rows
    .flatMap((row, number) => {
      const guarded = { ...write(row, number), method: 'PUT' as const, headers: { 'if-match': tagOf(row.version) } }
      return [guarded, guarded]
    })
    .slice(0, 2 * ROWS_COMPARED)
}

function tagOf(version: Buffer): string {
  return `W/"${version.toString('base64')}"`
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
