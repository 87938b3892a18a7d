import { setTimeout as delay } from 'node:timers/promises'
import { Server, type ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import type { AuthServiceHandlers } from '../../shared/gen/auth/v1/AuthService.js'
import type { ProtoGrpcType as AuthTypes } from '../../shared/gen/auth_service.js'
import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CreateRequest__Output } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteRequest__Output } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import type { EntityServiceHandlers } from '../../shared/gen/entity/v1/EntityService.js'
import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { UpdateRequest__Output } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import type { ProtoGrpcType as EntityTypes } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/wire.js'
import { type Authenticating, keys } from '../auth/authentication.js'
import { login } from '../auth/login.js'
import { refresh, revoke } from '../auth/sessions.js'
import type { CallContext, UnaryHandler } from '../entity/caller.js'
import { describeCatalogue } from './describe.js'
import { exportRows } from './export.js'
import { streamCall, type StreamTimes, unaryCall } from './grpc.js'
import { intercept, type Interceptors, interceptStream, type Target } from './interceptors.js'
import { overridable, type Reading, UNARY_READS } from './reads.js'
import type { Writing } from './write-steps.js'
import { act, create, remove, update } from './writes.js'

export interface DataServiceParts {
  readonly reading: Reading
  readonly writing: Writing
  readonly authenticating: Authenticating
  readonly interceptors: Interceptors
  readonly reflection: boolean
  /** serverCredentials of shared/grpc-security.ts. */
  readonly credentials: ServerCredentials
}

export interface DataService {
  /** Listens at host:port and answers with the port taken, which matters for port 0. */
  listen(address: string): Promise<number>
  /** What the gRPC health of a listening service says, until it drains. */
  setServing(isServing: boolean): void
  /** Whether health is serving. */
  readonly isServing: boolean
  /**
   * Says NOT_SERVING, goes on taking calls until those who watch its health have had the time to turn elsewhere, takes
   * no new one then, waits for those under way, and breaks off what is left after `timeout` milliseconds.
   */
  drain(timeout: number): Promise<void>
}

/** Well above the 1 MiB of a body, so that one too large is refused by us, with its details, and not by the transport. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024

/** Milliseconds that watchers of the health get to send their calls elsewhere. Without any, nobody is waited for. */
const NOTICE = 500

/** Puts the service together and starts nothing. */
export function buildDataService(parts: DataServiceParts): DataService {
  const { reading, writing, authenticating, interceptors, reflection, credentials } = parts
  const { definition, types } = loadProto('entity/v1/entity_service.proto', 'auth/v1/auth_service.proto')
  // What proto-loader made of the files that the types were generated from.
  const { entity, auth } = types as unknown as EntityTypes & AuthTypes
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    // Pages and records are as large as their rows, which MAX_PAGE_SIZE and the entities bound.
    'grpc.max_send_message_length': -1,
    // A gateway keeps one connection and has far fewer calls under way; Node's default has no bound.
    'grpc.max_concurrent_streams': 1000,
    // Node does not notice the end of a connection whose session broke the protocol: a ping that fails closes it.
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5000,
    // A connection without a call for so long serves nobody; a gateway's watch of the health is a call.
    'grpc.max_connection_idle_ms': 300_000
    // Not set: the age of a connection, since gateways spread their calls themselves; the memory of a session, which
    // Node enforces by refusing streams at random (grpc-js turns it off); the size of metadata, which Node bounds to
    // 64 KiB by itself.
  })
  server.addService(entity.v1.EntityService.service, { ...entityService({ reading, writing }, interceptors) })
  server.addService(auth.v1.AuthService.service, { ...authService(authenticating, interceptors) })
  const health = new ServiceHealth()
  health.addTo(server)
  if (reflection) new ReflectionService(definition).addToServer(server)
  let isDraining = false

  return {
    async listen(address) {
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync(address, credentials, (error, bound) => {
          if (error === null) resolve(bound)
          else reject(error)
        })
      })
      health.setServing(true)
      return port
    },
    setServing(isServing) {
      if (!isDraining) health.setServing(isServing)
    },
    get isServing() {
      return health.isServing
    },
    async drain(timeout) {
      isDraining = true
      health.setServing(false)
      const timer = setTimeout(() => server.forceShutdown(), timeout)
      if (health.isWatched) await delay(NOTICE)
      health.endWatches()
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      clearTimeout(timer)
    }
  }
}

