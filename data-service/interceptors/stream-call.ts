import type { handleServerStreamingCall, ServerWritableStream } from '@grpc/grpc-js'
import { toRpcStatus } from '../../shared/rpc-status.js'
import { timeOut } from './deadline.js'
import { incomingCall } from './grpc-call.js'
import type { Intercepted } from './intercept.js'
import { asDomainError } from './unary-call.js'

/** Milliseconds after which a stream is given up; undefined for never. */
export interface StreamTimes {
  /** For which no message is ready to be sent. */
  readonly idle: number | undefined
  /** For which the peer has not taken the one before. */
  readonly reader: number | undefined
}

/**
 * An intercepted streaming handler as a grpc-js method. A message is asked for when the one before the last has gone
 * out, so a slow reader slows the database down. Times are of inactivity: each message begins them anew.
 */
export function streamCall<Request, Response>(
  handler: Intercepted<Request, AsyncIterable<Response>>,
  timesOf: (request: Request) => StreamTimes
): handleServerStreamingCall<Request, Response> {
  return (call) => {
    const { incoming, abort, settled } = incomingCall(call)
    const { idle, reader } = timesOf(call.request)
    let timer: NodeJS.Timeout | undefined
    const giveUpAfter = (time: number | undefined): void => {
      clearTimeout(timer)
      if (time !== undefined) timer = setTimeout(() => abort(timeOut()), time)
    }
    const sending = async (): Promise<void> => {
      giveUpAfter(idle)
      // One message on its way while the next one is made: more would only wait in this process's memory.
      let sent = Promise.resolve()
      for await (const message of await handler(incoming, call.request)) {
        giveUpAfter(reader)
        await sent
        sent = send(call, message, incoming.signal)
        giveUpAfter(idle)
      }
      giveUpAfter(reader)
      await sent
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

/** Resolves once the message has left for the peer, which takes no more of a stream than it reads. */
function send<Response>(
  call: ServerWritableStream<unknown, Response>,
  message: Response,
  signal: AbortSignal
): Promise<void> {
  const sent = new Promise<void>((resolve, reject) => {
    // A cancelled call tells nothing of its messages.
    const gone = (): void => reject(signal.reason)
    if (signal.aborted) return gone()
    signal.addEventListener('abort', gone, { once: true })
    call.write(message, (error: Error | null | undefined) => {
      signal.removeEventListener('abort', gone)
      if (error === null || error === undefined) resolve()
      else reject(error)
    })
  })
  // It may fail while the next message is being made, before anybody waits for it.
  sent.catch(() => undefined)
  return sent
}
