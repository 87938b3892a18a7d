import type { Socket } from 'node:net'
import { MysqlProxy } from './mysql-proxy.js'

/**
 * What happens to the next COMMIT or ROLLBACK: it is lost on its way, or its answer is, or the answer waits until `letThrough`.
 */
type CommitFate = 'passes' | 'is lost' | 'answer is lost' | 'answer waits'

/** What ends a transaction. */
type Ending = 'COMMIT' | 'ROLLBACK'

/** Cuts connections exactly at the end of a transaction. */
export class CommitProxy extends MysqlProxy {
  #fate: CommitFate = 'passes'
  #of: Ending = 'COMMIT'
  #letThrough = (): void => undefined
  readonly #opened = new Promise<void>((resolve) => {
    this.#letThrough = resolve
  })
  #commits = 0

  /** COMMITs that reached the server. */
  get commits(): number {
    return this.#commits
  }

  /** For the next COMMIT alone, or the next ROLLBACK. */
  next(fate: CommitFate, of: Ending = 'COMMIT'): void {
    this.#fate = fate
    this.#of = of
  }

  letThrough(): void {
    this.#letThrough()
  }

  protected override connected(client: Socket, server: Socket): void {
    let held: CommitFate = 'passes'
    let answers = 0
    client.on('data', (data) => {
      if (data.subarray(5).toString() === this.#of || (this.#of === 'COMMIT' && data.includes('THEN COMMIT'))) {
        held = this.#fate
        // Those of the statements before it come first, if it was sent together with them.
        answers = packetsOf(data)
        this.#fate = 'passes'
        if (held === 'is lost') {
          client.destroy()
          return
        }
        if (this.#of === 'COMMIT') this.#commits += 1
      }
      server.write(data)
    })
    server.on('data', (data) => {
      answers -= packetsOf(data)
      const fate = answers > 0 ? 'passes' : held
      if (answers <= 0) held = 'passes'
      if (fate === 'answer is lost') client.destroy()
      else if (fate === 'answer waits') void this.#opened.then(() => client.write(data))
      else client.write(data)
    })
  }
}

/** Of a chunk that begins and ends with a packet, as it does on the way of small statements and answers. */
function packetsOf(data: Buffer): number {
  let count = 0
  for (let at = 0; at + 4 <= data.length; at += 4 + data.readUIntLE(at, 3)) count += 1
  return count
}