/** EntityService for grpc-js: every handler behind its interceptors. */
export function entityService(
  { reading, writing }: { readonly reading: Reading; readonly writing: Writing },
  interceptors: Interceptors
): EntityServiceHandlers {
  const writes = writeHandlers(writing)
  const described = describeCatalogue(reading.planning.catalogue, reading.planning.ownership)
  const unary = <Request, Response>(rpc: string, handler: UnaryHandler<Request, Response>, exempt = false) =>
    unaryCall<Request, Response>(intercept(handler, { rpc, exempt }, interceptors))
  const write = <Request extends Target, Response>(rpc: string, handler: UnaryHandler<Request, Response>) =>
    unaryCall<Request, Response>(intercept(handler, { rpc, target }, interceptors))
  return {
    Describe: unary('Describe', (_: CallContext, _request: object) => Promise.resolve(described), true),
    ...unaryReads(reading, interceptors),
    Export: streamCall(
      interceptStream(
        overridable(reading, exportRows, (overrides) => overrides.export),
        { rpc: 'Export', bounded: (request) => timesOf(request).idle !== undefined },
        interceptors
      ),
      timesOf
    ),
    Create: write('Create', writes.create),
    Update: write('Update', writes.update),
    Delete: write('Delete', writes.delete),
    Act: write('Act', writes.act)
  }
}

type UnaryReads = Pick<EntityServiceHandlers, keyof typeof UNARY_READS>

/** The reads that answer with one message, each entity's overrides in place of the standard handlers. */
function unaryReads(reading: Reading, interceptors: Interceptors): UnaryReads {
  const handlers = Object.entries(UNARY_READS).map(([rpc, handlerOf]) => {
    // UNARY_READS holds each handler to the messages of its rpc; the entries of the table have lost that tie.
    const handler = handlerOf(reading) as UnaryHandler<never, object>
    return [rpc, unaryCall(intercept(handler, { rpc, exempt: false }, interceptors))]
  })
  return Object.fromEntries(handlers) as UnaryReads
}

function target({ resource, id }: Target): Target {
  return id === undefined ? { resource } : { resource, id }
}

function timesOf({ idleTimeoutMs, readerTimeoutMs }: ExportRequest__Output): StreamTimes {
  const idle = idleTimeoutMs > 0 ? idleTimeoutMs : undefined
  return { idle, reader: idle === undefined ? undefined : Math.max(idle, readerTimeoutMs) }
}

/** AuthService for grpc-js. Its calls need no access token: they are how one is come by. */
export function authService(authenticating: Authenticating, interceptors: Interceptors): AuthServiceHandlers {
  const unary = <Request, Response>(rpc: string, handler: UnaryHandler<Request, Response>) =>
    unaryCall<Request, Response>(intercept(handler, { rpc, exempt: true }, interceptors))
  return {
    Login: unary('Login', login(authenticating)),
    Refresh: unary('Refresh', refresh(authenticating)),
    Revoke: unary('Revoke', revoke(authenticating)),
    Keys: unary('Keys', keys(authenticating.issuers))
  }
}

/** Names that health is asked by: each service, and the empty one for the process. All follow the primary database. */
const SERVICES = ['', 'entity.v1.EntityService', 'auth.v1.AuthService']

type Watch = ServerWritableStream<unknown, unknown>

/** The standard health service (grpc.health.v1), with watches that can be ended: they would hold a shutdown up. */
export class ServiceHealth {
  readonly #health = new HealthImplementation(Object.fromEntries(SERVICES.map((name) => [name, 'NOT_SERVING'])))
  readonly #watches = new Set<Watch>()
  #isServing = false

  get isServing(): boolean {
    return this.#isServing
  }

  /** Whether somebody watches, and so hears of a change at once. */
  get isWatched(): boolean {
    return this.#watches.size > 0
  }

  addTo(server: Server): void {
    this.#health.addToServer({
      addService: (definition, { watch, ...others }) => {
        const watching = (call: Watch): void => {
          this.#watches.add(call)
          // grpc-js says so however the call ends.
          call.on('cancelled', () => this.#watches.delete(call))
          const start = watch as (call: Watch) => void
          start(call)
        }
        server.addService(definition, { ...others, watch: watching })
      }
    })
  }

  setServing(isServing: boolean): void {
    this.#isServing = isServing
    for (const name of SERVICES) this.#health.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING')
  }

  endWatches(): void {
    for (const call of this.#watches) call.end()
  }
}

export interface WriteHandlers {
  readonly create: UnaryHandler<CreateRequest__Output, CreateResponse>
  readonly update: UnaryHandler<UpdateRequest__Output, UpdateResponse>
  readonly delete: UnaryHandler<DeleteRequest__Output, DeleteResponse>
  readonly act: UnaryHandler<ActRequest__Output, ActResponse>
}

/** The writes of every resource, each entity's overrides in place of the standard ones. */
export function writeHandlers(writing: Writing): WriteHandlers {
  return {
    create: overridable(writing, create, (overrides) => overrides.create),
    update: overridable(writing, update, (overrides) => overrides.update),
    delete: overridable(writing, remove, (overrides) => overrides.delete),
    act: overridable(writing, act, (overrides) => overrides.act)
  }
}
