import { setTimeout as delay } from 'node:timers/promises'
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  type ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation
} from '@grpc/grpc-js'
import type { ReflectionService } from '@grpc/reflection'
import { HealthImplementation, service as healthService } from 'grpc-health-check'
import { CALL_STREAM } from '../../shared/transport/call-stream.js'
import { DomainError } from '../../shared/errors.js'
import type { AuthServiceHandlers } from '../../shared/gen/auth/v1/AuthService.js'
import type { ProtoGrpcType as AuthTypes } from '../../shared/gen/auth_service.js'
import type { DescribeRequest__Output } from '../../shared/gen/entity/v1/DescribeRequest.js'
import type { ImportRequest__Output } from '../../shared/gen/entity/v1/ImportRequest.js'
import type { DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { EntityServiceDefinition, EntityServiceHandlers } from '../../shared/gen/entity/v1/EntityService.js'
import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ProtoGrpcType as EntityTypes } from '../../shared/gen/entity_service.js'
import { loadMessages, loadProto } from '../../shared/transport/wire.js'
import { type AuthDeps, keys } from '../auth/authentication.js'
import { CountedAttempts } from '../auth/counted-attempts.js'
import { login } from '../auth/login.js'
import { requestOneTimeLink, useOneTimeLink } from '../auth/one-time-links.js'
import { changePassword } from '../auth/password-change.js'
import { PasswordCheck } from '../auth/password-check.js'
import { machineToken } from '../auth/machine-token.js'
import { refresh, revoke, revokeAll } from '../auth/sessions.js'
import { signIn } from '../auth/sign-in.js'
import type { CallContext, UnaryHandler } from '../entity/caller.js'
import {
  CallStreams,
  type FramedMethod,
  framedMethods,
  type StreamClock,
  type UntypedHandlers
} from './transport/call-stream.js'
import { PeerBytes } from './transport/peer-bytes.js'
import { countedExports, countedLogins, countedReplays } from '../observe/counted-handlers.js'
import type { DescribeTo } from '../operations/describe/describe.js'
import type { Operation } from '../entity/define-operation.js'
import type { TypedPackage } from '../typed-services/typed-package.js'
import { exportHandler } from '../operations/export.js'
import { DescribedViews } from './described-views.js'
import type { AccountCalls } from '../operations/calls/account-calls.js'
import { callOperation } from '../operations/calls/call-operation.js'
import { probeServer } from './transport/grpc-inner.js'
import { Connections, MAX_STREAMS } from './transport/connections.js'
import {
  isUnary,
  boundedDecoders,
  streamCall,
  type StreamTimes,
  unaryCall,
  withBytes,
  withUndecodable
} from './transport/grpc.js'
import {
  intercept,
  type Intercepted,
  type Interceptors,
  interceptStream,
  type Target
} from './transport/interceptors.js'
import { withOverrides, type ReadDeps, UNARY_READS } from '../operations/reads.js'
import { boundedReflection } from './transport/reflection.js'
import { typedCalls, typedDefinition } from './typed-calls.js'
import type { WriteDeps } from '../operations/writes/write-steps.js'
import { act } from '../operations/writes/act.js'
import { create, createBatch } from '../operations/writes/create.js'
import { importHandler } from '../operations/writes/import.js'
import { deleteBatch, updateBatch } from '../operations/writes/change-batches.js'
import { remove } from '../operations/writes/delete.js'
import { updateHandler } from '../operations/writes/update.js'

interface ServiceDeps {
  readonly readDeps: ReadDeps
  readonly writeDeps: WriteDeps
  readonly authDeps: AuthDeps
  readonly describeTo: DescribeTo
  /** The resources that are out of service at the moment, with the reasons. Default: none. */
  readonly isolated?: ReadonlyMap<string, string>
  /** Those that the application has beside the uniform ones. */
  readonly operations?: readonly Operation[] | undefined
  /** The handlers of those among them that are the service's own. */
  readonly accounts?: AccountCalls | undefined
  /** Typed services of the entities, beside the generic one. */
  readonly typedServices?: TypedPackage | undefined
  readonly interceptors: Interceptors
  /** undefined: it is not served. */
  readonly reflection: typeof ReflectionService | undefined
  /** As made by serverCredentials of shared/tls.ts. */
  readonly credentials: ServerCredentials
  /** By which a caller that takes nothing is noticed. Default: the clock of the process. */
  readonly streamClock?: StreamClock | undefined
}

