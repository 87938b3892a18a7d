import type { Requests } from './requests.js'

/** What one round sends. */
export interface Load {
  readonly origin: string
  /** Each connection has one request under way at a time, and sends the next when its answer is complete. */
  readonly connections: number
  readonly requests: Requests
  /** No request starts after this; those under way are waited for. */
  readonly seconds: number
}

/** What came back. */
export interface LoadResult {
  /** From the first request to the last answer. */
  readonly elapsedSeconds: number
  /** Of every request, from its first byte out to its last byte in. */
  readonly latenciesMs: readonly number[]
  readonly bodyBytes: number
  /** Answers with another status than 201 to a create, and 200 to all else. */
  readonly rejected: number
  /** Status line of the first of them. */
  readonly rejection: string
  /** CPU of the generator itself, so that a reader sees how much of the machine it took. */
  readonly generatorCpuSeconds: number
}
