import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createClients, type Clients } from './clients.js'
import { createBenchDatabase, type BenchDatabase } from './database/bench-database.js'
import { growProducts } from './database/load-rows.js'
import { WriteLedger } from './database/write-ledger.js'
import { Generator } from './load/generator.js'
import { measureRounds, type Measurement, type NamedTarget, warmUp } from './measure-rounds.js'
import type { Options } from './options.js'
import { residentMiB } from './process-figures.js'
import { conditionsOf, machineOf } from './report/conditions.js'
import type { Footprint, Report, Size } from './report/report.js'
import { NotHere, type Target, type WorkloadName } from './targets/target.js'
import { htmlWorkload } from './workloads/html.js'
import { mixedReads, readWorkloads } from './workloads/reads.js'
import type { Workload } from './workloads/workload.js'
import { writeWorkloads } from './workloads/writes.js'

/** Connections to the database for every target. */
const DATABASE_CONNECTIONS = 10

/** Connections of the warm-up of a workload. */
const MOST_TO_WARM_UP = 32

/** What is measured as the table grows, by the first two targets: the numbers of connections. */
const GROWING: Partial<Record<WorkloadName, number>> = {
  'by-id': 32,
  page: 32,
  'page-1': 1,
  'cursor-1000': 1,
  export: 1
}
const GROWING_TARGETS = ['uniform-rest', 'handwritten']

/** What every part of a run uses. */
interface Run {
  readonly options: Options
  readonly clients: Clients
  readonly generator: Generator
  readonly say: (line: string) => void
}

/** Starts everything, compares the answers, measures and stops everything. `say` takes lines on its progress. */
export async function runBench(
  options: Options,
  candidates: readonly Target[],
  say: (line: string) => void
): Promise<Report> {
  const targets = chosen('target', options.targets, candidates)
  const started = performance.now()
  const generator = new Generator()
  const minutes = (): string => `${((performance.now() - started) / 60_000).toFixed(1)} min`
  const run: Run = {
    options,
    clients: await createClients(options.out),
    generator,
    say: (line) => say(`${minutes().padStart(9)}  ${line}`)
  }
  // Without a generator the run fails, and everything is stopped and removed.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => generator.stop())
  try {
    const smaller = options.growth.filter((products) => products < options.products)
    const sizes: Size[] = []
    for (const products of smaller) {
      const growing = targets.filter(({ name }) => GROWING_TARGETS.includes(name))
      await withTargets(run, { targets: growing, products }, async (bench) => {
        sizes.push({ products, measurements: await measureGrowth(run, bench, products) })
      })
    }
    return await withTargets(run, { targets, products: options.products }, async (bench) => {
      const footprint = await idleFootprint(run, bench.running)
      const workloads = workloadsOf(run, bench, options.products)
      const measured = chosen('workload', options.workloads, workloads)
      await compare(run, bench.running, measured)
      const measurements = await measureAll(run, bench, measured)
      for (const products of options.growth.filter((each) => each >= options.products)) {
        if (products > options.products) {
          run.say(`growing to ${products} products …`)
          await growProducts(bench.database.url, products)
        }
        sizes.push({ products, measurements: await measureGrowth(run, bench, products) })
      }
      return {
        at: new Date().toISOString(),
        machine: machineOf(bench.database.server),
        conditions: conditionsOf(options, DATABASE_CONNECTIONS),
        targets: bench.running.map(({ name }) => ({ name, description: descriptionOf(targets, name) })),
        workloads: measured.map(({ name, description }) => ({ name, description })),
        measurements,
        footprint,
        growth: sizes
      }
    })
  } finally {
    generator.stop()
  }
}

/** Targets that run on a database. */
interface Running {
  readonly database: BenchDatabase
  readonly ledger: WriteLedger
  readonly running: readonly NamedTarget[]
}

async function withTargets<T>(
  run: Run,
  { targets, products }: { readonly targets: readonly Target[]; readonly products: number },
  work: (bench: Running) => Promise<T>
): Promise<T> {
  const { say } = run
  say(`loading ${products} products …`)
  const database = await createBenchDatabase(products)
  const ledger = new WriteLedger(database.url)
  const running: NamedTarget[] = []
  try {
    say(`loaded on ${database.server}`)
    for (const target of targets) {
      try {
        running.push(await start(run, target, database))
      } catch (error) {
        if (!(error instanceof NotHere)) throw error
        say(`without ${target.name}: ${error.message}`)
      }
    }
    return await work({ database, ledger, running })
  } finally {
    for (const target of running) await target.stop()
    await ledger.close()
    await database.remove()
  }
}