interface DataService {
  /** Listens at host:port and answers with the port taken, which matters for port 0. */
  listen(address: string): Promise<number>
  /** What the gRPC health of a listening service says, until it drains. */
  setServing(isServing: boolean): void
  /** Whether health is serving. */
  readonly isServing: boolean
  /** Streams of calls that are open. */
  readonly streams: number
  /** Bytes of answers that callers have not taken. */
  readonly untakenBytes: number
  /**
   * Reports NOT_SERVING and, where it `hasReplicas`, goes on taking calls until the watchers of its health have had time
   * to use another one. Then it takes no new calls, waits for the running ones, and breaks off those that still run after
   * `timeout` milliseconds.
   */
  drain(how: { readonly timeout: number; readonly hasReplicas: boolean }): Promise<void>
}

/** Well above the 1 MiB of a body, so that a body that is too large gets our error with its details and not the transport's. */
const MAX_REQUEST_BYTES = 2 * 1024 * 1024

/** Milliseconds that clients who watch the health get to send their calls elsewhere. Without watchers nothing waits. */
const NOTICE = 500

const FILES = ['entity/v1/entity_service.proto', 'auth/v1/auth_service.proto'] as const
const { definition, types } = loadProto(...FILES)
const loadedMessages = loadMessages(...FILES)
// What proto-loader made of the files that the types were generated from.
const { entity, auth } = types as unknown as EntityTypes & AuthTypes

