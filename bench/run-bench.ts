import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createBenchDatabase, type BenchDatabase } from './bench-database.js'
import { Generator } from './load/generator.js'
import { measureRounds, type NamedTarget } from './measure-rounds.js'
import type { Measurement } from './measurement.js'
import type { Options } from './options.js'
import type { Report } from './report/markdown-report.js'
import { conditionsOf } from './report/conditions.js'
import type { Target } from './targets/target.js'
import { readWorkloads } from './read-workloads.js'
import type { Workload } from './workload.js'
import { createWriter, type Writer } from './writes/create-writer.js'
import { WriteLedger } from './writes/write-ledger.js'
import { createWorkload } from './writes/create-workload.js'
import { updateWorkload } from './writes/update-workload.js'

/** Connections to the database for every target: what the data service's pool holds. */
const DATABASE_CONNECTIONS = 10

/** Starts everything, compares the answers, measures and stops everything. `say` takes lines on its progress. */
export async function runBench(
  options: Options,
  candidates: readonly Target[],
  say: (line: string) => void
): Promise<Report> {
  const targets = chosen('target', options.targets, candidates)
  const started = performance.now()
  say(`Loading ${options.products} products …`)
  const writer = await createWriter(options.out)
  const database = await createBenchDatabase(options.products)
  const ledger = new WriteLedger(database.url)
  const running: NamedTarget[] = []
  const generator = new Generator()
  // The rest follows: without a generator the run fails and everything is cleared away.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => generator.stop())
  try {
    say(`Loaded in ${Math.round((performance.now() - started) / 1000)} s on ${database.server}`)
    for (const target of targets) running.push(await start(target, { options, database, writer }))
    const table = { products: options.products, categories: database.categories }
    const writes = { ...table, token: writer.token, ledger }
    const all = [...readWorkloads(table), createWorkload(writes), updateWorkload(writes)]
    const measured = chosen('workload', options.workloads, all)
    await compare(running, measured, say)
    const { rounds, seconds } = options
    const bench = { generator, targets: running, rounds, seconds, databasePid: database.pid }
    const measurements: Measurement[] = []
    for (const workload of measured) {
      for (const connections of options.connections.length > 0 ? options.connections : workload.connections) {
        say(`${workload.name} at ${connections} connection${connections === 1 ? '' : 's'} …`)
        measurements.push(...(await measureRounds(bench, workload, connections)))
      }
    }
    return {
      at: new Date().toISOString(),
      conditions: conditionsOf(options, { server: database.server, connections: DATABASE_CONNECTIONS }),
      targets,
      workloads: measured,
      measurements
    }
  } finally {
    generator.stop()
    for (const target of running) await target.stop()
    await ledger.close()
    await database.remove()
  }
}

async function start(
  target: Target,
  run: { options: Options; database: BenchDatabase; writer: Writer }
): Promise<NamedTarget> {
  const dataDir = join(run.options.out, target.name)
  mkdirSync(dataDir, { recursive: true })
  const running = await target.start({
    databaseUrl: run.database.url,
    databaseConnections: DATABASE_CONNECTIONS,
    dataDir,
    maxExportRows: run.options.products,
    issuer: run.writer.issuer,
    nodeOptions: run.options.profile ? ['--cpu-prof', `--cpu-prof-dir=${dataDir}`] : []
  })
  return { name: target.name, ...running }
}

async function compare(
  running: readonly NamedTarget[],
  measured: readonly Workload[],
  say: (line: string) => void
): Promise<void> {
  const [first, ...others] = running
  if (first === undefined) throw new Error('No target to measure.')
  let count = 0
  for (const workload of measured) count += await workload.compare([first, ...others])
  say(`${count} answers of ${running.map(({ name }) => name).join(', ')} are the same`)
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
