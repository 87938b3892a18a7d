import { type ChannelCredentials, credentials, Metadata, type ServiceError, type status } from '@grpc/grpc-js'
import type { AuthServiceClient } from '../../../shared/gen/auth/v1/AuthService.js'
import type { KeysResponse__Output } from '../../../shared/gen/auth/v1/KeysResponse.js'
import type { Session__Output } from '../../../shared/gen/auth/v1/Session.js'
import type { ProtoGrpcType } from '../../../shared/gen/auth_service.js'
import { decodeDetails, type RpcDetails } from '../../../shared/transport/rpc-status.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { GATEWAY_SECRET } from '../../stack/service-process.js'

/** A rejected call, with the typed details that the contract promises. */
interface Rejection {
  readonly status: status
  readonly message: string
  readonly details: RpcDetails
}

type Callback<Response> = (error: ServiceError | null, response?: Response) => void

// The package that these types were generated from.
const { auth } = loadProto('auth/v1/auth_service.proto').types as unknown as ProtoGrpcType

interface CallerOptions {
  readonly channel?: ChannelCredentials
  readonly metadata?: Metadata
}

/** Calls AuthService as the gateway does, its secret included. `requestId` goes along with every call. */
export class AuthCaller {
  readonly #client: AuthServiceClient

  readonly #metadata: Metadata

  /** `metadata` goes along with every call in place of the secret. */
  constructor(
    address: string,
    { channel = credentials.createInsecure(), metadata = withSecret() }: CallerOptions = {}
  ) {
    this.#client = new auth.v1.AuthService(address, channel)
    this.#metadata = metadata
  }

  login(request: object, requestId = 'test'): Promise<Session__Output | Rejection> {
    return this.#session((done) => this.#client.Login(request, this.#with(requestId), soon(), done))
  }

  signIn(request: object, requestId = 'test'): Promise<Session__Output | Rejection> {
    return this.#session((done) => this.#client.SignIn(request, this.#with(requestId), soon(), done))
  }

  refresh(refreshToken: string, requestId = 'test'): Promise<Session__Output | Rejection> {
    return this.#session((done) => this.#client.Refresh({ refreshToken }, this.#with(requestId), soon(), done))
  }

  revoke(refreshToken: string): Promise<object> {
    return answered<object>((done) => this.#client.Revoke({ refreshToken }, this.#with('test'), soon(), done))
  }

  requestOneTimeLink(request: object): Promise<object> {
    return answered<object>((done) => this.#client.RequestOneTimeLink(request, this.#with('test'), soon(), done))
  }

  useOneTimeLink(request: object): Promise<object | Rejection> {
    return answered<object>((done) => this.#client.UseOneTimeLink(request, this.#with('test'), soon(), done))
  }

  async keys(): Promise<KeysResponse__Output> {
    const keys = await answered<KeysResponse__Output>((done) => this.#client.Keys({}, this.#with('test'), soon(), done))
    if ('details' in keys) throw new Error(keys.message)
    return keys
  }

  #with(requestId: string): Metadata {
    const metadata = this.#metadata.clone()
    metadata.set('x-request-id', requestId)
    return metadata
  }

  close(): void {
    this.#client.close()
  }

  async #session(
    call: (done: Callback<{ readonly session: Session__Output | null }>) => void
  ): Promise<Session__Output | Rejection> {
    const answer = await answered(call)
    if ('details' in answer) return answer
    if (answer.session === null) throw new Error('No session in the answer')
    return answer.session
  }
}

/** The session, or an error that shows the rejection. */
export async function opened(call: Promise<Session__Output | Rejection>): Promise<Session__Output> {
  const answer = await call
  if ('details' in answer) throw new Error(`refused: ${answer.message} ${JSON.stringify(answer.details)}`)
  return answer
}

/** The rejection, or an error. */
export async function rejected(call: Promise<Session__Output | Rejection>): Promise<Rejection> {
  const answer = await call
  if (!('details' in answer)) throw new Error('not refused')
  return answer
}

function answered<Response extends object>(call: (done: Callback<Response>) => void): Promise<Response | Rejection> {
  return new Promise((resolve, reject) => {
    call((error, response) => {
      if (error === null) return response === undefined ? reject(new Error('no answer')) : resolve(response)
      const [encoded] = error.metadata.get('grpc-status-details-bin')
      const decoded = Buffer.isBuffer(encoded) ? decodeDetails(encoded) : undefined
      if (decoded === undefined) reject(error)
      else resolve({ status: error.code, message: error.details, details: decoded.info })
    })
  })
}

function withSecret(): Metadata {
  const made = new Metadata()
  made.set('x-gateway-secret', GATEWAY_SECRET)
  return made
}

function soon(): { deadline: number } {
  return { deadline: Date.now() + 20_000 }
}