/** Puts the service together and starts nothing. */
export function buildDataService(deps: ServiceDeps): DataService {
  const { readDeps, writeDeps, authDeps, describeTo, operations = [], accounts, typedServices, interceptors } = deps
  const { reflection, credentials, isolated = new Map<string, string>() } = deps
  const untaken = new PeerBytes(undefined, interceptors.isGateway)
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    // Pages and records are as large as their rows, which MAX_PAGE_SIZE and the entities bound.
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    // Node does not notice the end of a connection whose session broke the protocol: a ping that fails closes it.
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5000,
    // A connection without a call for so long serves nobody; a gateway's watch of the health is a call.
    'grpc.max_connection_idle_ms': 300_000
    // Not set: the age of a connection, since gateways spread their calls themselves; the memory of a session, which
    // Node enforces by refusing streams at random (grpc-js turns it off); the size of metadata, which Node bounds to
    // 64 KiB by itself.
  })
  probeServer(server)
  const entityService = withUndecodable(
    entity.v1.EntityService.service,
    boundedDecoders(loadedMessages, 'entity.v1.EntityService')
  )
  const authService = withUndecodable(
    auth.v1.AuthService.service,
    boundedDecoders(loadedMessages, 'auth.v1.AuthService')
  )
  const { metrics, knowsGateways = false } = interceptors
  const reads = readHandlers(readDeps, metrics)
  const writes = writeHandlers({ readDeps, writeDeps, operations, accounts }, metrics)
  const { required: keyRequired } = writeDeps.idempotency
  const encode = entityService.Describe.responseSerialize
  const ofEntities = untyped(
    entityHandlers(
      { readDeps, describeTo, encode, isolated, operations, writes, keyRequired, knowsGateways },
      interceptors
    )
  )
  const ofAuth = untyped(authHandlers(authDeps, interceptors))
  server.addService(withBytes(entityService), {
    ...unaryCalls(ofEntities, entityService, untaken),
    Export: exportCall({ readDeps, handler: reads.Export, codecs: entityService.Export, untaken }, interceptors)
  })
  server.addService(withBytes(authService), unaryCalls(ofAuth, authService, untaken))
  const generic = { ...reads, ...writes }
  const typed = typedServices === undefined ? [] : typedCalls(typedServices, generic, { interceptors, untaken })
  const unaryPaths = new Set(
    [entityService, authService, ...typed.map(({ service }) => service)].flatMap((service) =>
      Object.values(service).flatMap((rpc) => (isUnary(rpc) ? rpc.path : []))
    )
  )
  const health = new ServiceHealth([...SERVICES, ...typed.map(({ name }) => name)])
  const connections = new Connections((path) => unaryPaths.has(path))
  const streams = new CallStreams({
    methods: new Map([
      ...framedMethods(entityService, ofEntities),
      ...framedMethods(authService, ofAuth),
      health.framedCheck()
    ]),
    untaken,
    isGateway: interceptors.isGateway,
    knowsGateways: interceptors.knowsGateways === true,
    breakOff: (call) => connections.breakOff(call),
    arrived: (call, bytes) => connections.arrived(call, bytes),
    clock: deps.streamClock
  })
  server.addService({ Open: CALL_STREAM }, { Open: streams.open })
  for (const { service, calls } of typed) server.addService(service, calls)
  health.addTo(server)
  if (reflection !== undefined) {
    const shown = typedServices === undefined ? {} : typedDefinition(typedServices)
    new reflection({ ...definition, ...shown }).addToServer(boundedReflection(server))
  }
  let isDraining = false

  return {
    async listen(address) {
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync(address, credentials, (error, bound) => {
          if (error === null) resolve(bound)
          else reject(error)
        })
      })
      // No call can have arrived in between.
      connections.watch(server)
      health.setServing(true)
      return port
    },
    setServing(isServing) {
      if (!isDraining) health.setServing(isServing)
    },
    get isServing() {
      return health.isServing
    },
    get streams() {
      return streams.count
    },
    get untakenBytes() {
      return untaken.bytes
    },
    async drain({ timeout, hasReplicas }) {
      isDraining = true
      health.setServing(false)
      const timer = setTimeout(() => server.forceShutdown(), timeout)
      if (hasReplicas) await health.unwatched(NOTICE)
      health.endWatches()
      streams.drain()
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      clearTimeout(timer)
    }
  }
}

/** The unary rpcs of a service, each behind its interceptors: what every transport calls. Any other rpc is left out. */
type UnaryHandlers<Handlers> = {
  readonly [
    R in keyof Handlers as string extends R
      ? never
      : Handlers[R] extends handleUnaryCall<infer _Request, infer _Response>
        ? R
        : never
  ]: Handlers[R] extends handleUnaryCall<infer Request, infer Response> ? Intercepted<Request, Response> : never
}

/** Drops the types of the messages, for a transport, which finds handlers and the codecs of their messages by name. */
function untyped(handlers: Readonly<Record<string, Intercepted<never, object>>>): UntypedHandlers {
  return handlers as unknown as UntypedHandlers
}

/** The handlers for grpc-js. */
function unaryCalls(
  handlers: UntypedHandlers,
  service: ServiceDefinition,
  untaken: PeerBytes
): UntypedServiceImplementation {
  return Object.fromEntries(
    Object.entries(handlers).flatMap(([name, handler]) => {
      const codecs = service[name]
      return codecs === undefined ? [] : [[name, unaryCall(handler, { codecs, untaken })]]
    })
  )
}

