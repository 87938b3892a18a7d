import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../test/harness/package-root.js'
import { Failure } from '../test/runner/programs.js'
import { checkers } from './checkers/all.js'
import type { Database } from './databases/database.js'
import { startDatabase } from './databases/start-database.js'
import { faultsOf, leftOut } from './faults/all.js'
import { startNeighbours } from './neighbours.js'
import type { RunOptions } from './options.js'
import { takeFolder } from './out-folder.js'
import { preloadWith } from './plants/planted-site.js'
import { isKept, KeptRows, type Report, writeVerdict } from './report/verdict.js'
import { run } from './run.js'
import { startSite } from './site.js'
import type { Topology } from './topologies.js'
import { workloads } from './workload/all.js'
import { MOST_EXPORTED } from './workload/exports.js'

/** What `--fault` takes for a run in which nothing breaks. */
const NOTHING = 'none'

/** Where a run writes, and what it is told. */
interface To {
  readonly out: string
  /** Aborted when somebody ends the campaign: then everything that was made for it is removed, and its reason is thrown. */
  readonly interrupted: AbortSignal
  progress(line: string): void
}

/**
 * Tries one topology and writes its history, the rows that checkers asked for and its verdict to `out`. A topology whose
 * servers cannot be had is not tried, and its verdict says why.
 */
export async function tryTopology(topology: Topology, options: RunOptions, to: To): Promise<Report> {
  const { out, interrupted, progress } = to
  const giveBack = await takeFolder(out)
  try {
    const report = await tried(topology, options, to)
    interrupted.throwIfAborted()
    await writeVerdict(out, report)
    if ('notTried' in report) progress(`${topology.name} is not tried.`)
    return report
  } catch (error) {
    // What else fails then fails for that.
    interrupted.throwIfAborted()
    throw error
  } finally {
    await giveBack()
  }
}

async function tried(topology: Topology, options: RunOptions, to: To): Promise<Report> {
  const { interrupted, progress } = to
  const folder = await mkdtemp(join(tmpdir(), 'campaign-'))
  const { snapshotIsolation } = topology
  const started = await startDatabase(topology.database, {
    folder,
    progress,
    ...(snapshotIsolation === undefined ? {} : { snapshotIsolation })
  }).catch((error: unknown) => {
    if (error instanceof Failure) return error
    throw error
  })
  try {
    if (started instanceof Failure) return { topology: topology.name, notTried: started.message }
    interrupted.throwIfAborted()
    return await triedOn(started, { ...to, topology, options, folder })
  } finally {
    if (!(started instanceof Failure)) await started.dispose()
    await rm(folder, { recursive: true, force: true })
  }
}

async function triedOn(
  database: Database,
  parts: To & { readonly topology: Topology; readonly options: RunOptions; readonly folder: string }
): Promise<Report> {
  const { topology, options, folder, out, interrupted, progress } = parts
  const began = new Date().toISOString()
  const versions = { node: process.version, 'uniform-rest': await ownVersion(), ...(await commit()) }
  // Data services take everybody else's rights from their folder, and servers of a cluster have a user of their own.
  const dataDir = join(folder, 'site')
  await mkdir(dataDir)
  const node = (service: number): number => service % Math.max(1, database.nodes.length)
  const neighbours = await startNeighbours()
  try {
    interrupted.throwIfAborted()
    const site = await startSite({
      folder: dataDir,
      gateways: options.gateways,
      services: options.services ?? topology.services,
      databaseUrl: (n) => database.urls(node(n)).url,
      reviewsUrl: (n) => database.urls(node(n)).reviewsUrl,
      ringUrl: neighbours.ringUrl,
      rendererUrl: neighbours.rendererUrl,
      webhook: neighbours.receiver,
      vault: neighbours.vault,
      env: { MAX_EXPORT_ROWS: String(MOST_EXPORTED) },
      ...(options.plant === undefined ? {} : { preload: await preloadWith(options.plant, folder) })
    })
    try {
      interrupted.throwIfAborted()
      const all = faultsOf(site, database, neighbours.vault)
      const wanted = options.faults
      const faults = wanted.length === 0 ? all : all.filter(({ name }) => wanted.some((text) => name.includes(text)))
      const unknown = wanted.filter((text) => text !== NOTHING && !all.some(({ name }) => name.includes(text)))
      if (unknown.length > 0) {
        const kinds = [...new Set(all.map(({ kind }) => kind))].join(', ')
        return {
          topology: topology.name,
          notTried: `--fault ${unknown.join()} is in the name of no fault of it, which are ${kinds}.`
        }
      }
      const kept = new KeptRows((sql) => database.query(sql))
      const outcome = await run({
        ...options,
        site,
        receiver: neighbours.receiver,
        faults,
        rows: kept.rows,
        workloads: workloads(),
        checkers: checkers(),
        folder: out,
        interrupted,
        progress
      })
      await kept.write(out)
      return {
        topology: topology.name,
        database: database.label,
        versions,
        began,
        options,
        kinds: [...new Set(faults.map(({ kind }) => kind))],
        leftOut: leftOut(database),
        outcome,
        isKept: isKept(outcome)
      }
    } finally {
      await site.stop()
    }
  } finally {
    await neighbours.stop()
  }
}

async function ownVersion(): Promise<string> {
  const manifest = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as { readonly version: string }
  return manifest.version
}

/** The commit that runs, and whether files differ from it; nothing where there is no repository. */
async function commit(): Promise<{ readonly commit?: string }> {
  const git = async (...args: readonly string[]): Promise<string> =>
    (await promisify(execFile)('git', args, { cwd: packageRoot })).stdout.trim()
  try {
    const [name, changes] = [await git('rev-parse', '--short=10', 'HEAD'), await git('status', '--porcelain')]
    return { commit: changes === '' ? name : `${name} with changes` }
  } catch {
    return {}
  }
}
