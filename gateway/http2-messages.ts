import {
  constants,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Stream
} from 'node:http2'

/** Bytes of an answer that are handed to Node at a time, a frame of usual size: Node tells of a whole part that it left. */
const PIECE = 16 * 1024

/**
 * A request of HTTP/2 with the headers that it would have had in HTTP/1.1, which is what everything behind it reads: a
 * `Host` (RFC 9113 section 8.3.1), and the announcement of a body of unknown length, which frames announce here.
 */
export class Request extends Http2ServerRequest {
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    ...[options, rawHeaders]: [options: object, rawHeaders: readonly string[]]
  ) {
    const { ':authority': authority, host, 'content-length': length } = headers
    const lines = rawHeaders.filter((_, index) => !(rawHeaders[index - (index % 2)] ?? '').startsWith(':'))
    // Two that differ are two hosts, and refused as those are.
    if (authority !== undefined && authority !== host) lines.unshift('host', authority)
    headers.host ??= authority
    if (!stream.endAfterHeaders && length === undefined) headers['transfer-encoding'] = 'chunked'
    super(stream, headers, options, lines)
  }
}

/** Bytes of the answer's body that were handed to the stream. */
const passed = new WeakMap<ServerHttp2Stream, number>()

/** Bytes of an answer that the connection has taken. */
export function bytesLeft(stream: ServerHttp2Stream): number {
  return (passed.get(stream) ?? 0) - stream.writableLength
}

/** An answer over HTTP/2 with what those of HTTP/1.1 have and Node's lack. */
export class Response extends Http2ServerResponse {
  constructor(stream: ServerHttp2Stream) {
    super(stream)
    // Node would hand over all that waits as one part.
    Object.defineProperty(stream, '_writev', { value: undefined })
    Object.defineProperties(this, {
      destroyed: { get: () => stream.destroyed || stream.closed },
      // Node ends the writing side of a stream that was reset, which then counts as finished.
      writableFinished: {
        get: () => stream.writableFinished && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR
      }
    })
  }

  /** An answer that is broken off must not look as if it were whole: Node would reset its stream without an error. */
  override destroy(error?: Error): this {
    if (!this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    void error
    return this
  }

  /** In pieces, so that each of them is seen to leave; `end` writes through this too. */
  override write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    const callback = rest.find((one): one is (error?: Error) => void => typeof one === 'function')
    const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8'
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    passed.set(this.stream, (passed.get(this.stream) ?? 0) + bytes.length)
    let from = 0
    for (; bytes.length - from > PIECE; from += PIECE) super.write(bytes.subarray(from, from + PIECE))
    const last = bytes.subarray(from)
    return callback === undefined ? super.write(last) : super.write(last, callback)
  }
}