/** EntityService: all rpcs but the export, which is a stream. */
function entityHandlers(
  deps: {
    readonly readDeps: ReadDeps
    readonly describeTo: DescribeTo
    /** The bytes of an answer of Describe. */
    readonly encode: (message: DescribeResponse) => Buffer
    readonly isolated: ReadonlyMap<string, string>
    readonly operations: readonly Operation[]
    readonly writes: WriteHandlers
    readonly keyRequired: boolean
    readonly knowsGateways: boolean
  },
  interceptors: Interceptors
): Omit<UnaryHandlers<EntityServiceHandlers>, 'Describe'> & {
  readonly Describe: Intercepted<DescribeRequest__Output, Buffer>
} {
  const { readDeps, describeTo, encode, isolated, operations, writes, keyRequired, knowsGateways } = deps
  const { catalogue } = readDeps.planning
  const size = { rows: Math.max(2, catalogue.resources('gateway').length) }
  const views = new DescribedViews(encode)
  const describe = (context: CallContext, { asCaller, onlyIsolated }: DescribeRequest__Output): Promise<Buffer> => {
    // A gateway cannot serve anything without its description.
    if (context.peerIsGateway && !asCaller) {
      const told = { isolated: Array.from(isolated, ([resource, reason]) => ({ resource, reason })) }
      if (onlyIsolated) return Promise.resolve(encode(told))
      return views.answer(describeTo.steps('gateway'), { keyRequired, ...told })
    }
    // What anybody may see would take the routes of a gateway whose secret was changed.
    if (context.isRefusedGateway === true && !asCaller) throw refusedGateway()
    // Where no gateway can prove to be one, any caller may be one, and takes its routes from the answer.
    const only = knowsGateways && !context.peerIsGateway ? 'allowed' : undefined
    return readDeps.shares.admit(context, size, () =>
      views.answer(describeTo.steps(context.caller, only), { keyRequired }, context.cancellation)
    )
  }
  const resource = resourceIn(readDeps)
  const operationNames = new Set(operations.map(({ name }) => name))
  const write = <Request extends Target, Response>(rpc: string, handler: UnaryHandler<Request, Response>) =>
    intercept<Request, Response>(handler, { rpc, resource, target }, interceptors)
  const goesOn = ({ firstRow, forget }: ImportRequest__Output): boolean => firstRow > 0 || forget
  return {
    Describe: intercept(describe, { rpc: 'Describe' }, interceptors),
    ...unaryReads(readDeps, interceptors),
    Create: write('Create', writes.Create),
    CreateBatch: write('CreateBatch', writes.CreateBatch),
    Import: intercept(writes.Import, { rpc: 'Import', resource, target, goesOn }, interceptors),
    Update: write('Update', writes.Update),
    UpdateBatch: write('UpdateBatch', writes.UpdateBatch),
    Delete: write('Delete', writes.Delete),
    DeleteBatch: write('DeleteBatch', writes.DeleteBatch),
    Act: write('Act', writes.Act),
    Call: intercept(
      writes.Call,
      {
        rpc: 'Call',
        resource: ({ operation }) => (operationNames.has(operation) ? operation : undefined),
        target: ({ operation }) => ({ resource: operation })
      },
      interceptors
    )
  }
}

function refusedGateway(): DomainError {
  return new DomainError('upstream.unavailable', 'The data service has another GATEWAY_SECRET than the caller sends.')
}

type WriteHandlers = ReturnType<typeof writeHandlers>

/** The writes, each entity's overrides in place of the standard handlers, and the operations of the application. */
function writeHandlers(deps: Parameters<typeof callOperation>[0], metrics: Interceptors['metrics']) {
  const { writeDeps } = deps
  const inTurn =
    <Request extends { readonly body: Uint8Array }, Response>(
      handler: UnaryHandler<Request, Response>
    ): UnaryHandler<Request, Response> =>
    (context, request) =>
      writeDeps.shares.inTurn(context, request.body, () => handler(context, request))
  const counted = <
    Request extends Target & { readonly body: Uint8Array },
    Response extends { readonly replayed?: boolean }
  >(
    handler: UnaryHandler<Request, Response>
  ) => countedReplays(inTurn(handler), ({ resource }) => resource, metrics)
  return {
    Create: counted(withOverrides(writeDeps, create, (overrides) => overrides.create)),
    CreateBatch: counted(withOverrides(writeDeps, createBatch, (overrides) => overrides.batch)),
    Import: countedReplays(importHandler(writeDeps), ({ resource }) => resource, metrics),
    Update: counted(updateHandler(writeDeps)),
    UpdateBatch: counted(withOverrides(writeDeps, updateBatch, (overrides) => overrides.updateBatch)),
    Delete: withOverrides(writeDeps, remove, (overrides) => overrides.delete),
    DeleteBatch: counted(withOverrides(writeDeps, deleteBatch, (overrides) => overrides.deleteBatch)),
    Act: counted(withOverrides(writeDeps, act, (overrides) => overrides.act)),
    Call: countedReplays(inTurn(callOperation(deps)), ({ operation }) => operation, metrics)
  }
}

