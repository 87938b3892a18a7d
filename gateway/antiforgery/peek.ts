import { Readable } from 'node:stream'
import { keepFromFailing } from '../connections.js'

/** The start of a stream, and a stream of the same bytes and all that follow. */
export interface Peeked {
  readonly start: Buffer
  readonly body: Readable
}

/** Reads ahead until the end, or until `bytes` and no further than the piece that completes them. */
export async function peek(source: Readable, bytes: number): Promise<Peeked> {
  const pieces: AsyncIterator<Buffer, undefined> = source.iterator()
  const read: Buffer[] = []
  for (let length = 0; length < bytes;) {
    const { done, value } = await pieces.next()
    if (done === true) break
    read.push(value)
    length += value.length
  }
  const body = keepFromFailing(Readable.from(continued(read, pieces), { objectMode: false }))
  return { start: Buffer.concat(read).subarray(0, bytes), body }
}

/** Ends the source too when whoever reads this gives up. */
async function* continued(read: readonly Buffer[], pieces: AsyncIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
  yield* read
  yield* { [Symbol.asyncIterator]: () => pieces }
}