async function start({ options, clients }: Run, target: Target, database: BenchDatabase): Promise<NamedTarget> {
  const dataDir = join(options.out, target.name)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const running = await target.start({
    databaseUrl: database.url,
    databaseConnections: DATABASE_CONNECTIONS,
    dataDir,
    maxExportRows: Math.max(options.products, ...options.growth),
    issuer: clients.issuer,
    nodeOptions: options.profile ? ['--cpu-prof', `--cpu-prof-dir=${dataDir}`] : []
  })
  const { name, workloads, ownForm } = target
  return { name, workloads, ...(ownForm === undefined ? {} : { ownForm }), ...running }
}

function workloadsOf({ clients }: Run, { database, ledger }: Running, products: number): Workload[] {
  const { categories, orders } = database
  const reads = readWorkloads({ products, categories, orders, tokens: clients.customers })
  const writes = writeWorkloads({ products, categories, token: clients.clerk, ledger }, mixedReads(reads))
  return [...reads, ...writes, htmlWorkload(clients.customers)]
}

async function idleFootprint({ options, say }: Run, running: readonly NamedTarget[]): Promise<Footprint[]> {
  const read = (): number[] => running.map(({ pids }) => residentMiB(pids))
  const started = read()
  say(`idle for ${options.idleSeconds} s …`)
  await pause(options.idleSeconds * 1000)
  const idle = read()
  return running.map(({ name, pids }, index) => ({
    target: name,
    processes: pids.length,
    startedMiB: started[index] ?? 0,
    idleMiB: idle[index] ?? 0
  }))
}

async function compare({ say }: Run, running: readonly NamedTarget[], measured: readonly Workload[]): Promise<void> {
  if (running.length === 0) throw new Error('No target to measure.')
  let count = 0
  for (const workload of measured) {
    count += await workload.compare(running.filter(({ workloads }) => workloads.includes(workload.name)))
  }
  say(`${count} answers of ${running.map(({ name }) => name).join(', ')} are the same`)
}

async function measureAll(run: Run, bench: Running, measured: readonly Workload[]): Promise<Measurement[]> {
  const { options, say, generator } = run
  const measurements: Measurement[] = []
  const before = await bench.ledger.mark()
  const { rounds, seconds } = options
  const common = { generator, targets: bench.running, rounds, seconds, databasePid: bench.database.pid }
  for (const workload of measured) {
    const numbers = options.connections.length > 0 ? options.connections : workload.connections
    await warmUp(common, workload, Math.min(MOST_TO_WARM_UP, Math.max(...numbers)))
    for (const connections of numbers) {
      const lines = await measureRounds(common, workload, connections)
      measurements.push(...lines)
      say(`${workload.name} at ${connections}: ${lines.map(progressOf).join(', ')}`)
    }
    // The workloads behind it find the table as the ones before it did.
    if (workload.name === 'create') await bench.ledger.forgetProducts(before)
  }
  return measurements
}

function progressOf({ target, requestsPerSecond, cpuMsPerRequest }: Measurement): string {
  return `${target} ${requestsPerSecond.toFixed(requestsPerSecond < 10 ? 1 : 0)}/s (${(cpuMsPerRequest * 1000).toFixed(0)} µs)`
}

async function measureGrowth(run: Run, bench: Running, products: number): Promise<Measurement[]> {
  const { options, say, generator } = run
  const measured = chosen('workload', options.workloads, workloadsOf(run, bench, products)).filter(
    ({ name }) => GROWING[name] !== undefined
  )
  const targets = bench.running.filter(({ name }) => GROWING_TARGETS.includes(name))
  await compare(
    run,
    targets,
    measured.filter(({ name }) => name !== 'export')
  )
  const measurements: Measurement[] = []
  for (const workload of measured) {
    const connections = options.connections[0] ?? GROWING[workload.name] ?? 1
    const rounds = Math.min(2, options.rounds)
    const common = { generator, targets, rounds, seconds: options.seconds, databasePid: bench.database.pid }
    const lines = await measureRounds(common, workload, connections)
    measurements.push(...lines)
    say(`${workload.name} of ${products} products: ${lines.map(progressOf).join(', ')}`)
  }
  return measurements
}

function descriptionOf(targets: readonly Target[], name: string): string {
  return targets.find((target) => target.name === name)?.description ?? ''
}

/** Those named, in their own order; all where none is named. */
function chosen<T extends { readonly name: string }>(kind: string, names: readonly string[], all: readonly T[]): T[] {
  for (const name of names) {
    if (!all.some((each) => each.name === name)) {
      throw new Error(`There is no ${kind} ${name}: ${all.map((each) => each.name).join(', ')}.`)
    }
  }
  return all.filter((each) => names.length === 0 || names.includes(each.name))
}
