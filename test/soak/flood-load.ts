import { type Socket, connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { frame, grpcHead, grpcMessage, HEADERS, DATA, PREFACE, SETTINGS } from '../harness/http2-frames.js'

/**
 * A worker that is one client which opens many connections from one address, and sends many small requests on each at once.
 * It opens a connection again when it has been closed. It posts how many it has opened.
 */
export interface Flood {
  readonly kind: 'pipelined' | 'h2' | 'grpc'
  readonly port: number
  readonly seconds: number
  readonly connections: number
  /** Requests of each connection at once. */
  readonly requests: number
  /** The message of each gRPC call. */
  readonly message: Uint8Array
}

const flood = workerData as Flood // floods.test.ts gives it
const end = performance.now() + flood.seconds * 1000
const ADDRESS = '127.0.0.61'
/** Milliseconds before a connection that was closed is opened again. */
const RETURN_MS = 20
/** GET, https, an authority and /products/1 (RFC 7541). */
const GET_PRODUCT = Buffer.of(0x82, 0x87, 0x01, 1, 0x61, 0x04, 11, ...Buffer.from('/products/1'))
const END_HEADERS = 4
const END_STREAM = 1

/** The bytes of requests on the HTTP/2 streams from this one. */
function http2Requests(from: number): Buffer {
  const beginning = from === 1 ? [PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))] : []
  const requests = Array.from({ length: flood.requests }, (_, index) => {
    const stream = from + 2 * index
    if (flood.kind === 'h2') return [frame(HEADERS, END_HEADERS | END_STREAM, stream, GET_PRODUCT)]
    const message = grpcMessage(Buffer.from(flood.message))
    return [
      frame(HEADERS, END_HEADERS, stream, grpcHead('/entity.v1.EntityService/Get')),
      frame(DATA, END_STREAM, stream, message)
    ]
  })
  return Buffer.concat([...beginning, ...requests.flat()])
}

function open(): Socket {
  const { port } = flood
  const socket = connect({ host: '127.0.0.1', port, localAddress: ADDRESS })
  return flood.kind === 'h2' ? connectTls({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false }) : socket
}

let opened = 0

/** Connections, one after the other, each with all its requests at once and again each second. */
async function run(): Promise<void> {
  while (performance.now() < end) {
    opened += 1
    const socket = open()
      .on('error', () => undefined)
      .resume()
    const closed = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
    for (let from = 1, isClosed = false; !isClosed && performance.now() < end; from += 2 * flood.requests) {
      socket.write(
        flood.kind === 'pipelined'
          ? 'GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(flood.requests)
          : http2Requests(from)
      )
      isClosed = await Promise.race([closed, wait(1000, false)])
    }
    socket.destroy()
    await wait(RETURN_MS)
  }
}

await Promise.all(Array.from({ length: flood.connections }, run))
parentPort?.postMessage(opened)
