import type { Generator } from './load/generator.js'
import type { LoadResult } from './load/load.js'
import { cpuSeconds, forgetPeaks, peakMemoryMiB } from './process-figures.js'
import type { OwnForm, RunningTarget, WorkloadName } from './targets/target.js'
import type { Workload } from './workloads/workload.js'

export interface NamedTarget extends RunningTarget {
  readonly name: string
  readonly workloads: readonly WorkloadName[]
  readonly ownForm?: OwnForm
}

/** What the rounds of one target at one workload and number of connections came to. */
export interface Measurement {
  readonly workload: string
  readonly connections: number
  readonly target: string
  readonly requests: number
  /** Of all rounds together. */
  readonly requestsPerSecond: number
  /** Of each round, so that a reader sees how far they lie apart. */
  readonly requestsPerSecondOfRounds: readonly number[]
  readonly p50Ms: number
  readonly p99Ms: number
  readonly megabytesPerSecond: number
  /** User and system CPU of every server process of the target, its own rounds alone. */
  readonly cpuSeconds: number
  /** Of all rounds together. */
  readonly cpuMsPerRequest: number
  /** Of each round. */
  readonly cpuMsPerRequestOfRounds: readonly number[]
  /** Of each data service, where there are several. */
  readonly replicaCpuSeconds: readonly number[]
  /** undefined where the database runs on another machine. */
  readonly databaseCpuSeconds: number | undefined
  readonly generatorCpuSeconds: number
  /** Peak resident memory of every server process of the target, summed. */
  readonly peakMemoryMiB: number
}

/** What all rounds have in common. */
interface Bench {
  readonly generator: Generator
  readonly targets: readonly NamedTarget[]
  readonly rounds: number
  readonly seconds: number
  /** The database server's process, where it runs on this machine. */
  readonly databasePid: number | undefined
}

interface Round {
  readonly load: LoadResult
  readonly cpuSeconds: number
  readonly replicaCpuSeconds: readonly number[]
  readonly databaseCpuSeconds: number | undefined
  readonly peakMemoryMiB: number
}

/** Half a round before those that count, and a little longer before the first of a workload; seconds at most. */
const WARM_UP = { first: 2, each: 1 }

/**
 * Has every target do the work of a workload for a while: code that runs for the first time is not compiled yet, and a
 * target of four processes needs the longest to have it compiled in all of them.
 */
export async function warmUp(bench: Bench, workload: Workload, connections: number): Promise<void> {
  const seconds = Math.min(2 * bench.seconds, WARM_UP.first)
  for (const target of takingPart(bench, workload)) await runRound(bench, target, { workload, connections, seconds })
}

function takingPart({ targets }: Bench, workload: Workload): NamedTarget[] {
  return targets.filter(({ workloads }) => workloads.includes(workload.name))
}

/**
 * Measures a workload at a number of connections. The targets take turns round by round (A B C A B C), so that what the
 * machine does besides hits all alike; all stay up, and only one is under load.
 */
export async function measureRounds(bench: Bench, workload: Workload, connections: number): Promise<Measurement[]> {
  const rounds = new Map<NamedTarget, Round[]>()
  for (const target of takingPart(bench, workload)) {
    await runRound(bench, target, { workload, connections, seconds: Math.min(bench.seconds / 2, WARM_UP.each) })
    rounds.set(target, [])
  }
  for (let round = 0; round < bench.rounds; round++) {
    for (const [target, measured] of rounds) {
      measured.push(await runRound(bench, target, { workload, connections, seconds: bench.seconds }))
    }
  }
  return [...rounds].map(([target, measured]) => ({
    workload: workload.name,
    connections,
    target: target.name,
    ...summary(measured)
  }))
}

/** One round of one target, with what it wrote checked when the measuring is over. */
async function runRound(
  { generator, databasePid }: Bench,
  target: NamedTarget,
  { workload, connections, seconds }: { workload: Workload; connections: number; seconds: number }
): Promise<Round> {
  const { name, pids, replicas = [] } = target
  const { requests, check } = await workload.startRound(target, connections)
  forgetPeaks(pids)
  const cpuBefore = cpuSeconds(pids)
  const replicasBefore = replicas.map((pid) => cpuSeconds([pid]))
  const databaseBefore = cpuOf(databasePid)
  const load = await generator.run({ origins: target.origins ?? [target.origin], connections, requests, seconds })
  const round = {
    load,
    cpuSeconds: cpuSeconds(pids) - cpuBefore,
    replicaCpuSeconds: replicas.map((pid, index) => cpuSeconds([pid]) - (replicasBefore[index] ?? 0)),
    databaseCpuSeconds: cpuOf(databasePid, databaseBefore),
    peakMemoryMiB: peakMemoryMiB(pids)
  }
  if (load.rejected > 0) {
    throw new Error(`${name} rejected ${load.rejected} requests of ${workload.name}, first with ${load.rejection}.`)
  }
  await check(load).catch((error: unknown) => {
    throw new Error(`${name} at ${workload.name}: ${String(error)}`, { cause: error })
  })
  return round
}

function cpuOf(pid: number | undefined, before = 0): number | undefined {
  return pid === undefined ? undefined : cpuSeconds([pid]) - before
}

function summary(rounds: readonly Round[]): Omit<Measurement, 'workload' | 'connections' | 'target'> {
  const latencies = rounds.flatMap(({ load }) => load.latenciesMs).toSorted((a, b) => a - b)
  const sum = (of: (round: Round) => number): number => rounds.reduce((total, round) => total + of(round), 0)
  const elapsed = sum(({ load }) => load.elapsedSeconds)
  const cpu = sum((round) => round.cpuSeconds)
  return {
    requests: latencies.length,
    requestsPerSecond: latencies.length / elapsed,
    requestsPerSecondOfRounds: rounds.map(({ load }) => load.latenciesMs.length / load.elapsedSeconds),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    megabytesPerSecond: sum(({ load }) => load.bodyBytes) / elapsed / 1e6,
    cpuSeconds: cpu,
    cpuMsPerRequest: (cpu * 1000) / latencies.length,
    cpuMsPerRequestOfRounds: rounds.map((round) => (round.cpuSeconds * 1000) / round.load.latenciesMs.length),
    replicaCpuSeconds: (rounds[0]?.replicaCpuSeconds ?? []).map((_, index) =>
      sum((round) => round.replicaCpuSeconds[index] ?? 0)
    ),
    databaseCpuSeconds: rounds.some((round) => round.databaseCpuSeconds === undefined)
      ? undefined
      : sum((round) => round.databaseCpuSeconds ?? 0),
    generatorCpuSeconds: sum(({ load }) => load.generatorCpuSeconds),
    peakMemoryMiB: Math.max(...rounds.map((round) => round.peakMemoryMiB))
  }
}

/** The value below which `share` (0 to 1) of the sorted ones lie; 0 of none. Nearest rank, no interpolation. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? 0
}
