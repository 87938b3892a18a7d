import type { Measurement } from '../measure-rounds.js'
import type { Machine } from './conditions.js'

/** A whole run. */
export interface Report {
  readonly at: string
  readonly machine: Machine
  /** Sizes and the like: a line each. */
  readonly conditions: readonly string[]
  readonly targets: readonly Described[]
  readonly workloads: readonly Described[]
  readonly measurements: readonly Measurement[]
  readonly footprint: readonly Footprint[]
  /** By the number of products, ascending. */
  readonly growth: readonly Size[]
}

export interface Described {
  readonly name: string
  readonly description: string
}

/** Resident memory of a target that nobody asks anything, all of its processes together. */
export interface Footprint {
  readonly target: string
  readonly processes: number
  readonly startedMiB: number
  readonly idleMiB: number
}

/** What the reads cost with so many products. */
export interface Size {
  readonly products: number
  readonly measurements: readonly Measurement[]
}

export const SERVICE = 'uniform-rest'
export const REFERENCE = 'handwritten'

/** What can be compared between two measurements. */
export type Figure = 'rate' | 'cpu' | 'p50' | 'p99' | 'memory'

/**
 * The first measurement's figure in units of the second's. Of rates and CPU it is the median of the ratios of the rounds,
 * which were made in pairs, one after the other: what else the machine does hits both.
 */
export function ratio(of: Measurement, to: Measurement, figure: Figure): number {
  switch (figure) {
    case 'rate':
      return pairedRatio(of.requestsPerSecondOfRounds, to.requestsPerSecondOfRounds)
    case 'cpu':
      return pairedRatio(of.cpuMsPerRequestOfRounds, to.cpuMsPerRequestOfRounds)
    case 'p50':
      return of.p50Ms / to.p50Ms
    case 'p99':
      return of.p99Ms / to.p99Ms
    case 'memory':
      return of.peakMemoryMiB / to.peakMemoryMiB
  }
}

function pairedRatio(left: readonly number[], right: readonly number[]): number {
  const ratios = left.map((value, round) => value / (right[round] ?? Number.NaN)).toSorted((a, b) => a - b)
  const middle = Math.floor(ratios.length / 2)
  const upper = ratios[middle] ?? Number.NaN
  return ratios.length % 2 === 1 ? upper : ((ratios[middle - 1] ?? Number.NaN) + upper) / 2
}

/** undefined where it was not measured. */
export function measured(
  measurements: readonly Measurement[],
  of: { readonly target: string; readonly workload: string; readonly connections: number }
): Measurement | undefined {
  return measurements.find(
    ({ target, workload, connections }) =>
      target === of.target && workload === of.workload && connections === of.connections
  )
}

/** A ratio that the project aims at. */
export interface Goal {
  readonly what: string
  readonly goal: string
  /** undefined where it was not measured. */
  readonly value: number | undefined
  readonly reached: boolean | undefined
}

const TWO_PAIRS = 'uniform-rest-2x2'
const PLATFORMATIC = 'platformatic-db'
const SEQUELIZE = 'plain-sequelize'

/** Rates in units of the hand-written server's. */
const RATES: readonly (readonly [string, number, number])[] = [
  ['by-id', 32, 1],
  ['by-id', 128, 1.4],
  ['page', 32, 1.1],
  ['export', 1, 1.4],
  ['create', 32, 0.9],
  ['update', 32, 1]
]

/** Rates in units of another generic layer's. */
const PEER_RATES: readonly (readonly [string, string, number, number])[] = [
  [PLATFORMATIC, 'by-id', 32, 2.5],
  [PLATFORMATIC, 'by-id', 128, 2.5],
  [PLATFORMATIC, 'page', 32, 1.3],
  [SEQUELIZE, 'by-id', 32, 3],
  [SEQUELIZE, 'by-id', 128, 3]
]

