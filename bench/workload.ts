/** One kind of request, with the paths that its rounds send. */
export interface Workload {
  readonly name: string
  readonly description: string
  /** Numbers of connections to measure at. */
  readonly connections: readonly number[]
  readonly paths: readonly string[]
  /** How many of the paths are compared between the targets before anything is measured. */
  readonly compared: number
}

const PATHS = 5000
const SEED = 20_260_101

/** The three rows of the table. Every run sends the same paths in the same order. */
export function workloads(table: { products: number; categories: readonly number[] }): Workload[] {
  const random = randomNumbers(SEED)
  const upTo = (limit: number): number => Math.floor(random() * limit)
  const anyOf = (values: readonly number[]): number => values[upTo(values.length)] ?? 0
  return [
    {
      name: 'by-id',
      description: 'GET /products/{id}, any of the rows',
      connections: [32, 128],
      paths: Array.from({ length: PATHS }, () => `/products/${1 + upTo(table.products)}`),
      compared: 100
    },
    {
      name: 'paged',
      description: 'GET /products/paged: one category, by price, one of the first five pages of 20, with the total',
      connections: [32, 128],
      paths: Array.from({ length: PATHS }, () => pagedPath(anyOf(table.categories), 1 + upTo(5))),
      compared: 50
    },
    {
      name: 'export',
      description: 'GET /products/export, every row as CSV',
      connections: [1, 4],
      paths: ['/products/export'],
      compared: 1
    }
  ]
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
