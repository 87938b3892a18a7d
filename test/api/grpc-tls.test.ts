import { once } from 'node:events'
import { connect } from 'node:tls'
import { credentials, type ChannelCredentials } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { Authority } from '../harness/certificates.js'
import { request } from '../harness/http.js'
import type { LogEntry, Server } from '../stack/server-log.js'
import { type Stack, startStack } from '../harness/stack.js'
import { GrpcCaller } from '../stack/grpc-caller.js'

describe('TLS between the processes', () => {
  let authority: Authority
  let database: FreshDatabase
  let stack: Stack | undefined
  beforeEach(async () => {
    authority = await Authority.create()
    database = await storeDatabase('sqlite', 'sample')
  })
  afterEach(async () => {
    await stack?.stop()
    stack = undefined
    await database.dispose()
    await authority[Symbol.asyncDispose]()
  })

  const mutual = async (): Promise<Record<string, string>> => {
    const { certFile, keyFile } = await authority.issueTo('both', 'gateway', 'data-service')
    return {
      GATEWAY_SECRET: '',
      GRPC_TLS_CERT_FILE: certFile,
      GRPC_TLS_KEY_FILE: keyFile,
      GRPC_TLS_CA_FILE: authority.caFile,
      GRPC_TLS_CLIENT_AUTH: 'required'
    }
  }
  const start = async (env: Readonly<Record<string, string>>): Promise<Stack> => {
    stack = await startStack({ database, env: { SAMPLE_DATA: 'false', ...env } })
    return stack
  }
  const client = async (by = authority): Promise<ChannelCredentials> => {
    const { cert, key } = await by.issue('invoicing')
    return credentials.createSsl(Buffer.from(authority.cert), Buffer.from(key), Buffer.from(cert))
  }
  /** Whether a call reaches the data service with these credentials, on a connection of its own. */
  const reaches = async ({ dataAddress }: Stack, channel: ChannelCredentials): Promise<boolean> => {
    const caller = new GrpcCaller(dataAddress, channel)
    try {
      await caller.unary('Describe', {})
      return true
    } catch {
      return false
    } finally {
      caller.close()
    }
  }
  const logged = (service: Server, msg: RegExp, after = 0): Promise<LogEntry> =>
    service.logged((entry) => service.logs().indexOf(entry) >= after && msg.test(String(entry['msg'])))

  it('serves with the data service’s certificate alone', async () => {
    const { certFile, keyFile } = await authority.issueTo('server', 'data-service')
    const env = { GRPC_TLS_CERT_FILE: certFile, GRPC_TLS_KEY_FILE: keyFile, GRPC_TLS_CA_FILE: authority.caFile }
    const running = await start(env)
    expect((await request(`${running.url}/products/paged`)).status).to.equal(200)
    expect(await reaches(running, credentials.createSsl(Buffer.from(authority.cert)))).to.equal(true)
    expect(await reaches(running, credentials.createInsecure())).to.equal(false)
    expect(await reaches(running, credentials.createSsl())).to.equal(false)
  })

  it('keeps nothing of connections that agree on no HTTP/2', async () => {
    const { certFile, keyFile } = await authority.issueTo('server', 'data-service')
    const env = { GRPC_TLS_CERT_FILE: certFile, GRPC_TLS_KEY_FILE: keyFile, GRPC_TLS_CA_FILE: authority.caFile }
    const running = await start(env)
    const { hostname: host, port } = new URL(`http://${running.dataAddress}`)
    const warnings: string[] = []
    // Of more than ten listeners for one event.
    const warn = ({ name, message }: Error): void => {
      if (name === 'MaxListenersExceededWarning') warnings.push(message)
    }
    process.on('warning', warn)
    for (let opened = 0; opened < 12; opened++) {
      const socket = connect({ host, port: Number(port), ca: authority.cert, servername: 'data-service' })
      await once(socket.resume(), 'close')
    }
    expect(await reaches(running, credentials.createSsl(Buffer.from(authority.cert)))).to.equal(true)
    process.off('warning', warn)
    expect(warnings).to.deep.equal([])
  })

  it('takes callers with a certificate of the authority alone, where it is told to', async () => {
    const running = await start(await mutual())
    expect((await request(`${running.url}/products/paged`)).status).to.equal(200)
    const foreign = await Authority.create('Another authority')
    expect(await reaches(running, await client())).to.equal(true)
    expect(await reaches(running, credentials.createSsl(Buffer.from(authority.cert)))).to.equal(false)
    expect(await reaches(running, await client(foreign))).to.equal(false)
    expect(running.logs().filter(({ msg }) => /neither GATEWAY_SECRET/.test(String(msg)))).to.deep.equal([])
    await foreign[Symbol.asyncDispose]()
  })

  it('takes certificates that changed, on both sides, while connections go on; broken ones not at all', async () => {
    const running = await start(await mutual())
    const { dataService, gateway } = running
    const held = new GrpcCaller(running.dataAddress, await client())
    await held.unary('Describe', {})

    // A broken pair: whoever connects still gets the old one.
    const [before, after] = [await authority.issue('data-service'), await authority.issue('gateway', 'data-service')]
    await authority.replace('both', { cert: before.cert, key: after.key })
    for (const service of [dataService, gateway]) await logged(service, /of no use; those before them stay/)
    expect(await reaches(running, await client())).to.equal(true)

    // Another authority for everything: whoever connects needs it, whoever is connected does not notice.
    const next = await Authority.create('Next authority')
    const [dataLines, gatewayLines] = [dataService.logs().length, gateway.logs().length]
    await authority.replace('both', await next.issue('gateway', 'data-service'))
    await logged(dataService, /certificates read again/, dataLines)
    await logged(gateway, /certificates read again/, gatewayLines)
    const [dataLater, gatewayLater] = [dataService.logs().length, gateway.logs().length]
    await authority.write('ca.pem', next.cert)
    await logged(dataService, /certificates read again/, dataLater)
    await logged(gateway, /certificates read again/, gatewayLater)
    expect(await reaches(running, await client())).to.equal(false)
    await held.unary('Describe', {})
    held.close()
    expect((await request(`${running.url}/products/paged`)).status).to.equal(200)
    const { cert, key } = await next.issue('invoicing')
    const known = credentials.createSsl(Buffer.from(next.cert), Buffer.from(key), Buffer.from(cert))
    expect(await reaches(running, known)).to.equal(true)
    await next[Symbol.asyncDispose]()
  })
})
