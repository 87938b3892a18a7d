import { randomBytes, randomUUID } from 'node:crypto'
import { credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { pino } from 'pino'
import { anonymous, type Authenticated } from '../../../data-service/entity/caller.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import { GuessCounts } from '../../../data-service/operations/writes/guess-counts.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { exportSemaphore } from '../../../data-service/operations/export.js'
import { ReadShares } from '../../../data-service/operations/fair-shares.js'
import { MemoryGuard } from '../../../shared/memory-guard.js'
import type { ReadDeps } from '../../../data-service/operations/reads.js'
import type { StreamClock } from '../../../data-service/rpc/transport/call-stream.js'
import { describeCatalogue } from '../../../data-service/operations/describe/describe.js'
import { buildDataService } from '../../../data-service/rpc/service.js'
import { WriteShares } from '../../../data-service/operations/writes/write-shares.js'
import { DomainError } from '../../../shared/errors.js'
import type { FairSemaphore } from '../../../shared/fair-semaphore.js'
import type { EntityServiceClient } from '../../../shared/gen/entity/v1/EntityService.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { fromRpcStatus } from '../../../shared/transport/rpc-status.js'
import { serverCredentials } from '../../../shared/tls.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { exampleEntities } from '../plan/example-entities.js'
import { MemoryStore } from './memory-store.js'
import { noAuthentication } from './no-authentication.js'

export type Answered<Response> = (error: ServiceError | null, response?: Response) => void
type Log = Record<string, unknown>

/** A data service over a MemoryStore on a free port. Authorization metadata is `owner <digits>` or rejected; a gateway's secret is `of a gateway`. */
export interface RunningService {
  readonly store: MemoryStore
  readonly client: EntityServiceClient
  readonly port: number
  readonly logs: Log[]
  /** Streams of calls that are open. */
  readonly streams: number
  /** Bytes of answers that callers have not taken. */
  readonly untakenBytes: number
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

function unwritten(): Promise<never> {
  return Promise.reject(new Error('These tests write nothing'))
}

export function planningOf(entities: readonly Entity[]): ReadDeps['planning'] {
  return {
    catalogue: makeCatalogue(entities),
    ownership: { bypassRole: 'Admin', parameterName: 'id' },
    maxPageSize: 500,
    maxExportRows: 100
  }
}

export async function runService(
  entities: readonly Entity[] = exampleEntities,
  exports: FairSemaphore = exportSemaphore(),
  ownShares?: ReadDeps['shares'],
  { streamClock, knowsGateways = false }: { readonly streamClock?: StreamClock; readonly knowsGateways?: boolean } = {}
): Promise<RunningService> {
  const store = new MemoryStore()
  const logs: Log[] = []
  const log = pino({ level: 'debug' }, { write: (line) => void logs.push(JSON.parse(line) as Log) })
  const planning = planningOf(entities)
  const service = buildDataService({
    readDeps: { planning, store, exports, shares: ownShares ?? new ReadShares(new MemoryGuard(log)) },
    writeDeps: {
      planning,
      shares: new WriteShares({ transaction: unwritten }, { connections: 10, memory: new MemoryGuard(log) }),
      idempotency: { retention: 1000, required: false },
      guesses: new GuessCounts(Date.now),
      storedTypes: (type) => [type],
      now: Date.now,
      randomBytes,
      newGuid: randomUUID
    },
    authDeps: noAuthentication,
    describeTo: describeCatalogue(planning.catalogue, planning.ownership),
    interceptors: {
      identify,
      isGateway: ({ gatewaySecrets }) => gatewaySecrets[0] === 'of a gateway',
      knowsGateways,
      log,
      newRequestId: () => 'made-here'
    },
    reflection: undefined,
    credentials: serverCredentials(undefined, 'none'),
    streamClock
  })
  const port = await service.listen('127.0.0.1:0')
  // What proto-loader made of the file that the types were generated from.
  const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
  const client = new entity.v1.EntityService(`127.0.0.1:${port}`, credentials.createInsecure())
  const stop = async (): Promise<void> => {
    client.close()
    await service.drain({ timeout: 1000, hasReplicas: true })
  }
  return {
    store,
    client,
    port,
    logs,
    get streams() {
      return service.streams
    },
    get untakenBytes() {
      return service.untakenBytes
    },
    stop,
    [Symbol.asyncDispose]: stop
  }
}

function identify([token]: readonly string[]): Promise<Authenticated | typeof anonymous> {
  if (token === undefined) return Promise.resolve(anonymous)
  const [, digits] = /^owner (\d+)$/.exec(token) ?? []
  if (digits === undefined) {
    return Promise.reject(new DomainError('auth.invalid-token', 'Bad token.', { cause: new Error('test reason') }))
  }
  const roles: string[] = []
  return Promise.resolve({
    kind: 'authenticated',
    claims: {},
    issuer: 'i',
    subject: digits,
    roles,
    permissions: new Set(),
    owner: BigInt(digits)
  })
}

export const soon = (): { deadline: number } => ({ deadline: Date.now() + 100_000 })

export function metadata(values: Readonly<Record<string, string>> = {}): Metadata {
  const made = new Metadata()
  for (const [name, value] of Object.entries(values)) made.set(name, value)
  return made
}

/** The answer of a unary call. */
export function answer<Response>(call: (answered: Answered<Response>) => unknown): Promise<Response> {
  return new Promise((resolve, reject) => {
    call((error, response) => {
      if (error === null && response !== undefined) resolve(response)
      else reject(error ?? new Error('neither answer nor error'))
    })
  })
}

/** The DomainError that a unary call fails with. */
export function failure(call: (answered: Answered<unknown>) => unknown): Promise<DomainError> {
  return answer(call).then(
    () => {
      throw new Error('answered')
    },
    // What grpc-js fails calls with.
    (error: unknown) => fromRpcStatus(error as ServiceError)
  )
}
