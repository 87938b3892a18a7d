import { type ClientReadableStream, Metadata } from '@grpc/grpc-js'
import { DomainError } from '../../shared/errors.js'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { CLIENT_ADDRESS_METADATA } from '../../shared/tls.js'
import { loadProto } from '../../shared/wire.js'
import type * as Data from './data-calls.js'
import type { DataCall, DataClient, ExportPart } from './data-calls.js'
import { AttemptFailure, domainErrorOf, isTransportFailure, type Replica, type Rpc } from './replica.js'
import type { DataReplicas } from './replicas.js'

// The definition loaded beside the generated types is what they describe.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service } = entity.v1.EntityService

/** The only user of the generated EntityService definition. The replicas are the caller's to close. */
export class GrpcDataClient implements DataClient {
  readonly #replicas: DataReplicas

  constructor(replicas: DataReplicas) {
    this.#replicas = replicas
  }

  describe(signal: AbortSignal): Promise<Data.CatalogueAnswer> {
    const call = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
    return readUnary(this.#replicas, { rpc: service.Describe, call, request: {} })
  }

  list(call: DataCall, request: Data.ListMessage): Promise<Data.ListAnswer> {
    return readUnary(this.#replicas, { rpc: service.List, call, request })
  }

  page(call: DataCall, request: Data.PageMessage): Promise<Data.PageAnswer> {
    return readUnary(this.#replicas, { rpc: service.Page, call, request })
  }

  lookup(call: DataCall, request: Data.LookupMessage): Promise<Data.LookupAnswer> {
    return readUnary(this.#replicas, { rpc: service.Lookup, call, request })
  }

  get(call: DataCall, request: Data.GetMessage): Promise<Data.GetAnswer> {
    return readUnary(this.#replicas, { rpc: service.Get, call, request })
  }

  read(call: DataCall, request: Data.ReadMessage): Promise<Data.ReadAnswer> {
    return readUnary(this.#replicas, { rpc: service.Read, call, request })
  }

  export(call: DataCall, request: Data.ExportMessage): AsyncIterable<Data.ExportPart> {
    return exportParts({
      start: async (how) => {
        const replica = await this.#replicas.choose(call.signal, how)
        return { replica, stream: replica.stream(service.Export, request, callMetadata(call)) }
      },
      signal: call.signal,
      idleTimeout: request.idleTimeoutMs ?? CALL_DEADLINE
    })
  }

  create(call: DataCall, request: Data.CreateMessage): Promise<Data.CreateAnswer> {
    return writeUnary(this.#replicas, { rpc: service.Create, call, request })
  }

  update(call: DataCall, request: Data.UpdateMessage): Promise<Data.UpdateAnswer> {
    return writeUnary(this.#replicas, { rpc: service.Update, call, request })
  }

  async delete(call: DataCall, request: Data.DeleteMessage): Promise<void> {
    await writeUnary(this.#replicas, { rpc: service.Delete, call, request })
  }

  act(call: DataCall, request: Data.ActMessage): Promise<Data.ActAnswer> {
    return writeUnary(this.#replicas, { rpc: service.Act, call, request })
  }

  isReachable(): boolean {
    return this.#replicas.isServing
  }

  onConnected(listener: () => void): void {
    this.#replicas.onServing(listener)
  }
}

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

/** How to run an export. */
export interface ExportRun {
  /** Begins it at a replica that is none of `avoided`, unless `again` allows that where no other serves. */
  readonly start: (how: { avoided: ReadonlySet<Replica>; again: boolean }) => Promise<StartedExport>
  readonly signal: AbortSignal
  /** Milliseconds to wait for the next part before giving up with `upstream.timeout`. */
  readonly idleTimeout: number
}

export interface StartedExport {
  readonly replica: Replica
  readonly stream: ClientReadableStream<ExportPart>
}

/**
 * The parts of an export as they are pulled: grpc-js asks its peer for more only when the stream is read. However the
 * iteration ends, the rpc ends with it. An export is a read: where the transport failed before the first part, it is
 * begun once more, at another replica if there is one.
 */
export async function* exportParts(run: ExportRun): AsyncGenerator<ExportPart, void, void> {
  const first = await run.start({ avoided: new Set(), again: false })
  let begun = false
  try {
    for await (const part of partsOf(first.stream, run)) {
      begun = true
      yield part
    }
    return
  } catch (error) {
    if (begun || !isTransportFailure(error) || run.signal.aborted) throw domainErrorOf(error)
  }
  const second = await run.start({ avoided: new Set([first.replica]), again: true })
  try {
    yield* partsOf(second.stream, run)
  } catch (error) {
    throw domainErrorOf(error)
  }
}

async function* partsOf(
  call: ClientReadableStream<ExportPart>,
  { signal, idleTimeout }: ExportRun
): AsyncGenerator<ExportPart, void, void> {
  // A cancelled call emits its status after the iteration has left: an `error` nobody listens to would end the process.
  call.on('error', () => {})
  const cancel = (): void => call.cancel()
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()

  let timedOut = false
  const giveUp = (): void => {
    timedOut = true
    cancel()
  }
  let timer = setTimeout(giveUp, idleTimeout)
  try {
    for await (const part of call as AsyncIterable<ExportPart>) {
      clearTimeout(timer)
      yield part
      timer = setTimeout(giveUp, idleTimeout)
    }
  } catch (error) {
    if (!timedOut) throw error
    throw new DomainError('upstream.timeout', 'The data service did not answer in time.', { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/**
 * A token this long would pass what an HTTP/2 peer takes in headers and cost every other call its connection; no token
 * of an issuer we accept comes near it.
 */
const MAX_AUTHORIZATION = 8 * 1024

/** What gRPC may carry as text: visible ASCII and spaces. */
const METADATA_TEXT = /^[\x20-\x7e]*$/

export function callMetadata(call: DataCall): Metadata {
  const metadata = new Metadata()
  if (call.authorization !== undefined) metadata.set('authorization', carriable(call.authorization))
  metadata.set('x-request-id', call.requestId)
  if (call.clientAddress !== undefined) metadata.set(CLIENT_ADDRESS_METADATA, call.clientAddress)
  if (call.traceparent !== undefined) metadata.set('traceparent', call.traceparent)
  return metadata
}

/** An `Authorization` that cannot be carried holds no valid token either, so it is refused as one. */
function carriable(authorization: string): string {
  if (authorization.length <= MAX_AUTHORIZATION && METADATA_TEXT.test(authorization)) return authorization
  throw new DomainError('auth.invalid-token', 'The access token is not a well-formed JWT.')
}
