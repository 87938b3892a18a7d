import type { LoadResult, Requests } from '../load/load.js'
import type { OwnForm, WorkloadName } from '../targets/target.js'

/** A target as the workloads see it. */
export interface Answering {
  readonly name: string
  readonly origin: string
  readonly ownForm?: OwnForm
}

/** One kind of request, measured at some numbers of connections. */
export interface Workload {
  readonly name: WorkloadName
  readonly description: string
  /** Numbers of connections to measure at. */
  readonly connections: readonly number[]
  /** Throws unless the targets answer the same; how many answers of each it compared. */
  compare(targets: readonly Answering[]): Promise<number>
  /** Asked anew for every round. */
  startRound(target: Answering, connections: number): Promise<WorkloadRound>
}

interface WorkloadRound {
  readonly requests: Requests
  /** Throws unless the database holds what the answers, all of them good ones, promised. */
  check(result: LoadResult): Promise<void>
}
