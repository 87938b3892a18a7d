import { once } from 'node:events'
import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js'
import { toRpcStatus } from '../../shared/rpc-status.js'
import { timeOut } from './deadline.js'
import { incomingCall } from './grpc-call.js'
import type { Intercepted } from './intercept.js'
import { asDomainError } from './unary-call.js'

/**
 * An intercepted streaming handler as a grpc-js method. The next message is asked for when the last one has gone out,
 * so a slow reader slows the database down; `idleTimeout` (milliseconds) ends a stream that makes no progress on either
 * side.
 */
export function streamCall<Request, Response>(
  handler: Intercepted<Request, AsyncIterable<Response>>,
  idleTimeout: (request: Request) => number | undefined
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const { incoming, abort, settled } = incomingCall(call)
    const idle = idleTimeout(call.request)
    const timer =
      idle === undefined
        ? undefined
        : setTimeout(() => {
            abort(timeOut())
          }, idle)
    const sending = async (): Promise<void> => {
      for await (const message of await handler(incoming, call.request)) {
        timer?.refresh()
        await send(call, message, incoming.signal)
        timer?.refresh()
      }
    }
    sending()
      .then(
        () => call.end(),
        (error: unknown) => {
          // grpc-js takes the status of a stream from an error event.
          if (!call.cancelled) call.emit('error', toRpcStatus(asDomainError(error)))
        }
      )
      .finally(() => {
        clearTimeout(timer)
        settled()
      })
      .catch(() => call.destroy())
  }
}

/** Resolves when there is room for another message; rejects with the signal's reason. */
async function send<Response>(
  call: ServerWritableStream<unknown, Response>,
  message: Response,
  signal: AbortSignal
): Promise<void> {
  signal.throwIfAborted()
  if (call.write(message)) return
  try {
    await once(call, 'drain', { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