/** The reads without their interceptors, for typed calls, which have their own. */
function readHandlers(deps: ReadDeps, metrics: Interceptors['metrics']) {
  return {
    Page: UNARY_READS.Page(deps),
    Lookup: UNARY_READS.Lookup(deps),
    Get: UNARY_READS.Get(deps),
    GetBy: UNARY_READS.GetBy(deps),
    Read: UNARY_READS.Read(deps),
    Totals: UNARY_READS.Totals(deps),
    Export: countedExports(exportHandler(deps), metrics)
  }
}

type UnaryReads = Pick<UnaryHandlers<EntityServiceHandlers>, keyof typeof UNARY_READS>

/** The reads that answer with one message, each entity's overrides in place of the standard handlers. */
/** A handler has the messages of its rpc. The service's type has a member for any other name besides, which is left out. */
type HandlersOfReads = {
  readonly [R in keyof EntityServiceHandlers as string extends R ? never : R]?: (
    deps: ReadDeps
  ) => EntityServiceHandlers[R] extends handleUnaryCall<infer Request, infer Response>
    ? UnaryHandler<Request, Response>
    : never
}

function unaryReads(readDeps: ReadDeps, interceptors: Interceptors): UnaryReads {
  const resource = resourceIn(readDeps)
  const handlers = Object.entries(UNARY_READS satisfies HandlersOfReads).map(([rpc, handlerOf]) => {
    // UNARY_READS holds each handler to the messages of its rpc; the entries of the table have lost that tie.
    const handler = handlerOf(readDeps) as UnaryHandler<{ readonly resource: string }, object>
    return [rpc, intercept(handler, { rpc, resource, exempt: false }, interceptors)]
  })
  return Object.fromEntries(handlers) as UnaryReads
}

function exportCall(
  {
    readDeps,
    handler,
    codecs,
    untaken
  }: {
    readonly readDeps: ReadDeps
    readonly handler: ReturnType<typeof exportHandler>
    readonly codecs: EntityServiceDefinition['Export']
    readonly untaken: PeerBytes
  },
  interceptors: Interceptors
): UntypedServiceImplementation[string] {
  return streamCall(
    interceptStream(
      handler,
      {
        rpc: 'Export',
        resource: resourceIn(readDeps),
        bounded: (request) => timesOf(request).idle !== undefined
      },
      interceptors
    ),
    { codecs, untaken, timesOf }
  )
}

/** The resource of a request if there is one of that name, for the log. */
function resourceIn({
  planning: { catalogue }
}: ReadDeps): (request: { readonly resource: string }) => string | undefined {
  const names = new Set(catalogue.resources('gateway').map(({ entity }) => entity.name))
  return ({ resource }) => (names.has(resource) ? resource : undefined)
}

/** The resource and the row of a write, for the log. A value of a property stays out of it: it may be an e-mail address. */
function target({ resource, id, property }: Target): Target {
  if (property !== undefined) return { resource, property }
  return id === undefined ? { resource } : { resource, id }
}

function timesOf({ idleTimeoutMs, readerTimeoutMs }: ExportRequest__Output): StreamTimes {
  const idle = idleTimeoutMs > 0 ? idleTimeoutMs : undefined
  return { idle, reader: idle === undefined ? undefined : Math.max(idle, readerTimeoutMs) }
}

