import type { Measurement } from '../measure-rounds.js'
import {
  fitCounting,
  fitCosts,
  type CostModel,
  type OperationCosts,
  SIMULATED,
  type SimulatedOperation
} from './cost-model.js'
import type { MeasuredPoints, Point } from './points.js'
import { simulate } from './simulate.js'
import type { Shares, Simulated, System } from './system.js'

/** The bench's mix: of ten requests seven by id, one page, one lookup and one update. */
export const MIX: Shares = { 'by-id': 0.7, page: 0.1, lookup: 0.1, update: 0.1 }

const SEED = 20_260_101

/** Connections of the lines that the costs are calibrated at. */
const CALIBRATED_AT = 32

/** The model is fitted to the points of a table of so many rows, as the published run has. */
const ROWS_AT_FIT = 100_000

type Costs = Readonly<Record<SimulatedOperation, OperationCosts>>

/** Everything that the tables and the picture are made of. */
export interface Scaling {
  readonly measured: MeasuredPoints
  readonly model: CostModel
  readonly counting: { readonly fixed: number; readonly each: number }
  readonly calibrations: readonly Calibration[]
  readonly reproduced: readonly Reproduced[]
  /** 10^5 requests of the mix a second on systems of several sizes. */
  readonly sizes: readonly SizedRun[]
  /** The chosen system against its load. */
  readonly loads: readonly SizedRun[]
}

/**
 * CPU of a request of an operation in the published run of the bench, at 32 connections and one pair, to that of the model:
 * the two were measured at different times on machines of one kind. All other lines of that run are predictions.
 */
export interface Calibration {
  readonly operation: SimulatedOperation
  /** Of the gateway and the data service together. */
  readonly processes: number
  readonly database: number
}

/** A line of the published run of the bench beside what the simulation says of it. */
export interface Reproduced {
  readonly workload: string
  readonly connections: number
  readonly pairs: number
  readonly measured: { readonly requestsPerSecond: number; readonly p50Ms: number; readonly p99Ms: number }
  readonly simulated: Simulated
}

export interface SizedRun {
  readonly system: System
  readonly perSecond: number
  readonly simulated: Simulated
}

const SHARES: Readonly<Record<string, Shares>> = {
  ...Object.fromEntries(SIMULATED.map((operation) => [operation, { [operation]: 1 }])),
  mix: MIX
}

const TARGETS: Readonly<Record<string, number>> = { 'uniform-rest': 1, 'uniform-rest-2x2': 2 }

/** Chosen so that reads by id gather as many keys at 8 connections as was measured. */
const WAKE = 50

/** The bench's machine: two cores for everything, a database that does not wait for its disk, ten connections to it. */
function benchSystem(pairs: number): System {
  return {
    pairs,
    dataServicesOfGateway: pairs,
    poolSize: 10 / pairs,
    machines: { kind: 'one', cores: 2 },
    database: { nodes: 1, cores: 2, flush: 0, replication: 0, applyShare: 0, misses: 0, missTime: 0 },
    network: 10,
    wake: WAKE
  }
}

/** What docs/scaling.md assumes of machines that nobody here has; the page says where each number comes from. */
export const ASSUMED = {
  network: 100,
  flush: 1000,
  replication: 500,
  applyShare: 0.4,
  missTime: 200,
  /** Of the rows that are read by id; a database of 10^9 rows is larger than its memory. */
  misses: 0.5
} as const

/** A system of machines apart: a core for each gateway and data service, and a cluster of `nodes` servers. */
export function production(pairs: number, dataServicesOfGateway: number, nodes: number): System {
  const { network, flush, replication, applyShare, misses, missTime } = ASSUMED
  return {
    pairs,
    dataServicesOfGateway,
    poolSize: 10,
    machines: { kind: 'apart' },
    database: { nodes, cores: 16, flush, replication: nodes === 1 ? 0 : replication, applyShare, misses, missTime },
    network,
    wake: WAKE
  }
}

