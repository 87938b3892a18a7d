import type { Link, Protocol } from '../link.js'
import type { Fault } from './fault.js'
import { broken, type CountedBreakage } from './links.js'

/** What a client sends that a cut waits for. */
interface Sent {
  /** Completes "cut within …": `a statement`. */
  readonly name: string
  /** Told by the bytes of one read, which begin and end anywhere. */
  isIn(bytes: Buffer): boolean
}

/** Bytes of what is more than a frame of HTTP/2 about the connection itself. */
const LEAST_CALL = 48
/** The command of a packet of MySQL with a statement, after three bytes of its length and its number (COM_QUERY). */
const COM_QUERY = 3
/** Methods as they stand in the frames of calls. */
const WRITE_CALL = /\/entity\.v1\.EntityService\/(?:Create|CreateBatch|Update|Delete|Act)(?!\w)/
const WRITE_REQUEST = /^(?:POST|PUT|PATCH|DELETE) /

const SENT: Readonly<Record<Protocol, readonly Sent[]>> = {
  http: [
    { name: 'a request', isIn: () => true },
    { name: 'a write', isIn: (bytes) => WRITE_REQUEST.test(bytes.toString('latin1', 0, 8)) }
  ],
  calls: [
    { name: 'a call', isIn: (bytes) => bytes.length >= LEAST_CALL },
    { name: 'a call that writes', isIn: (bytes) => WRITE_CALL.test(bytes.toString('latin1')) }
  ],
  mysql: [
    { name: 'a statement', isIn: (bytes) => bytes[4] === COM_QUERY },
    // The one moment whose outcome nobody knows.
    { name: 'COMMIT', isIn: (bytes) => bytes.includes('COMMIT') }
  ]
}

/** How likely each occasion is taken while the fault lasts. */
const TAKEN = 0.4

/**
 * Each connection is cut at each step of its protocol: before what the client sends, within it, before the answer and within
 * the answer. Of what is cut within, the receiver gets the first bytes.
 */
export function cutFaults(links: readonly Link[]): Fault[] {
  return links.flatMap((link) =>
    SENT[link.protocol].flatMap((sent) =>
      (['before', 'within'] as const).flatMap((moment) =>
        ([false, true] as const).map((ofAnswer): Fault => {
          const kind = `cut ${moment} ${ofAnswer ? `the answer to ${sent.name}` : sent.name}`
          return {
            kind,
            name: `${kind}, ${link.name}`,
            target: link.name,
            inject: (random) => broken(link, cutAt({ sent, moment, ofAnswer, random }))
          }
        })
      )
    )
  )
}

function cutAt(step: {
  readonly sent: Sent
  readonly moment: 'before' | 'within'
  readonly ofAnswer: boolean
  readonly random: () => number
}): CountedBreakage {
  const { sent, moment, ofAnswer, random } = step
  return (hit) => () => {
    let isAwaited = false
    return async (bytes, passage) => {
      const isBegun = passage.from === 'client' && sent.isIn(bytes) && random() < TAKEN
      const isNow = ofAnswer ? passage.from === 'server' && isAwaited : isBegun
      if (isBegun) isAwaited = true
      if (!isNow) {
        await passage.pass(bytes)
        return
      }
      hit()
      const length = moment === 'before' ? 0 : Math.min(bytes.length - 1, Math.ceil(random() * bytes.length))
      passage.cut(bytes.subarray(0, length))
    }
  }
}
