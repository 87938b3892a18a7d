import { constants, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** By so many a second fewer resets count: a page that cancels what it no longer needs may do so all day. */
const FORGIVEN = 2

export interface ResetLimits {
  /** How many more streams may end in vain than not. */
  readonly resets: number
  /** Whether a stream that has closed was only work. A client may reset with NO_ERROR too. */
  readonly isVain: (stream: ServerHttp2Stream) => boolean
  /** Streams that may be open at a time. */
  readonly streams: number
}

/** Begins a request a turn later: not if its reset came in the same bytes. */
export function unlessReset(stream: ServerHttp2Stream, begin: () => void): void {
  // When a session ends, its streams may emit an error. Until the request has begun, only this listens to its stream.
  stream.on('error', () => undefined)
  const turn = setImmediate(() => {
    if (!stream.closed && !stream.destroyed) begin()
  })
  // Many connections may be read before their turn comes: what has been reset until then is held no longer.
  stream.once('close', () => clearImmediate(turn))
}

/**
 * Ends the connection of too many resets with ENHANCE_YOUR_CALM. A client that opens and resets streams costs work and gets
 * nothing (CVE-2023-44487, rapid reset).
 */
export function boundResets(session: ServerHttp2Session, socket: Socket, limits: ResetLimits): void {
  const { resets: most, streams, isVain } = limits
  let resets = 0
  let since = performance.now()
  let unended = 0
  let isEnding = false
  const check = (): void => {
    // As many as are open may have ended whose last bytes leave just now. Node holds others whose client has closed them.
    if (isEnding || session.destroyed || resets + Math.max(0, unended - 2 * streams) <= most) return
    isEnding = true
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    setImmediate(() => socket.destroy())
  }
  session.on('stream', (stream) => {
    unended += 1
    if (unended > 2 * streams) setImmediate(check)
    stream.once('close', () => {
      unended -= 1
      const now = performance.now()
      const forgiven = ((now - since) / 1000) * FORGIVEN
      since = now
      resets = Math.max(0, resets - forgiven + (isVain(stream) ? 1 : -1))
      check()
    })
  })
}

/** Of the event `stream`; the types of Node leave the lines out: names and values in turn. */
export type StreamArguments = [
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  flags: number,
  rawHeaders: readonly string[]
]

/** Bytes of the names and values of a head. */
export function bytesOfHead(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, { length }) => sum + length, 0)
}
