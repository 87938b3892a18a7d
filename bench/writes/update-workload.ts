import { changedProductBody } from '../product-body.js'
import type { Workload } from '../workload.js'
import { compareWrites, type ComparedWrite } from './compare-writes.js'
import { assertCount, ROWS_COMPARED, WRITE_CONNECTIONS, type WriteBench } from './write-workload.js'
import type { ProductVersion, Written } from './write-ledger.js'

/** Of each connection, where there are enough; so that it is not always the row just written. */
const ROWS_EACH = 8

/** Guarded updates that all succeed: every connection has rows of its own and the tag of its last answer. */
export function updateWorkload(bench: WriteBench): Workload {
  const { products, token, ledger } = bench
  return {
    name: 'update',
    description: 'PUT /products/{id} with the current tag, each connection on rows of its own',
    connections: WRITE_CONNECTIONS,
    compare: (targets) => compareWrites(targets, bench, updatesToCompare),
    async startRound(connections) {
      if (products < connections) throw new Error(`To update over ${connections} connections takes as many products.`)
      const count = connections * Math.min(ROWS_EACH, Math.floor(products / connections))
      const [mark, before] = [await ledger.mark(), await ledger.versions(count)]
      const rows = before.map(({ version, ...row }) => ({ ...row, etag: tagOf(version) }))
      return {
        requests: { kind: 'update', token, rows },
        async check(answers) {
          checkUpdated({ before, after: await ledger.versions(count), written: await ledger.since(mark) }, answers)
        }
      }
    }
  }
}

/** Throws unless the rows' versions went up as often as was answered, each as often as it has audit entries. */
export function checkUpdated(
  found: { before: readonly ProductVersion[]; after: readonly ProductVersion[]; written: Written },
  answers: number
): void {
  const { before, after, written } = found
  assertCount('entries of updates', sumOf(written.entries.map(({ count }) => count)), answers)
  const entries = new Map(written.entries.map(({ rowId, action, count }) => [`${action} ${rowId}`, count]))
  const advances = after.map(({ id, version }, index) => {
    const old = before[index]
    if (old?.id !== id) throw new Error(`Product ${id} came or went`)
    const advance = Number(BigInt.asUintN(64, version.readBigUInt64BE() - old.version.readBigUInt64BE()))
    assertCount(`advances of product ${id}`, advance, entries.get(`update ${id}`) ?? 0)
    return advance
  })
  assertCount('advances of row versions', sumOf(advances), answers)
}

/** In turn with a stale tag, of which no more than the status is compared. */
function updatesToCompare(_target: string, rows: readonly ProductVersion[]): ComparedWrite[] {
  return rows
    .flatMap(({ id, version, sku, categoryId }, number) => {
      const put = {
        path: `/products/${id}`,
        method: 'PUT' as const,
        headers: { 'if-match': tagOf(version) },
        body: changedProductBody({ sku, categoryId, number })
      }
      return [put, put]
    })
    .slice(0, 2 * ROWS_COMPARED)
}

function tagOf(version: Buffer): string {
  return `W/"${version.toString('base64')}"`
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
