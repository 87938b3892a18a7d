import type { WriteLedger } from './write-ledger.js'

/** What the workloads that write work with. */
export interface WriteBench {
  /** Ids of the table go from 1 to this. */
  readonly products: number
  readonly categories: readonly number[]
  readonly token: string
  readonly ledger: WriteLedger
}

/** Numbers of connections to write over. */
export const WRITE_CONNECTIONS = [32, 128]

/** How many rows are written by every target before anything is measured. */
export const ROWS_COMPARED = 10

/** Throws unless a count is as it should be. */
export function assertCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${expected} acknowledged writes, but ${found} ${what}`)
}
