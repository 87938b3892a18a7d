import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { PeerBytes } from './peer-bytes.js'

/** Bytes that grpc-js and Node take for each frame, however little it holds. */
const FRAME_OVERHEAD = 256

/** By so much DEFLATE makes bytes less at most (RFC 1951): grpc-js inflates a message before its call has ended. */
const MAX_COMPRESSION = 1032

/** Values of binary metadata of a call. */
const MAX_BINARY_VALUES = 64

/**
 * Bounds what has come of requests that are not whole. A peer holds the memory of what it sends until it sends the rest,
 * which nothing makes it do.
 */
export class UnfinishedRequests {
  readonly #bytes = new PeerBytes()
  /** Makes nothing of the bytes so far: they are of a message that is whole. */
  readonly #whole = new WeakMap<ServerHttp2Stream, () => void>()

  /** To be called when grpc-js listens to the stream, so that it still decides when the stream is read. */
  bound(stream: ServerHttp2Stream, { 'grpc-encoding': encoding = 'identity' }: IncomingHttpHeaders = {}): void {
    const ratio = encoding === 'identity' ? 1 : MAX_COMPRESSION
    const peer = stream.session?.socket.remoteAddress ?? 'no address'
    let held = 0
    const become = (bytes: number): void => {
      this.#bytes.count(peer, bytes - held)
      held = bytes
    }
    const clear = (): void => become(0)
    stream.on('data', (frame: Buffer) => {
      become(held + frame.length * ratio + FRAME_OVERHEAD)
      // gRPC has RESOURCE_EXHAUSTED for the caller.
      if (this.#bytes.isFull(peer)) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    })
    stream.once('end', clear)
    stream.once('close', clear)
    this.#whole.set(stream, clear)
  }

  /** A message of the stream is whole, and others may follow. */
  arrived(stream: ServerHttp2Stream): void {
    this.#whole.get(stream)?.()
  }
}

/** Whether a call has more binary metadata than any needs: grpc-js makes a Buffer of each value. */
export function hasTooMuchMetadata(headers: IncomingHttpHeaders): boolean {
  const binary = Object.entries(headers).flatMap(([name, value]) => (name.endsWith('-bin') ? String(value) : []))
  return binary.join().split(',', MAX_BINARY_VALUES + 1).length > MAX_BINARY_VALUES
}
