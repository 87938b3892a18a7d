import { isIP } from 'node:net'
import type { Metadata, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { CLIENT_ADDRESS_METADATA, GATEWAY_SECRET_METADATA } from '../../shared/grpc-security.js'
import { callerGone, timeOut } from './deadline.js'
import type { IncomingCall } from './incoming-call.js'

type GrpcCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>

/** A grpc-js call as the interceptors see it. `abort` stops it; `settled` tells it that nothing is to be stopped. */
export function incomingCall(call: GrpcCall): {
  readonly incoming: IncomingCall
  abort(reason: Error): void
  settled(): void
} {
  const controller = new AbortController()
  const deadline = Number(call.getDeadline())
  let running = true
  const abort = (reason: () => Error): void => {
    if (running) controller.abort(reason())
    running = false
  }
  // grpc-js says so for a client that cancels or goes away and for a deadline that passes, and after each end too.
  call.on('cancelled', () => {
    abort(Date.now() >= deadline ? timeOut : callerGone)
  })
  return {
    incoming: {
      authorization: texts(call.metadata, 'authorization'),
      requestId: texts(call.metadata, 'x-request-id')[0],
      peerAddress: addressOf(call.getPeer()),
      clientAddress: texts(call.metadata, CLIENT_ADDRESS_METADATA)[0],
      gatewaySecrets: texts(call.metadata, GATEWAY_SECRET_METADATA),
      // grpc-js shows only what was verified.
      peerCertificate: () => call.getAuthContext().sslPeerCertificate?.raw,
      traceparent: texts(call.metadata, 'traceparent')[0],
      deadline,
      signal: controller.signal
    },
    abort: (reason) => {
      abort(() => reason)
    },
    settled: () => {
      running = false
    }
  }
}

/** Of `127.0.0.1:1234` or `[::1]:1234`. */
function addressOf(peer: string): string | undefined {
  const host = peer.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? undefined : host
}

function texts(metadata: Metadata, name: string): string[] {
  return metadata.get(name).map(String)
}
