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
  readonly cpuMsPerRequest: number
  /** undefined where the database runs on another machine. */
  readonly databaseCpuSeconds: number | undefined
  readonly generatorCpuSeconds: number
  /** Peak resident memory of every server process of the target, summed. */
  readonly peakMemoryMiB: number
}
