import {
  type ChannelCredentials,
  type Client,
  credentials,
  Metadata,
  type ServiceError,
  type status
} from '@grpc/grpc-js'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { decodeDetails, type RpcDetails } from '../../shared/transport/rpc-status.js'
import { GATEWAY_SECRET_METADATA } from '../../shared/tls.js'
import { loadProto } from '../../shared/transport/wire.js'
import { GATEWAY_SECRET } from './service-process.js'

/** A failed call as an internal service sees it. */
export interface RpcFailure {
  readonly status: status
  readonly message: string
  readonly details: RpcDetails
  readonly detailBytes: number
}

export interface RpcOptions {
  readonly token?: string
  readonly requestId?: string
  /** Whether the call proves to be one of a gateway. */
  readonly asGateway?: boolean
  /** Milliseconds; null for none. */
  readonly deadline?: number | null
}

// The package that these types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType

export type Method =
  | 'Call'
  | 'List'
  | 'Page'
  | 'Lookup'
  | 'Totals'
  | 'Get'
  | 'GetBy'
  | 'History'
  | 'Read'
  | 'Describe'
  | 'Create'
  | 'CreateBatch'
  | 'Import'
  | 'Update'
  | 'UpdateBatch'
  | 'Delete'
  | 'DeleteBatch'
  | 'Act'

/** Calls the data service as an internal service would, past the gateway. */
export class GrpcCaller {
  readonly #client: Client & InstanceType<typeof entity.v1.EntityService>

  constructor(address: string, channel: ChannelCredentials = credentials.createInsecure()) {
    this.#client = new entity.v1.EntityService(address, channel)
  }

  /** The answer, or how it failed. */
  unary(method: Method, request: object, options: RpcOptions = {}): Promise<object | RpcFailure> {
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, value?: object): void => settle({ error, value }, resolve, reject)
      const [metadata, settings] = [metadataOf(options), callOptions(options)]
      switch (method) {
        case 'List':
          return void this.#client.List(request, metadata, settings, done)
        case 'Page':
          return void this.#client.Page(request, metadata, settings, done)
        case 'Lookup':
          return void this.#client.Lookup(request, metadata, settings, done)
        case 'Totals':
          return void this.#client.Totals(request, metadata, settings, done)
        case 'Get':
          return void this.#client.Get(request, metadata, settings, done)
        case 'GetBy':
          return void this.#client.GetBy(request, metadata, settings, done)
        case 'History':
          return void this.#client.History(request, metadata, settings, done)
        case 'Read':
          return void this.#client.Read(request, metadata, settings, done)
        case 'Describe':
          return void this.#client.Describe(request, metadata, settings, done)
        case 'Create':
          return void this.#client.Create(request, metadata, settings, done)
        case 'Import':
          return void this.#client.Import(request, metadata, settings, done)
        case 'CreateBatch':
          return void this.#client.CreateBatch(request, metadata, settings, done)
        case 'Update':
          return void this.#client.Update(request, metadata, settings, done)
        case 'UpdateBatch':
          return void this.#client.UpdateBatch(request, metadata, settings, done)
        case 'DeleteBatch':
          return void this.#client.DeleteBatch(request, metadata, settings, done)
        case 'Delete':
          return void this.#client.Delete(request, metadata, settings, done)
        case 'Act':
          return void this.#client.Act(request, metadata, settings, done)
        case 'Call':
          return void this.#client.Call(request, metadata, settings, done)
      }
    })
  }

  /** An array of every message of an export, or how it failed. */
  export(request: object, options: RpcOptions = {}): Promise<object> {
    return new Promise((resolve, reject) => {
      const messages: object[] = []
      const call = this.#client.Export(request, metadataOf(options), callOptions(options))
      call.on('data', (message: object) => messages.push(message))
      call.on('end', () => resolve(messages))
      call.on('error', (error: ServiceError) => settle({ error }, resolve, reject))
    })
  }

  close(): void {
    this.#client.close()
  }
}

export function isFailure(answer: object): answer is RpcFailure {
  return 'detailBytes' in answer
}

function settle(
  outcome: { readonly error: ServiceError | null; readonly value?: object | undefined },
  resolve: (answer: object | RpcFailure) => void,
  reject: (error: ServiceError) => void
): void {
  const { error, value = {} } = outcome
  if (error === null) return resolve(value)
  const failure = failureOf(error)
  if (failure === undefined) reject(error)
  else resolve(failure)
}

/** undefined where the details are not the typed ones that the contract promises: such an error fails the test. */
function failureOf(error: ServiceError): RpcFailure | undefined {
  const [encoded] = error.metadata.get('grpc-status-details-bin')
  const decoded = Buffer.isBuffer(encoded) ? decodeDetails(encoded) : undefined
  if (!Buffer.isBuffer(encoded) || decoded === undefined) return undefined
  return { status: error.code, message: error.details, details: decoded.info, detailBytes: encoded.length }
}

function metadataOf({ token, requestId, asGateway = false }: RpcOptions): Metadata {
  const metadata = new Metadata()
  if (asGateway) metadata.set(GATEWAY_SECRET_METADATA, GATEWAY_SECRET)
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  if (requestId !== undefined) metadata.set('x-request-id', requestId)
  return metadata
}

function callOptions({ deadline = 10_000 }: RpcOptions): { deadline?: number } {
  return deadline === null ? {} : { deadline: Date.now() + deadline }
}
