import { Server, type ServerCredentials } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { HealthImplementation } from 'grpc-health-check'
import type { ProtoGrpcType as AuthTypes } from '../shared/gen/auth_service.js'
import type { ProtoGrpcType as EntityTypes } from '../shared/gen/entity_service.js'
import { loadProto } from '../shared/load-proto.js'
import type { Authenticating } from './auth/authenticating.js'
import { authService } from './auth-service.js'
import { entityService } from './entity-service.js'
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
  /** Takes no new call, waits for those under way, and breaks off what is left after `patience` milliseconds. */
  drain(patience: number): Promise<void>
}

/** Well above the 1 MiB of a body, so that one too large is refused by us, with its details, and not by the transport. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024
const SERVICES = ['', 'entity.v1.EntityService', 'auth.v1.AuthService']

/** Puts the service together and starts nothing. */
export function buildDataService(parts: DataServiceParts): DataService {
  const { reading, writing, authenticating, interceptors, reflection, credentials } = parts
  const { definition, types } = loadProto('entity/v1/entity_service.proto', 'auth/v1/auth_service.proto')
  // What proto-loader made of the files that the types were generated from.
  const { entity, auth } = types as unknown as EntityTypes & AuthTypes
  const server = new Server({
    'grpc.max_receive_message_length': MAX_REQUEST_BYTES,
    'grpc.max_send_message_length': -1,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000
  })
  server.addService(entity.v1.EntityService.service, { ...entityService({ reading, writing }, interceptors) })
  server.addService(auth.v1.AuthService.service, { ...authService(authenticating, interceptors) })
  const health = new HealthImplementation(Object.fromEntries(SERVICES.map((name) => [name, 'NOT_SERVING'])))
  health.addToServer(server)
  if (reflection) new ReflectionService(definition).addToServer(server)
  const setHealth = (status: 'SERVING' | 'NOT_SERVING'): void => {
    for (const name of SERVICES) health.setStatus(name, status)
  }

  return {
    async listen(address) {
      const port = await new Promise<number>((resolve, reject) => {
        server.bindAsync(address, credentials, (error, bound) => {
          if (error === null) resolve(bound)
          else reject(error)
        })
      })
      setHealth('SERVING')
      return port
    },
    async drain(patience) {
      setHealth('NOT_SERVING')
      const timer = setTimeout(() => server.forceShutdown(), patience)
      await new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
      clearTimeout(timer)
    }
  }
}
