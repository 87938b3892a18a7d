import type { DataCall } from './data-calls.js'
import type { DataReplicas } from './data-replicas.js'
import { AttemptFailure, domainErrorOf, isTransportFailure } from './grpc-failure.js'
import { callMetadata } from './grpc-metadata.js'
import type { Replica, Rpc } from './replica.js'

/** Milliseconds a call may take in all, its repetitions included; sent as the deadline that the SQL honours too. */
export const CALL_DEADLINE = 10_000

/** One unary call: which rpc, on whose behalf, with what. */
export interface UnaryCall<Request, Answer> {
  readonly rpc: Rpc<Request, Answer>
  readonly call: DataCall
  readonly request: Request
}

/** One repetition where the transport itself failed: a read may be asked twice. Failures are DomainErrors. */
export function readUnary<Request, Answer>(replicas: DataReplicas, unary: UnaryCall<Request, Answer>): Promise<Answer> {
  return attempted(replicas, unary, 1)
}

/**
 * A write whose answer is lost may have happened, and is not sent again. One that no data service has begun goes to
 * another replica. Failures are DomainErrors.
 */
export function writeUnary<Request, Answer>(
  replicas: DataReplicas,
  unary: UnaryCall<Request, Answer>
): Promise<Answer> {
  return attempted(replicas, unary, 0)
}

/** Attempts of one call, all within its one deadline, each at another replica as long as there are others. */
async function attempted<Request, Answer>(
  replicas: DataReplicas,
  { rpc, call, request }: UnaryCall<Request, Answer>,
  repetitions: number
): Promise<Answer> {
  const { signal } = call
  const metadata = callMetadata(call)
  const deadline = Date.now() + CALL_DEADLINE
  const avoided = new Set<Replica>()
  for (let left = repetitions, again = false; ;) {
    const replica = await replicas.choose(signal, { avoided, again })
    try {
      return await replica.unary(rpc, request, { metadata, deadline, signal })
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error
      const { cause, maybeSent } = error
      again = left > 0 && isTransportFailure(cause)
      const isOver = signal.aborted || avoided.has(replica) || (maybeSent && !again)
      if (isOver) throw domainErrorOf(cause)
      if (maybeSent) left -= 1
      avoided.add(replica)
    }
  }
}