/** AuthService. Its calls need no access token: callers get their access tokens from them. */
function authHandlers(authDeps: AuthDeps, interceptors: Interceptors): UnaryHandlers<AuthServiceHandlers> {
  const unary = <Request, Response>(rpc: string, handler: UnaryHandler<Request, Response>) =>
    intercept<Request, Response>(handler, { rpc, exempt: true }, interceptors)
  const { metrics } = interceptors
  const attempts = new CountedAttempts(authDeps)
  const passwords = new PasswordCheck(authDeps, attempts)
  return {
    Login: unary('Login', countedLogins(login(authDeps, passwords), 'password', metrics)),
    SignIn: unary('SignIn', countedLogins(signIn(authDeps, attempts), 'provider', metrics)),
    Refresh: unary('Refresh', refresh(authDeps)),
    Revoke: unary('Revoke', revoke(authDeps)),
    RevokeAll: unary('RevokeAll', revokeAll(authDeps)),
    ChangePassword: unary('ChangePassword', changePassword(authDeps, passwords)),
    RequestOneTimeLink: unary('RequestOneTimeLink', requestOneTimeLink(authDeps, attempts)),
    UseOneTimeLink: unary('UseOneTimeLink', useOneTimeLink(authDeps, attempts)),
    Token: unary('Token', countedLogins(machineToken(authDeps, attempts), 'machine', metrics)),
    Keys: unary('Keys', keys(authDeps.issuers))
  }
}

/** The names in requests for the health: each service, and the empty name for the process. All follow the primary database. */
const SERVICES = ['', 'entity.v1.EntityService', 'auth.v1.AuthService']

type Watch = ServerWritableStream<unknown, unknown>

// grpc-health-check loads this method from its own proto file and types it loosely.
const checkRpc = healthService['Check'] as unknown as MethodDefinition<object, { readonly status: string }>

/** The standard health service (grpc.health.v1). It can end its watches, which would otherwise delay a shutdown. */
class ServiceHealth {
  readonly #names: readonly string[]
  readonly #health: HealthImplementation
  readonly #watches = new Set<Watch>()
  /** Aborted when the last watch ends; another one for the watches that come after. */
  #lastEnded = new AbortController()
  #isServing = false

  constructor(names: readonly string[]) {
    this.#names = names
    this.#health = new HealthImplementation(Object.fromEntries(names.map((name) => [name, 'NOT_SERVING'])))
  }

  get isServing(): boolean {
    return this.#isServing
  }

  /** Resolves when no client watches the health, and so gets changes at once; at the latest after so many milliseconds. */
  async unwatched(timeout: number): Promise<void> {
    if (this.#watches.size === 0) return
    const { signal } = this.#lastEnded
    await delay(timeout, undefined, { signal }).catch(() => undefined)
  }

  addTo(server: Server): void {
    this.#health.addToServer({
      addService: (definition, { watch, ...others }) => {
        const watching = (call: Watch): void => {
          if (this.#watches.size === 0) this.#lastEnded = new AbortController()
          this.#watches.add(call)
          // grpc-js emits this event however the call ends.
          call.on('cancelled', () => {
            this.#watches.delete(call)
            if (this.#watches.size === 0) this.#lastEnded.abort()
          })
          const start = watch as (call: Watch) => void
          start(call)
        }
        server.addService(definition, { ...others, watch: watching })
      }
    })
  }

  /**
   * `Check` as a call in frames, so that a gateway learns whether its calls arrive. All names have the same health, so the
   * request is not looked at. It is not logged and not counted, as the method itself is not.
   */
  framedCheck(): readonly [string, FramedMethod] {
    const { path, responseSerialize } = checkRpc
    return [path, () => Promise.resolve(responseSerialize({ status: this.#isServing ? 'SERVING' : 'NOT_SERVING' }))]
  }

  setServing(isServing: boolean): void {
    this.#isServing = isServing
    for (const name of this.#names) this.#health.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING')
  }

  endWatches(): void {
    for (const call of this.#watches) call.end()
  }
}
