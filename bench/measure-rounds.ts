import type { Generator } from './load/generator.js'
import type { LoadResult } from './load/load.js'
import { forgetPeaks, peakMemoryMiB } from './measure/peak-memory.js'
import { percentile } from './measure/percentile.js'
import { cpuSeconds } from './measure/process-cpu.js'
import type { Measurement } from './measurement.js'
import type { RunningTarget } from './targets/target.js'
import type { Workload } from './workload.js'

export interface NamedTarget extends RunningTarget {
  readonly name: string
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
  readonly databaseCpuSeconds: number | undefined
  readonly peakMemoryMiB: number
}

/** At most; half a round where that is shorter. */
const WARM_UP_SECONDS = 2

/**
 * Measures a workload at a number of connections. The targets take turns round by round (A B C A B C), so that what the
 * machine does besides hits all alike; all stay up, and only one is under load.
 */
export async function measureRounds(bench: Bench, workload: Workload, connections: number): Promise<Measurement[]> {
  const rounds = new Map<NamedTarget, Round[]>()
  for (const target of bench.targets) {
    await runRound(bench, target, { workload, connections, seconds: Math.min(bench.seconds / 2, WARM_UP_SECONDS) })
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
  { name, origin, pids }: NamedTarget,
  { workload, connections, seconds }: { workload: Workload; connections: number; seconds: number }
): Promise<Round> {
  const { requests, check } = await workload.startRound(connections)
  forgetPeaks(pids)
  const cpuBefore = cpuSeconds(pids)
  const databaseBefore = cpuOf(databasePid)
  const load = await generator.run({ origin, connections, requests, seconds })
  const round = {
    load,
    cpuSeconds: cpuSeconds(pids) - cpuBefore,
    databaseCpuSeconds: cpuOf(databasePid, databaseBefore),
    peakMemoryMiB: peakMemoryMiB(pids)
  }
  if (load.rejected > 0) {
    throw new Error(`${name} rejected ${load.rejected} requests of ${workload.name}, first with ${load.rejection}.`)
  }
  await check(load.latenciesMs.length).catch((error: unknown) => {
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
    databaseCpuSeconds: rounds.some((round) => round.databaseCpuSeconds === undefined)
      ? undefined
      : sum((round) => round.databaseCpuSeconds ?? 0),
    generatorCpuSeconds: sum(({ load }) => load.generatorCpuSeconds),
    peakMemoryMiB: Math.max(...rounds.map((round) => round.peakMemoryMiB))
  }
}
