import { setTimeout as delay } from 'node:timers/promises'
import { Server, type ServerCredentials } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import type { ProtoGrpcType as AuthTypes } from '../shared/gen/auth_service.js'
import type { ProtoGrpcType as EntityTypes } from '../shared/gen/entity_service.js'
import { loadProto } from '../shared/load-proto.js'
import type { Authenticating } from './auth/authenticating.js'
import { authService } from './auth-service.js'
import { entityService } from './entity-service.js'
import { ServiceHealth } from './health.js'
import type { Interceptors } from './interceptors/intercept.js'
import type { Reading } from './rpc/reading.js'
import type { Writing } from './rpc/writing.js'

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
