import type { TLSSocket } from 'node:tls'
import { throttledAddress } from '../../shared/ip-address.js'

/** Milliseconds between two looks. */
const BYTES_LOOK_MS = 500

/** Bytes that all connections of an address may bring in this time beside their requests. */
const MOST = 512 * 1024

/** Bytes of a stream beside its head and its body: PRIORITY, WINDOW_UPDATE for its answer, and a reset. */
const OF_STREAM = 512

/** Bytes of a flow-control window: a client may still send so much of the body of a request that was answered early. */
const OF_WINDOW = 64 * 1024

/** Bytes of the frame of a piece of a body, beside what it holds and its padding. */
const OF_PIECE = 9 + 256

/** Bytes that a connection of HTTP/2 has brought, and those of them that belong to requests. */
export class ConnectionBytes {
  readonly socket: TLSSocket
  #read: number
  #explained = 0
  #windows = 0

  constructor(socket: TLSSocket) {
    this.socket = socket
    this.#read = socket.bytesRead
  }

  explainPiece(piece: unknown): void {
    this.#explained += OF_PIECE + (Buffer.isBuffer(piece) ? piece.length : 0)
  }

  explainStream(bytesOfHead: number, isWhole: boolean): void {
    this.#explained += OF_STREAM + bytesOfHead
    if (!isWhole) this.#windows += OF_WINDOW
  }

  /** The bytes since the last look that belong to no request, and those of them that may belong to bodies. */
  takeUnexplained(): { readonly bytes: number; readonly ofBodies: number } {
    const fresh = this.socket.bytesRead - this.#read
    this.#read += fresh
    const bytes = Math.max(0, fresh - this.#explained)
    this.#explained = Math.max(0, this.#explained - fresh)
    const ofBodies = Math.min(bytes, this.#windows)
    this.#windows -= ofBodies
    return { bytes, ofBodies }
  }
}

/**
 * Looks for addresses whose connections bring bytes that become no request: heads that Node refuses before anybody hears of
 * them, and frames of no stream. They cost the process as much as requests do, and no other bound counts them.
 */
export class UnexplainedBytes {
  readonly #connections: () => Iterable<ConnectionBytes>
  readonly #timer: NodeJS.Timeout
  readonly #close: (socket: TLSSocket) => void

  /** `close` is called with a connection of such an address. */
  constructor(connections: () => Iterable<ConnectionBytes>, close: (socket: TLSSocket) => void) {
    this.#connections = connections
    this.#close = close
    this.#timer = setInterval(() => this.#look(), BYTES_LOOK_MS).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const ofAddress = new Map<string, { bytes: number; ofBodies: number }>()
    for (const connection of this.#connections()) {
      const { socket } = connection
      const address = throttledAddress(socket.remoteAddress ?? '')
      const { bytes, ofBodies } = connection.takeUnexplained()
      const all = ofAddress.get(address) ?? { bytes: 0, ofBodies: 0 }
      all.bytes += bytes
      all.ofBodies += ofBodies
      ofAddress.set(address, all)
      // That requests were answered early does not make any number of bytes theirs.
      if (all.bytes - Math.min(all.ofBodies, MOST) > MOST && !socket.destroyed) this.#close(socket)
    }
  }
}
