import type { Client, Reads } from '../load/load.js'
import type { WorkloadName } from '../targets/target.js'
import { ask, compareAnswers } from './compare-answers.js'
import type { Answering, Workload } from './workload.js'

const PATHS = 5000
const SEED = 20_260_101
const PAGE_SIZE = 50
const ORDERS_PAGE_SIZE = 20
const DEEP_PAGE = 1000

/** What the reads are made of. */
export interface ReadBench {
  /** Ids of products go from 1 to this. */
  readonly products: number
  readonly categories: readonly number[]
  /** Ids of the orders of each customer. */
  readonly orders: readonly (readonly number[])[]
  /** The tokens of the customers. */
  readonly tokens: readonly string[]
}

/**
 * The reads. Every run sends the same paths. Each connection is a signed-in customer with an access token of its own (the
 * connections are the customers in turn), so every request is authenticated. Products are for everyone; orders are rows of
 * their owner, whose condition every statement has. Answers of one row carry its ETag, but for chosen fields.
 */
export function readWorkloads(bench: ReadBench): Workload[] {
  const random = randomNumbers(SEED)
  const upTo = (limit: number): number => Math.floor(random() * limit)
  const anyOf = <T>(values: readonly T[]): T => {
    const value = values[upTo(values.length)]
    if (value === undefined) throw new Error('There is nothing to choose from.')
    return value
  }
  const paths = (make: () => string): string[] => Array.from({ length: PATHS }, make)
  const product = (): string => `/products/${1 + upTo(bench.products)}`
  const pages = Math.ceil(bench.products / PAGE_SIZE)
  const deep = Math.max(2, Math.min(DEEP_PAGE, Math.floor(pages / 2)))
  const clients = bench.tokens.map((token) => ({ headers: [`Authorization: Bearer ${token}`] }))
  const withPaths = (make: (customer: number) => readonly string[]): Client[] =>
    clients.map((client, customer) => ({ ...client, paths: make(customer) }))
  const shared = (list: readonly string[]): Reads => ({ kind: 'read', clients, paths: list })
  const page = (categoryId: number, pageNumber: number): string =>
    `/products/paged?${new URLSearchParams({
      'filters[categoryId].operator': 'equals',
      'filters[categoryId].value': String(categoryId),
      sortColumn: 'price',
      pageSize: String(PAGE_SIZE),
      pageNumber: String(pageNumber)
    }).toString()}`
  const byName = (place: string): string => `/products/paged?sortColumn=name&pageSize=${PAGE_SIZE}&${place}`
  const byId = paths(product)
  const filtered = paths(() => page(anyOf(bench.categories), 1 + upTo(5)))
  const cursors = cursorPaths(byName, deep, clients[0]?.headers ?? [])
  return [
    reading('by-id', 'GET /products/{id}, any of the rows', { ...shared(byId), connections: [1, 32, 128, 512] }),
    reading('by-id-fields', 'the same with five fields: ?fields=id,name,price,categoryId,isActive', {
      ...shared(byId.map((path) => `${path}?fields=id,name,price,categoryId,isActive`)),
      connections: [32]
    }),
    reading('by-id-own', 'GET /orders/{id}, any of the own orders of the customer who asks', {
      connections: [32, 128],
      kind: 'read',
      clients: withPaths((customer) =>
        Array.from({ length: PATHS / 50 }, () => `/orders/${anyOf(bench.orders[customer] ?? [])}`)
      ),
      paths: []
    }),
    reading(
      'page',
      `GET /products/paged: one category, by price, one of the first five pages of ${PAGE_SIZE}, with the total`,
      { ...shared(filtered), connections: [1, 32, 128] }
    ),
    reading('page-1', `GET /products/paged: all products by name, page 1 of ${PAGE_SIZE} rows, with the total`, {
      ...shared([byName('pageNumber=1')]),
      connections: [1]
    }),
    reading('page-1000', `the same, one of the page numbers around ${deep}`, {
      ...shared(around(deep).map((number) => byName(`pageNumber=${number}`))),
      connections: [1]
    }),
    {
      name: 'cursor-1000',
      description: `the same, from the cursor of one of these pages on (the page numbers behind ${deep})`,
      connections: [1],
      compare: (targets) => compareAnswers(targets, clients, { paths: cursors, parts: 'body' }),
      async startRound(target) {
        return { requests: shared(await cursors(target)), check: () => Promise.resolve() }
      }
    },
    reading(
      'page-children',
      `GET /orders/paged: the own orders of the customer, newest first, the first pages of ${ORDERS_PAGE_SIZE} with all their lines`,
      {
        connections: [32],
        kind: 'read',
        clients: withPaths((customer) =>
          Array.from({
            length: Math.max(1, Math.min(5, Math.ceil((bench.orders[customer]?.length ?? 0) / ORDERS_PAGE_SIZE)))
          }).map(
            (_, index) =>
              `/orders/paged?sortColumn=placedAt&sortDirection=desc&pageSize=${ORDERS_PAGE_SIZE}&pageNumber=${index + 1}&includeChildren=true`
          )
        ),
        paths: []
      }
    ),
    reading('lookup', 'GET /categories/lookup: every category as id and name', {
      ...shared(['/categories/lookup']),
      connections: [32]
    }),
    reading('export', 'GET /products/export, every row as CSV', {
      ...shared(['/products/export']),
      connections: [1, 4]
    })
  ]
}

