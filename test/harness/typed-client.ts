import {
  type Client,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  type ServiceDefinition,
  type ServiceError
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Application } from '../../cli/public/application.js'
import { describedPackage } from '../../data-service/rpc/typed-calls.js'
import { decodeDetails } from '../../shared/transport/rpc-status.js'

export type Message = Readonly<Record<string, unknown>>

/** The rpcs of a service, as proto-loader makes them of the file. */
type Methods = Readonly<
  Record<
    string,
    (
      request: Message,
      metadata: Metadata,
      options: object,
      done?: (error: ServiceError | null, answer?: Message) => void
    ) => AsyncIterable<Message>
  >
>

/** A failure in the words of its details. */
export interface Failed {
  readonly reason: string
  readonly violations: readonly (readonly [field: string, reason: string])[]
}

/** Throws what has no such details. */
export function failureOf(error: unknown): Failed {
  const [bytes] = (error as ServiceError).metadata.get('grpc-status-details-bin')
  const info = Buffer.isBuffer(bytes) ? decodeDetails(bytes)?.info : undefined
  if (info === undefined) throw error
  return { reason: info.reason, violations: info.violations.map(({ field, reason }) => [field, reason]) }
}

type ClientType = (new (address: string, credentials: object) => Client & Methods) & {
  readonly service: ServiceDefinition
}

/** What proto-loader makes of the proto file of an application, which takes half a second. */
const loadedPackages = new WeakMap<Application, GrpcObject>()

function packageOf(application: Application): GrpcObject {
  const known = loadedPackages.get(application)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), 'typed-client-'))
  try {
    const file = join(folder, 'typed.proto')
    const { typedServices } = application
    if (typedServices === undefined) throw new TypeError('The application has no typed services')
    const { name, text } = describedPackage(application, typedServices)
    writeFileSync(file, text())
    const options = { keepCase: true, longs: String, enums: String, oneofs: false } as const
    const loaded = name
      .split('.')
      .reduce((object, part) => object[part] as GrpcObject, loadPackageDefinition(loadSync(file, options)))
    loadedPackages.set(application, loaded)
    return loaded
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A caller of one typed service of an application, that knows nothing but its proto file. */
export class TypedClient {
  readonly methods: Methods
  readonly #client: Client
  readonly #service: ServiceDefinition

  constructor(application: Application, service: string, address: string) {
    const Service = packageOf(application)[service] as unknown as ClientType // As proto-loader makes it of the file.
    const made = new Service(address, credentials.createInsecure())
    this.methods = made
    this.#client = made
    this.#service = Service.service
  }

  close(): void {
    this.#client.close()
  }

  /** Rejects with a ServiceError. Without a token the call has none. */
  call(method: string, request: Message, token?: string): Promise<Message> {
    const metadata = new Metadata()
    if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
    return new Promise((resolve, reject) => {
      const options = { deadline: Date.now() + 60_000 }
      const rpc = this.methods[method]?.bind(this.methods)
      if (rpc === undefined) throw new TypeError(`There is no rpc ${method}`)
      rpc(request, metadata, options, (error, answer = {}) => (error === null ? resolve(answer) : reject(error)))
    })
  }

  encode(method: string, request: Message): Buffer {
    return this.#definition(method).requestSerialize(request)
  }

  /** A call with any bytes in place of its message. */
  send(method: string, bytes: Buffer, token?: string): Promise<Message> {
    const definition = this.#definition(method)
    const metadata = new Metadata()
    if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        definition.path,
        (sent: Buffer) => sent,
        (answer) => definition.responseDeserialize(answer) as Message,
        bytes,
        metadata,
        { deadline: Date.now() + 60_000 },
        (error, answer = {}) => (error === null ? resolve(answer) : reject(error))
      )
    })
  }

  #definition(method: string): ServiceDefinition[string] {
    const definition = this.#service[method]
    if (definition === undefined) throw new TypeError(`There is no rpc ${method}`)
    return definition
  }

  /** How the call fails; `none` for one that does not. */
  failure(method: string, request: Message, token?: string): Promise<Failed> {
    return this.call(method, request, token).then(() => ({ reason: 'none', violations: [] }), failureOf)
  }
}
