import { join } from 'node:path'
import protobuf from 'protobufjs'
import { packageRoot } from './package-root.js'

// The messages of the stream of calls as protobufjs reads and writes them: what tests compare our own codec with.

export interface WireCall {
  readonly id?: number
  readonly method?: string
  readonly timeoutMs?: number
  readonly credential?: number
  readonly requestId?: string
  readonly traceparent?: string
  readonly clientAddress?: string
  readonly request?: Buffer
  readonly timed?: boolean
}

export interface WireRequestFrame {
  readonly credential?: { readonly slot?: number; readonly authorization?: string }
  readonly call?: WireCall
  readonly cancellation?: { readonly call?: number }
}

export interface WireStatus {
  readonly code: number
  readonly message: string
}

export interface WireResponseFrame {
  readonly answer?: { readonly call?: number; readonly more?: boolean; readonly response?: Buffer }
  readonly failure?: { readonly call?: number; readonly status?: WireStatus }
  readonly unprocessed?: { readonly call?: number }
  readonly times?: { readonly call?: number; readonly dataUs?: number; readonly sqlUs?: number }
}

const root = new protobuf.Root()
root.resolvePath = (_origin, target) =>
  target.startsWith('google/protobuf/') ? target : join(packageRoot, 'proto', target)
root.loadSync('transport/v1/call_stream.proto')
const types = {
  request: root.lookupType('transport.v1.OpenRequest'),
  response: root.lookupType('transport.v1.OpenResponse')
}

export function encodeRequest(...frames: readonly WireRequestFrame[]): Buffer {
  return Buffer.from(types.request.encode(types.request.fromObject({ frames })).finish())
}

export function encodeResponse(...frames: readonly WireResponseFrame[]): Buffer {
  return Buffer.from(types.response.encode(types.response.fromObject({ frames })).finish())
}

/** Members that were not sent are left out. */
export function decodeRequest(message: Buffer): readonly WireRequestFrame[] {
  return framesOf<WireRequestFrame>(types.request, message)
}

/** Members that were not sent are left out. */
export function decodeResponse(message: Buffer): readonly WireResponseFrame[] {
  return framesOf<WireResponseFrame>(types.response, message)
}

function framesOf<Frame>(type: protobuf.Type, message: Buffer): readonly Frame[] {
  // The loaded descriptor gives the shape.
  return (type.toObject(type.decode(message)) as { readonly frames?: readonly Frame[] }).frames ?? []
}