/** The reads of a mix: of nine, seven rows by id, a page and a lookup. */
export function mixedReads(workloads: readonly Workload[]): (target: Answering) => Promise<Reads> {
  return async (target) => {
    const [byId, page, lookup] = await Promise.all(
      (['by-id', 'page', 'lookup'] as const).map(async (name) => {
        const round = await workloads.find((one) => one.name === name)?.startRound(target, 1)
        if (round?.requests.kind !== 'read') throw new Error(`There is no read ${name}.`)
        return round.requests
      })
    )
    if (byId === undefined || page === undefined || lookup === undefined) throw new Error('A mix without its reads.')
    const paths = byId.paths.map((path, index) => {
      if (index % 9 === 7) return page.paths[index] ?? path
      return index % 9 === 8 ? (lookup.paths[0] ?? path) : path
    })
    return { ...byId, paths }
  }
}

function reading(
  name: WorkloadName,
  description: string,
  { connections, ...requests }: Reads & { readonly connections: readonly number[] }
): Workload {
  const pathsOf = ({ ownForm }: Answering): Reads => {
    if (ownForm === undefined) return requests
    return { ...requests, clients: [{ headers: [] }], paths: requests.paths.map((path) => ownForm.pathOf(path)) }
  }
  return {
    name,
    description,
    connections,
    compare: (targets) =>
      compareAnswers(targets, requests.clients, { paths: () => Promise.resolve(requests.paths), parts: 'all' }),
    startRound: (target) => Promise.resolve({ requests: pathsOf(target), check: () => Promise.resolve() })
  }
}

/** Ten page numbers, so that not always the same rows are asked for. */
function around(deep: number): number[] {
  return Array.from({ length: Math.min(10, deep - 1) }, (_, index) => deep - index)
}

/** The paths of the pages behind the deep ones, by the cursors that the target itself names; asked for once. */
function cursorPaths(
  byName: (place: string) => string,
  deep: number,
  headers: readonly string[]
): (target: Answering) => Promise<string[]> {
  const known = new Map<string, Promise<string[]>>()
  const find = async ({ name, origin }: Answering): Promise<string[]> => {
    const found: string[] = []
    for (const number of around(deep)) {
      const { cursor } = await ask(origin, byName(`pageNumber=${number}`), { headers })
      if (cursor === undefined) throw new Error(`${name} names no cursor behind page ${number}.`)
      found.push(byName(`after=${encodeURIComponent(cursor)}`))
    }
    return found
  }
  return (target) => {
    const paths = known.get(target.origin) ?? find(target)
    known.set(target.origin, paths)
    return paths
  }
}

/** Mulberry32: the same numbers from 0 to 1 for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
