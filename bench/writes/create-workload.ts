import { randomUUID } from 'node:crypto'
import { newProductBody } from '../product-body.js'
import type { Workload } from '../workload.js'
import { compareWrites, type ComparedWrite } from './compare-writes.js'
import { assertCount, ROWS_COMPARED, WRITE_CONNECTIONS, type WriteBench } from './write-workload.js'
import type { Written } from './write-ledger.js'

/** Creates that no two requests share anything of. */
export function createWorkload(bench: WriteBench): Workload {
  const { categories, token, ledger } = bench
  return {
    name: 'create',
    description: 'POST /products, each with an Idempotency-Key of its own',
    connections: WRITE_CONNECTIONS,
    compare: (targets) => compareWrites(targets, bench, createsToCompare(bench)),
    async startRound() {
      const mark = await ledger.mark()
      return {
        requests: { kind: 'create', token, round: randomUUID(), categories },
        check: async (answers) => checkCreated(await ledger.since(mark), answers)
      }
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
