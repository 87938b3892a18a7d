import type { Answering } from './compare-answers.js'
import type { Requests } from './load/requests.js'

/** One kind of request, measured at some numbers of connections. */
export interface Workload {
  readonly name: string
  readonly description: string
  /** Numbers of connections to measure at. */
  readonly connections: readonly number[]
  /** Throws unless the targets answer the same; how many answers of each it compared. */
  compare(targets: readonly [Answering, ...Answering[]]): Promise<number>
  /** Asked anew for every round. */
  startRound(connections: number): Promise<WorkloadRound>
}

interface WorkloadRound {
  readonly requests: Requests
  /** Throws unless the database holds what so many good answers, all there were, promised. */
  check(answers: number): Promise<void>
}
