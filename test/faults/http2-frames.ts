/** Raw HTTP/2 (RFC 9113), written by hand so that every rule of it can be broken. */

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9
} as const

export const FLAG = { endStream: 1, ack: 1, endHeaders: 4, padded: 8 } as const

interface Frame {
  readonly type: number
  readonly flags?: number
  readonly stream?: number
  readonly payload?: Buffer
  /** What the frame says of its payload's length; default: the truth. */
  readonly length?: number
}

export function frame({
  type,
  flags = 0,
  stream = 0,
  payload = Buffer.alloc(0),
  length = payload.length
}: Frame): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(length & 0xffffff, 0, 3)
  head.writeUInt8(type & 0xff, 3)
  head.writeUInt8(flags & 0xff, 4)
  head.writeUInt32BE(stream >>> 0, 5)
  return Buffer.concat([head, payload])
}

export type Header = readonly [name: string, value: string]

/** HPACK (RFC 7541) without tables and Huffman codes: each header as a literal. */
export function headerBlock(headers: readonly Header[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]))
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([integer(bytes.length), bytes])
}

/** An integer with a prefix of seven bits. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

/** A header block in a HEADERS frame and as many CONTINUATION frames as it takes. */
export function headersFrames(stream: number, headers: readonly Header[], flags = 0): Buffer {
  const block = headerBlock(headers)
  const pieces: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += 16_384) pieces.push(block.subarray(at, at + 16_384))
  return Buffer.concat(
    pieces.map((payload, n) =>
      frame({
        type: n === 0 ? TYPE.headers : TYPE.continuation,
        flags: (n === 0 ? flags : 0) | (n === pieces.length - 1 ? FLAG.endHeaders : 0),
        stream,
        payload
      })
    )
  )
}

/** Identifier and value of each setting. */
export function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length)
  for (const [n, [id, value]] of pairs.entries()) {
    payload.writeUInt16BE(id, 6 * n)
    payload.writeUInt32BE(value >>> 0, 6 * n + 2)
  }
  return frame({ type: TYPE.settings, payload })
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** A message as gRPC frames it; `flag` and `length` may lie. */
export function grpcMessage(message: Buffer, { flag = 0, length = message.length } = {}): Buffer {
  return Buffer.concat([Buffer.from([flag]), uint32(length), message])
}
