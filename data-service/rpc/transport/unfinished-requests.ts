import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { throttledAddress } from '../../../shared/ip-address.js'
import { memoryLimit } from '../../../shared/memory-guard.js'
import { CALL_STREAM } from '../../../shared/transport/call-stream.js'
import { MIB, PeerBytes } from './peer-bytes.js'

/** Bytes that grpc-js and Node take for a call that is open, whatever it sends. */
const OPEN_CALL_BYTES = 16 * 1024

/** Bytes that grpc-js and Node take for each frame, however little it holds. */
const FRAME_OVERHEAD = 256

/** Bytes before each message: whether it is compressed, and its length. */
const MESSAGE_PREFIX = 5

/** Values of binary metadata of a call. */
const MAX_BINARY_VALUES = 64

/**
 * Bounds what has come of requests that are not whole. A peer holds the memory of what it sends until it sends the rest,
 * which nothing makes it do. A call itself and its header lines are held until its HTTP/2 stream is closed: without this
 * bound one address could open 12,800 calls before the first of them begins.
 */
export class UnfinishedRequests {
  readonly #bytes: PeerBytes
  /** Lets go what is held for a message of so many bytes. */
  readonly #read = new WeakMap<ServerHttp2Stream, (bytes: number) => void>()

  constructor(memory = memoryLimit()) {
    const inAll = Math.max(64 * MIB, Math.min(256 * MIB, Math.floor(memory / 4)))
    // A request of the greatest size is always let in.
    this.#bytes = new PeerBytes({ ofPeer: inAll / 2, inAll, always: 3 * MIB })
  }

  /** Whether another call of the peer may begin. If not, the peer is to try again later. */
  admits(stream: ServerHttp2Stream): boolean {
    return !this.#bytes.isFull(peerOfStream(stream))
  }

  /** To be called when grpc-js listens to the stream, so that it still decides when the stream is read. */
  bound(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const peer = peerOfStream(stream)
    const head = OPEN_CALL_BYTES + sizeOf(headers)
    let held = 0
    let isChecked = false
    const become = (bytes: number): void => {
      this.#bytes.count(peer, bytes - held)
      held = bytes
      // The end of a request often comes in the same bytes as the rest of it.
      if (isChecked || !this.#bytes.isFull(peer)) return
      isChecked = true
      setImmediate(() => {
        isChecked = false
        // gRPC has RESOURCE_EXHAUSTED for the caller.
        if (held > head && this.#bytes.isFull(peer)) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
      })
    }
    // Messages of a stream of calls wait in grpc-js while it is paused, also after its end.
    const frames = headers[':path'] === CALL_STREAM.path ? new HeldFrames() : undefined
    const more = (frame: number): number => frames?.add(frame) ?? frame + FRAME_OVERHEAD
    stream.on('data', ({ length }: Buffer) => become(Math.max(held, head) + more(length)))
    if (frames === undefined) stream.once('end', () => become(Math.min(held, head)))
    else this.#read.set(stream, (bytes) => become(Math.max(head, held - frames.letGo(bytes))))
    stream.once('close', () => become(0))
    become(head)
  }

  /** A message of a stream of calls has been read, and others may wait or follow. */
  arrived(stream: ServerHttp2Stream, bytes: number): void {
    this.#read.get(stream)?.(bytes + MESSAGE_PREFIX)
  }
}

interface Frame {
  readonly bytes: number
  next: Frame | undefined
}

/** The frames of a stream of which not all has been read, the oldest first. */
class HeldFrames {
  #first: Frame | undefined
  #last: Frame | undefined
  /** Bytes that were read of the first one and, for a moment, of those that are not here yet. */
  #read = 0

  /** Answers how many bytes more are held. A message may have been read before its last frame is added. */
  add(bytes: number): number {
    const frame: Frame = { bytes, next: undefined }
    if (this.#last === undefined) this.#first = frame
    else this.#last.next = frame
    this.#last = frame
    return bytes + FRAME_OVERHEAD - this.letGo(0)
  }

  /** Answers how many bytes fewer are held after so many have been read. */
  letGo(bytes: number): number {
    this.#read += bytes
    let free = 0
    while (this.#first !== undefined && this.#first.bytes <= this.#read) {
      this.#read -= this.#first.bytes
      free += this.#first.bytes + FRAME_OVERHEAD
      this.#first = this.#first.next
    }
    if (this.#first === undefined) this.#last = undefined
    return free
  }
}

function peerOfStream({ session }: ServerHttp2Stream): string {
  return throttledAddress(session?.socket.remoteAddress ?? '')
}

/** Bytes of the header lines, which grpc-js keeps a copy of. */
function sizeOf(headers: IncomingHttpHeaders): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + 2 * (name.length + String(value).length), 0)
}

/** Whether a call has more binary metadata than any needs: grpc-js makes a Buffer of each value. */
export function hasTooMuchMetadata(headers: IncomingHttpHeaders): boolean {
  const binary = Object.entries(headers).flatMap(([name, value]) => (name.endsWith('-bin') ? String(value) : []))
  return binary.join().split(',', MAX_BINARY_VALUES + 1).length > MAX_BINARY_VALUES
}

/** Whether the messages of a call are compressed: each of a few bytes would be held as two MiB. */
export function isCompressed({ 'grpc-encoding': encoding = 'identity' }: IncomingHttpHeaders): boolean {
  return encoding !== 'identity'
}