/** Fits, reproduces and extrapolates. The same points give the same result. */
export function scale(measured: MeasuredPoints, published: readonly Measurement[]): Scaling {
  const mariadb = measured.points.filter(({ database }) => database === 'mariadb')
  const model = fitCosts(mariadb.filter(({ products }) => products === ROWS_AT_FIT))
  const known = published.flatMap((line) => {
    const pairs = TARGETS[line.target]
    const shares = SHARES[line.workload]
    return pairs === undefined || shares === undefined ? [] : [{ line, pairs, shares }]
  })
  const reproduce = (costs: Costs, { line, pairs, shares }: (typeof known)[number], seconds: number): Simulated =>
    simulate({
      system: benchSystem(pairs),
      costs,
      shares,
      arrivals: { kind: 'closed', connections: line.connections },
      seconds,
      seed: SEED
    })
  const calibrations = SIMULATED.flatMap((operation): Calibration[] => {
    const at = known.find(
      ({ line, pairs }) => line.workload === operation && line.connections === CALIBRATED_AT && pairs === 1
    )
    if (at === undefined) return []
    const { gatewayMicros, dataServiceMicros, databaseMicros } = reproduce(model.costs, at, 0.15)
    const { cpuSeconds, databaseCpuSeconds = 0, requests } = at.line
    return [
      {
        operation,
        processes: (cpuSeconds * 1e6) / requests / (gatewayMicros + dataServiceMicros),
        database: (databaseCpuSeconds * 1e6) / requests / databaseMicros
      }
    ]
  })
  const costs = calibrated(model.costs, calibrations)
  return {
    measured,
    model,
    counting: fitCounting(mariadb),
    calibrations,
    reproduced: known.map((each) => ({
      workload: each.line.workload,
      connections: each.line.connections,
      pairs: each.pairs,
      measured: each.line,
      simulated: reproduce(costs, each, 0.3)
    })),
    sizes: SIZES.map((system) => sized(costs, system, 100_000)),
    loads: LOADS.map((perSecond) => sized(costs, CHOSEN, perSecond))
  }
}

export const CHOSEN = production(48, 3, 3)

const SIZES: readonly System[] = [
  production(32, 32, 3),
  production(32, 3, 3),
  production(48, 48, 3),
  production(48, 3, 3),
  production(64, 3, 3),
  production(48, 3, 1),
  production(48, 3, 5)
]

const LOADS = [10_000, 25_000, 50_000, 75_000, 100_000, 120_000, 140_000]

function sized(costs: Costs, system: System, perSecond: number): SizedRun {
  const simulated = simulate({
    system,
    costs,
    shares: MIX,
    arrivals: { kind: 'open', perSecond },
    seconds: 0.08,
    seed: SEED
  })
  return { system, perSecond, simulated }
}

function calibrated(costs: Costs, calibrations: readonly Calibration[]): Costs {
  const entries = SIMULATED.map((operation): [SimulatedOperation, OperationCosts] => {
    const { processes = 1, database = 1 } = calibrations.find((each) => each.operation === operation) ?? {}
    const each = costs[operation]
    return [
      operation,
      {
        ...each,
        gateway: each.gateway * processes,
        gatewayMessage: each.gatewayMessage * processes,
        gatewayUnderWay: each.gatewayUnderWay * processes,
        dataService: each.dataService * processes,
        dataServiceMessage: each.dataServiceMessage * processes,
        dataServiceStatement: each.dataServiceStatement * processes,
        database: each.database * database,
        databaseStatement: each.databaseStatement * database
      }
    ]
  })
  return Object.fromEntries(entries) as Record<SimulatedOperation, OperationCosts> // an entry for each of SIMULATED
}

/** Points of one database and operation at one connection and one pair, by rows. */
export function byRows(points: readonly Point[], of: Pick<Point, 'database' | 'operation' | 'connections'>): Point[] {
  return points.filter(
    ({ database, operation, connections, pairs }) =>
      pairs === 1 && database === of.database && operation === of.operation && connections === of.connections
  )
}
