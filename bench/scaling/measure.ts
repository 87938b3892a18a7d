import { mkdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { type Counts, GrowingStore, LOADED, type MeasuredStore } from './measured-store.js'
import { createClients, type Clients } from '../clients.js'
import { Generator } from '../load/generator.js'
import type { ProductToWrite, Requests } from '../load/load.js'
import { percentile } from '../measure-rounds.js'
import { cpuSeconds } from '../process-figures.js'
import { startPairs, type RunningPairs } from '../targets/uniform-rest.js'
import { mixedReads, readWorkloads } from '../workloads/reads.js'
import type { MeasuredDatabase, MeasuredPoints, Operation, Point } from './points.js'

/** Connections to the database, of all data services together. */
const POOL = 10

/** Rows that a connection writes in turn. */
const ROWS_EACH = 2

/** A new process compiles what it runs often, so the first round of an operation is preceded by a longer one. */
const WARM_UP = { seconds: 0.5, first: { seconds: 2.5, connections: 32 } }

/** What is measured of one number of rows and of pairs. */
interface Plan {
  readonly products: number
  readonly pairs: number
  readonly operations: readonly Operation[]
  readonly connections: readonly number[]
}

/** One connection comes last: it sends the fewest requests, so its code has to be compiled by then. */
const EVERY_NUMBER = [32, 128, 512, 8, 1]
const GROWING: readonly Operation[] = ['by-id', 'page', 'lookup', 'create', 'update', 'export']

/** Every operation at every number of connections over 100,000 rows; what grows at 1 and 32 over the other sizes. */
function plansOf(sizes: readonly number[]): Plan[] {
  return sizes.flatMap((products): Plan[] => {
    if (products !== LOADED) return [{ products, pairs: 1, operations: GROWING, connections: [32, 1] }]
    return [
      {
        products,
        pairs: 1,
        operations: ['by-id', 'page', 'lookup', 'create', 'update', 'action', 'mix', 'export'],
        connections: EVERY_NUMBER
      },
      { products, pairs: 2, operations: ['by-id', 'page', 'lookup', 'update', 'mix'], connections: EVERY_NUMBER }
    ]
  })
}

/** An export is of every row, so it is measured at one connection, and not of more rows than these. */
const MOST_EXPORTED = 1_000_000

/**
 * Measures points. `say` takes lines on the progress, and `keep` what was measured so far, since the largest tables take
 * long.
 */
export async function measurePoints(
  options: {
    readonly databases: readonly MeasuredDatabase[]
    /** Rows of the products table, ascending. */
    readonly sizes: readonly number[]
    readonly seconds: number
    readonly folder: string
  },
  { say, keep }: { say(line: string): void; keep(measured: MeasuredPoints): void }
): Promise<void> {
  mkdirSync(options.folder, { recursive: true })
  const clients = await createClients(options.folder)
  const generator = new Generator()
  const points: Point[] = []
  const servers = new Set<string>()
  const measured = (): MeasuredPoints => ({
    command: `npm run scaling -- --measure --databases ${options.databases.join(',')} --rows ${options.sizes.join(',')} --seconds ${options.seconds}`,
    at: new Date().toISOString(),
    machine: `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, Node ${process.versions.node}`,
    databases: [...servers],
    conditions: [
      'the cores are shared by the servers, the database, the load generator and other work of the machine',
      `${POOL} database connections, shared by the data services`,
      `rounds of ${options.seconds} s`
    ],
    points
  })
  try {
    for (const kind of options.databases) {
      const store = new GrowingStore(kind, options.folder)
      try {
        for (const plan of plansOf(options.sizes)) {
          say(`${kind}: ${plan.products} products, pairs: ${plan.pairs}`)
          const current = await store.of(plan.products)
          servers.add(current.server)
          points.push(...(await measurePlan({ ...options, clients, generator, store: current, say }, plan)))
          keep(measured())
        }
      } finally {
        await store.remove()
      }
    }
  } finally {
    generator.stop()
  }
}

interface Measuring {
  readonly clients: Clients
  readonly generator: Generator
  readonly store: MeasuredStore
  readonly folder: string
  readonly seconds: number
  readonly say: (line: string) => void
}

async function measurePlan(measuring: Measuring, plan: Plan): Promise<Point[]> {
  const { clients, store, folder, say } = measuring
  const dataDir = join(folder, store.kind)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const running = await startPairs(
    {
      databaseUrl: store.url,
      databaseConnections: POOL,
      dataDir,
      maxExportRows: plan.products + 1_000_000,
      issuer: clients.issuer,
      nodeOptions: []
    },
    { pairs: plan.pairs, renderer: false }
  )
  const points: Point[] = []
  try {
    for (const operation of plan.operations) {
      if (operation === 'export' && plan.products > MOST_EXPORTED) continue
      if (operation !== 'export') await warmUp(measuring, running, { ...plan, operation, ...WARM_UP.first })
      for (const connections of operation === 'export' ? [1] : plan.connections) {
        const point = await measurePoint(measuring, running, { ...plan, operation, connections })
        if (point === undefined) continue
        points.push(point)
        say(
          `${operation} at ${connections}: ${point.requestsPerSecond.toFixed(0)}/s, gateway ${point.gatewayMicros.toFixed(0)}, ` +
            `data service ${point.dataServiceMicros.toFixed(0)}, database ${point.databaseMicros.toFixed(0)} µs`
        )
      }
    }
  } finally {
    await running.stop()
  }
  return points
}

/** One line of the points. */
interface Wanted extends Omit<Plan, 'connections'> {
  readonly operation: Operation
  readonly connections: number
}

async function warmUp(
  { generator, clients, store }: Measuring,
  running: RunningPairs,
  { seconds, ...wanted }: Wanted & { readonly seconds: number }
): Promise<void> {
  const requests = await requestsFor({ clients, store, running, wanted })
  await generator.run({
    origins: running.origins ?? [running.origin],
    connections: wanted.connections,
    requests,
    seconds
  })
}

/** undefined where requests were rejected: what they took says nothing of the others. */
async function measurePoint(measuring: Measuring, running: RunningPairs, wanted: Wanted): Promise<Point | undefined> {
  const { generator, clients, store, seconds } = measuring
  const { operation, connections, pairs, products } = wanted
  await warmUp(measuring, running, { ...wanted, seconds: WARM_UP.seconds })
  const requests = await requestsFor({ clients, store, running, wanted })
  const read = async (): Promise<Reading> => ({
    gateway: cpuSeconds(running.gateways),
    dataService: cpuSeconds(running.dataServices),
    database: store.pid === undefined ? 0 : cpuSeconds([store.pid]),
    gatewayCalls: systemCalls(running.gateways),
    dataServiceCalls: systemCalls(running.dataServices),
    counts: await store.counts()
  })
  const before = await read()
  const result = await generator.run({ origins: running.origins ?? [running.origin], connections, requests, seconds })
  const after = await read()
  if (result.rejected > 0) {
    measuring.say(`${operation} at ${connections}: ${result.rejected} rejected, first with ${result.rejection}`)
    return undefined
  }
  const count = result.latenciesMs.length
  const latencies = result.latenciesMs.toSorted((a, b) => a - b)
  const micros = (of: (reading: Reading) => number): number => each((1e6 * (of(after) - of(before))) / count)
  const perRequest = (of: (reading: Reading) => number): number => each((of(after) - of(before)) / count)
  return {
    database: store.kind,
    operation,
    connections,
    pairs,
    products,
    requests: count,
    requestsPerSecond: each(count / result.elapsedSeconds),
    p50Ms: each(percentile(latencies, 0.5)),
    gatewayMicros: micros(({ gateway }) => gateway),
    dataServiceMicros: micros(({ dataService }) => dataService),
    databaseMicros: micros(({ database }) => database),
    generatorMicros: each((1e6 * result.generatorCpuSeconds) / count),
    bodyBytes: Math.round(result.bodyBytes / count),
    gatewayCalls: perRequest(({ gatewayCalls }) => gatewayCalls),
    dataServiceCalls: perRequest(({ dataServiceCalls }) => dataServiceCalls),
    statements: perRequest(({ counts }) => counts.statements),
    rowsRead: perRequest(({ counts }) => counts.rowsRead),
    pagesMissed: perRequest(({ counts }) => counts.pagesMissed),
    redoBytes: perRequest(({ counts }) => counts.redoBytes)
  }
}

/** What is read before and after a round; CPU in seconds. */
interface Reading {
  readonly gateway: number
  readonly dataService: number
  readonly database: number
  readonly gatewayCalls: number
  readonly dataServiceCalls: number
  readonly counts: Counts
}

/** Four digits that count. */
function each(value: number): number {
  return Number(value.toPrecision(4))
}

/** proc(5): calls of read and write of all kinds since the processes began. Node reads and writes its sockets by them. */
function systemCalls(pids: readonly number[]): number {
  return pids
    .flatMap((pid) => [...readFileSync(`/proc/${pid}/io`, 'latin1').matchAll(/^sysc[rw]: (\d+)$/gm)])
    .reduce((sum, [, calls]) => sum + Number(calls), 0)
}

/** What requests are made of. */
interface Asking {
  readonly clients: Clients
  readonly store: MeasuredStore
  readonly running: RunningPairs
  readonly wanted: Wanted
}

async function requestsFor(bench: Asking): Promise<Requests> {
  const { clients, store, running, wanted } = bench
  const { operation, products, connections } = wanted
  const { categories, orders } = store
  const target = { name: 'uniform-rest', origin: running.origin }
  const reads = readWorkloads({ products, categories, orders, tokens: clients.customers })
  const token = clients.clerk
  switch (operation) {
    case 'create':
      return { kind: 'create', token, round: randomUUID(), categories }
    case 'update':
    case 'action':
      return { kind: operation, token, categories, rows: await rowsToWrite(bench) }
    case 'mix': {
      const writes = { kind: 'update', token, categories, rows: await rowsToWrite(bench) } as const
      return { kind: 'mix', reads: await mixedReads(reads)(target), writes }
    }
    default: {
      const workload = reads.find(({ name }) => name === operation)
      if (workload === undefined) throw new Error(`There is no read ${operation}.`)
      return (await workload.startRound(target, connections)).requests
    }
  }
}

async function rowsToWrite({ clients, running, wanted: { connections, products } }: Asking): Promise<ProductToWrite[]> {
  const count = Math.min(products, connections * ROWS_EACH)
  const rows: ProductToWrite[] = []
  for (let first = 1; first <= count; first += 64) {
    const ids = Array.from({ length: Math.min(64, count - first + 1) }, (_, index) => first + index)
    rows.push(
      ...(await Promise.all(
        ids.map(async (id) => {
          const response = await fetch(`${running.origin}/products/${id}`, {
            headers: { Authorization: `Bearer ${clients.clerk}` }
          })
          // The properties that entities/products.ts of the store names.
          const { sku, categoryId } = (await response.json()) as { sku: string; categoryId: number }
          return { id, sku, categoryId, etag: response.headers.get('etag') ?? 'none' }
        })
      ))
    )
  }
  return rows
}
