import { compareAnswers } from './compare-answers.js'
import type { Workload } from './workload.js'

const PATHS = 5000
const SEED = 20_260_101

interface ReadWorkload extends Workload {
  readonly paths: readonly string[]
}

/** The reads. Every run sends the same paths in the same order. */
export function readWorkloads(table: { products: number; categories: readonly number[] }): ReadWorkload[] {
  const random = randomNumbers(SEED)
  const upTo = (limit: number): number => Math.floor(random() * limit)
  const anyOf = (values: readonly number[]): number => values[upTo(values.length)] ?? 0
  return [
    reading({
      name: 'by-id',
      description: 'GET /products/{id}, any of the rows',
      connections: [32, 128],
      paths: Array.from({ length: PATHS }, () => `/products/${1 + upTo(table.products)}`),
      compared: 100
    }),
    reading({
      name: 'paged',
      description: 'GET /products/paged: one category, by price, one of the first five pages of 20, with the total',
      connections: [32, 128],
      paths: Array.from({ length: PATHS }, () => pagedPath(anyOf(table.categories), 1 + upTo(5))),
      compared: 50
    }),
    reading({
      name: 'export',
      description: 'GET /products/export, every row as CSV',
      connections: [1, 4],
      paths: ['/products/export'],
      compared: 1
    })
  ]
}

function reading({
  compared,
  ...workload
}: Pick<ReadWorkload, 'name' | 'description' | 'connections' | 'paths'> & {
  /** How many of the paths are compared between the targets before anything is measured. */
  readonly compared: number
}): ReadWorkload {
  const requests = { kind: 'read', paths: workload.paths } as const
  return {
    ...workload,
    compare: (targets) => compareAnswers(targets, workload.paths.slice(0, compared)),
    startRound: () => Promise.resolve({ requests, check: () => Promise.resolve() })
  }
}

function pagedPath(categoryId: number, pageNumber: number): string {
  const query = new URLSearchParams({
    'filters[categoryId].operator': 'equals',
    'filters[categoryId].value': String(categoryId),
    sortColumn: 'price',
    pageSize: '20',
    pageNumber: String(pageNumber)
  })
  return `/products/paged?${query.toString()}`
}

/** Mulberry32: the same numbers from 0 to 1 for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
