import { once } from 'node:events'
import { join } from 'node:path'
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { expect } from 'chai'
import { protoPath } from 'grpc-health-check'
import { packageRoot } from '../../harness/package-root.js'
import { DataServices } from './data-services.js'

const REFLECTION = join(packageRoot, 'node_modules/@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto')
const SERVICES = ['auth.v1.AuthService', 'entity.v1.EntityService']

function methodOf(proto: string, service: string, method: string): MethodDefinition<object, object> {
  const found = loadSync(proto, { enums: String })[service]
  // Every name of a definition that is a service's stands for one.
  const definition = (found as ServiceDefinition | undefined)?.[method]
  if (definition === undefined) throw new Error(`${proto} has no ${service}/${method}`)
  return definition
}

describe('AuthService beside EntityService', () => {
  let services: DataServices
  let client: Client
  before(async () => {
    services = await DataServices.over('sqlite')
    const { address } = await services.start({ GRPC_REFLECTION: 'true', SAMPLE_DATA: 'false' })
    client = new Client(address, credentials.createInsecure())
  })
  after(async () => {
    client.close()
    await services[Symbol.asyncDispose]()
  })

  it('tells its health by name', async () => {
    const { path, requestSerialize, responseDeserialize } = methodOf(protoPath, 'grpc.health.v1.Health', 'Check')
    for (const service of ['', ...SERVICES]) {
      const answer = await new Promise<object | undefined>((resolve, reject) => {
        client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service }, (error, value) => {
          if (error === null) resolve(value)
          else reject(error)
        })
      })
      expect(answer, service).to.deep.equal({ status: 'SERVING' })
    }
  })

  const reflect = () => {
    const { path, requestSerialize, responseDeserialize } = methodOf(
      REFLECTION,
      'grpc.reflection.v1.ServerReflection',
      'ServerReflectionInfo'
    )
    return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize)
  }

  const codeOf = (call: ReturnType<typeof reflect>): Promise<number | undefined> =>
    new Promise((resolve) => call.once('error', ({ code }: ServiceError) => resolve(code)))

  it('gives a peer eight streams of reflection at a time, which answer in order and a thousand requests each', async () => {
    const open = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const call = reflect()
        call.write({ listServices: '' })
        await once(call, 'data')
        return call
      })
    )
    const refused = reflect()
    refused.write({ listServices: '' })
    expect(await codeOf(refused)).to.equal(status.RESOURCE_EXHAUSTED)
    const [first, ...others] = open
    if (first === undefined) throw new Error('no stream is open')
    const names: unknown[] = []
    first.on('data', ({ originalRequest }: { readonly originalRequest?: { readonly fileByFilename?: string } }) => {
      names.push(originalRequest?.fileByFilename)
    })
    const asked = Array.from({ length: 999 }, (_one, at) => `none-${at}.proto`)
    for (const fileByFilename of asked) first.write({ fileByFilename })
    while (names.length < asked.length) await once(first, 'data')
    expect(names).to.deep.equal(asked)
    first.write({ listServices: '' })
    expect(await codeOf(first)).to.equal(status.RESOURCE_EXHAUSTED)
    for (const call of others) {
      call.end()
      call.resume()
      await once(call, 'end')
    }
    // Their places are free once the service has seen the end.
    for (let answered = false; !answered;) {
      const call = reflect()
      call.write({ listServices: '' })
      answered = await once(call, 'data').then(
        () => true,
        () => false
      )
      call.on('error', () => undefined)
      call.cancel()
    }
  })

  it('is told by reflection', async () => {
    const call = reflect()
    call.write({ listServices: '' })
    const messages: readonly unknown[] = await once(call, 'data')
    call.end()
    for (const service of SERVICES) expect(JSON.stringify(messages), service).to.include(`"${service}"`)
  })
})
