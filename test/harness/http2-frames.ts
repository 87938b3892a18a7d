/** Types of frames, and what a client begins with (RFC 9113 sections 3.4 and 6). */
export const DATA = 0
export const HEADERS = 1
export const RST_STREAM = 3
export const SETTINGS = 4
const GOAWAY = 7
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** A frame of HTTP/2 (RFC 9113 section 4.1). */
export function frame(type: number, flags: number, ...[stream, payload]: [stream: number, payload: Buffer]): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.set([type, flags], 3)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The header lines of a gRPC call (RFC 7541): POST and http of the static table, and others that no table keeps. */
export function grpcHead(path: string): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)])
  const named = [
    text(path),
    Buffer.from([0x01]),
    text('authority'),
    Buffer.from([0x0f, 0x10]),
    text('application/grpc')
  ]
  return Buffer.concat([Buffer.from([0x83, 0x86, 0x04]), ...named, Buffer.from([0x00]), text('te'), text('trailers')])
}

/** A message of a gRPC call, as it stands in DATA frames. */
export function grpcMessage(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** The payloads of the frames of a type among the bytes of a server. */
export function framesOf(bytes: Buffer, type: number): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === type) found.push(bytes.subarray(at + 9, at + 9 + bytes.readUIntBE(at, 3)))
  }
  return found
}

/** The error code of the GOAWAY among the bytes of a server. */
export function goAwayCode(bytes: Buffer): number | undefined {
  return framesOf(bytes, GOAWAY)[0]?.readUInt32BE(4)
}
