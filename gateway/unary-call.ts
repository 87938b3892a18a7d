import type { CallOptions, ClientUnaryCall, Metadata, requestCallback } from '@grpc/grpc-js'
import type { DataCall } from './data-calls.js'
import { domainErrorOf, isTransportFailure } from './grpc-failure.js'
import { callMetadata } from './grpc-metadata.js'

/** Milliseconds a call may take in all, its one repetition included; sent as the deadline that the SQL honours too. */
export const CALL_DEADLINE = 10_000

/** A list of 1000 rows with their children passes grpc's own limit of 4 MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

/** Clients of one address with the same options share a connection. */
export const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5000
}

/** A method of a generated client. */
type StartUnary<Request, Answer> = (
  request: Request,
  metadata: Metadata,
  ...rest: [options: CallOptions, callback: requestCallback<Answer>]
) => ClientUnaryCall

/** One repetition where the transport itself failed: a read may be asked twice. Failures are DomainErrors. */
export async function readUnary<Request, Answer>(
  call: DataCall,
  request: Request,
  start: StartUnary<Request, Answer>
): Promise<Answer> {
  const attempt = attempts(call, request, start)
  return await understood(
    attempt().catch((error: unknown) => {
      if (isTransportFailure(error) && !call.signal.aborted) return attempt()
      throw error
    })
  )
}

/** No repetition: a write whose answer is lost may have happened. Failures are DomainErrors. */
export async function writeUnary<Request, Answer>(
  call: DataCall,
  request: Request,
  start: StartUnary<Request, Answer>
): Promise<Answer> {
  return await understood(attempts(call, request, start)())
}

/** Makes attempts of one call, all within its one deadline. */
function attempts<Request, Answer>(
  call: DataCall,
  request: Request,
  start: StartUnary<Request, Answer>
): () => Promise<Answer> {
  const metadata = callMetadata(call)
  const deadline = Date.now() + CALL_DEADLINE
  return () => unary(call.signal, (callback) => start(request, metadata, { deadline }, callback))
}

async function understood<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    throw domainErrorOf(error)
  }
}

function unary<Answer>(
  signal: AbortSignal,
  start: (callback: requestCallback<Answer>) => ClientUnaryCall
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const running = start((error, answer) => {
      signal.removeEventListener('abort', cancel)
      if (error === null && answer !== undefined) resolve(answer)
      else reject(error ?? new Error('The data service answered nothing.'))
    })
    const cancel = (): void => running.cancel()
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel)
  })
}
