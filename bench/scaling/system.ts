import type { OperationCosts, SimulatedOperation } from './cost-model.js'
import type { Micros } from './stations.js'

/** What is simulated: how many processes there are, and where they run. */
export interface System {
  readonly pairs: number
  /** Data services that each gateway is given (DATA_SERVICE_ADDRESS): its own and the ones behind it, in a ring. */
  readonly dataServicesOfGateway: number
  /** Database connections of each data service. */
  readonly poolSize: number
  /** 'one machine': all processes, the database and the load generator share these cores. */
  readonly machines: { readonly kind: 'one'; readonly cores: number } | { readonly kind: 'apart' }
  readonly database: DatabaseSystem
  /** One way between any two processes, and between a client and a gateway. */
  readonly network: Micros
  /** Until a process that waits for something runs after it came. */
  readonly wake: Micros
}

export interface DatabaseSystem {
  /** Each data service has a node, in turn. A write is done on each of them. */
  readonly nodes: number
  /** Of each node, where machines are apart. */
  readonly cores: number
  /** How long a commit waits for the disk; 0 where the server does not wait. */
  readonly flush: Micros
  /** A round trip to the other nodes, which a commit waits for; 0 for one node. */
  readonly replication: Micros
  /** The CPU of a node for a write of another one, to that of the write itself. */
  readonly applyShare: number
  /** Pages that a key of a read by id does not find in memory, and how long the disk takes for one. */
  readonly misses: number
  readonly missTime: Micros
}

/** The requests: each connection sends the next one when it has its answer, or they come at random times at a rate. */
export type Arrivals =
  | { readonly kind: 'closed'; readonly connections: number }
  | { readonly kind: 'open'; readonly perSecond: number }

/** Shares of operations, which sum up to 1. */
export type Shares = Readonly<Partial<Record<SimulatedOperation, number>>>

export interface Simulation {
  readonly system: System
  readonly costs: Readonly<Record<SimulatedOperation, OperationCosts>>
  readonly shares: Shares
  readonly arrivals: Arrivals
  /** Of simulated time, the first fifth of which is not counted. */
  readonly seconds: number
  readonly seed: number
}

/** What a simulation came to. Utilisations are 0 to 1. */
export interface Simulated {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Requests that were under way, on average over the time. */
  readonly underWay: number
  readonly gateway: number
  readonly dataService: number
  readonly database: number
  /** Of one request, all processes of a kind together. */
  readonly gatewayMicros: Micros
  readonly dataServiceMicros: Micros
  readonly databaseMicros: Micros
  /** Work of the counted time as the stations were given it, for one request and all together. */
  readonly statements: number
}