/** The goals of the project's performance, with what a run shows of each. */
export function goalsOf({ measurements }: Pick<Report, 'measurements'>): Goal[] {
  const find = (target: string, workload: string, connections: number): Measurement | undefined =>
    measured(measurements, { target, workload, connections })
  const between = (of: Measurement | undefined, to: Measurement | undefined, figure: Figure): number | undefined =>
    of === undefined || to === undefined ? undefined : ratio(of, to, figure)
  const toReference = (workload: string, connections: number, figure: Figure): number | undefined =>
    between(find(SERVICE, workload, connections), find(REFERENCE, workload, connections), figure)
  const own = (workload: string): Measurement | undefined => find(SERVICE, workload, 1)
  const worst = (connections: number, figure: Figure): { value: number | undefined; of: string } => {
    const all = measurements
      .filter((each) => each.target === SERVICE && each.connections === connections)
      .flatMap(({ workload }) => {
        const value = toReference(workload, connections, figure)
        return value === undefined ? [] : [{ value, of: workload }]
      })
    return all.toSorted((a, b) => b.value - a.value)[0] ?? { value: undefined, of: 'none' }
  }
  const [p99, cpu] = [worst(32, 'p99'), worst(128, 'cpu')]
  return [
    ...RATES.map(([workload, connections, goal]) =>
      atLeast(
        `${workload} at ${connections}, requests/s to ${REFERENCE}`,
        goal,
        toReference(workload, connections, 'rate')
      )
    ),
    ...PEER_RATES.map(([peer, workload, connections, goal]) =>
      atLeast(
        `${workload} at ${connections}, requests/s to ${peer}`,
        goal,
        between(find(SERVICE, workload, connections), find(peer, workload, connections), 'rate')
      )
    ),
    atMost('cursor page 1,000 to page 1, time', 1.2, between(own('page-1'), own('cursor-1000'), 'rate')),
    atMost('page number 1,000 to page 1, time', 2, between(own('page-1'), own('page-1000'), 'rate')),
    atMost(`by-id at 32, p99 to ${REFERENCE}`, 1.5, toReference('by-id', 32, 'p99')),
    atMost(`page at 32, p99 to ${REFERENCE}`, 1.5, toReference('page', 32, 'p99')),
    atMost(`worst p99 at 32 to ${REFERENCE} (${p99.of})`, 1.5, p99.value),
    atMost(`by-id at 128, CPU/request to ${REFERENCE}`, 1.1, toReference('by-id', 128, 'cpu')),
    atMost(`page at 128, CPU/request to ${REFERENCE}`, 1.1, toReference('page', 128, 'cpu')),
    atMost(`worst CPU/request at 128 to ${REFERENCE} (${cpu.of})`, 1.1, cpu.value),
    atMost(`by-id at 32, peak memory to ${REFERENCE}`, 1.6, toReference('by-id', 32, 'memory')),
    ...pairsGoals(measurements)
  ]
}

function pairsGoals(measurements: readonly Measurement[]): Goal[] {
  return measurements
    .filter(({ target }) => target === TWO_PAIRS)
    .flatMap((two) => {
      const one = measured(measurements, { ...two, target: SERVICE })
      const at = `${two.workload} at ${two.connections}`
      const [least, most] = [Math.min(...two.replicaCpuSeconds), Math.max(...two.replicaCpuSeconds)]
      return [
        atLeast(`${at}, requests/s of two pairs to one`, 1, one === undefined ? undefined : ratio(two, one, 'rate')),
        atLeast(
          `${at}, CPU of the less busy of two data services to the busier`,
          0.8,
          most === 0 ? undefined : least / most
        )
      ]
    })
}

function atLeast(what: string, goal: number, value: number | undefined): Goal {
  return { what, goal: `≥ ${goal.toFixed(1)} ×`, value, reached: value === undefined ? undefined : value >= goal }
}

function atMost(what: string, goal: number, value: number | undefined): Goal {
  return { what, goal: `≤ ${goal.toFixed(1)} ×`, value, reached: value === undefined ? undefined : value <= goal }
}
