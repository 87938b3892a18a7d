import type { Client } from '../client.js'

/** A kind of user. */
export interface Workload {
  readonly name: string
  /** How many of them there are. */
  readonly clients: number
  /** Makes the rows that they share, before anything breaks. */
  prepare(client: Client): Promise<void>
  /**
   * One piece of work: a create with its retries, a read and the update that rests on it. Ends whatever breaks; leaves what
   * became of it in the history.
   */
  step(client: Client): Promise<void>
}
