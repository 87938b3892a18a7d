import { X509Certificate } from 'node:crypto'
import { credentials, Metadata, type ChannelCredentials } from '@grpc/grpc-js'
import { expect } from 'chai'
import { gatewayPeers } from '../../../data-service/rpc/transport/interceptors.js'
import { Authority } from '../../harness/certificates.js'
import { memoryLog } from '../../harness/memory-log.js'
import { DataServices } from './data-services.js'
import { AuthCaller, rejected } from './auth-caller.js'

const SECRET = 'a-secret-of-the-gateways-alone'
/** Wrong logins that one account has from one address, contract.md section 8. */
const PER_ADDRESS = 10
let accounts = 0

/**
 * Wrong logins to one account, each for another client address, one more than one address has. Those of a gateway are
 * counted under the addresses that it names, those of anybody else all under the peer's own.
 */
async function isBelieved(caller: AuthCaller): Promise<boolean> {
  const email = `nobody-${(accounts += 1)}@example.com`
  for (let turn = 0; turn <= PER_ADDRESS; turn++) {
    const rejection = await rejected(caller.login({ email, password: 'wrong', clientAddress: `198.51.${turn}.1` }))
    if (rejection.details.reason === 'quota-exceeded') return false
    expect(rejection.details.reason).to.equal('auth.invalid-credentials')
  }
  return true
}

function showing(secret: string | readonly string[]): Metadata {
  const metadata = new Metadata()
  for (const one of [secret].flat()) metadata.add('x-gateway-secret', one)
  return metadata
}

describe('the client address of Login', () => {
  let authority: Authority
  let services: DataServices
  before(async () => {
    authority = await Authority.create()
    services = await DataServices.over('sqlite')
  })
  after(async () => {
    await services[Symbol.asyncDispose]()
    await authority[Symbol.asyncDispose]()
  })
  afterEach(() => services.stop())

  const believed = async (
    address: string,
    how: { channel?: ChannelCredentials; metadata?: Metadata }
  ): Promise<boolean> => {
    const caller = new AuthCaller(address, { metadata: new Metadata(), ...how })
    try {
      return await isBelieved(caller)
    } finally {
      caller.close()
    }
  }

  it('is believed from a peer that shows GATEWAY_SECRET, and from no other', async () => {
    const started = await services.start({ GATEWAY_SECRET: SECRET })
    expect(await believed(started.address, { metadata: showing(SECRET) })).to.equal(true)
    expect(await believed(started.address, { metadata: showing(`${SECRET}x`) })).to.equal(false)
    expect(await believed(started.address, {})).to.equal(false)
    expect(await believed(started.address, { metadata: showing([SECRET, SECRET]) })).to.equal(false)
    const { level } = await started.service.logged(({ msg }) => /another GATEWAY_SECRET/.test(String(msg)))
    expect(level).to.equal('warn')
    expect(JSON.stringify(services.logs())).to.not.include(SECRET)
  })

  it('is believed from a peer whose verified certificate names a gateway, and from no other certificate', async () => {
    const server = await authority.issueTo('server', 'data-service')
    const foreign = await Authority.create('Another authority')
    const { address } = await services.start({
      GATEWAY_SECRET: '',
      GRPC_TLS_CERT_FILE: server.certFile,
      GRPC_TLS_KEY_FILE: server.keyFile,
      GRPC_TLS_CA_FILE: authority.caFile,
      GRPC_TLS_CLIENT_AUTH: 'optional'
    })
    const channel = async (by: Authority, ...names: string[]): Promise<ChannelCredentials> => {
      const { cert, key } = await by.issue(...names)
      return credentials.createSsl(Buffer.from(authority.cert), Buffer.from(key), Buffer.from(cert))
    }
    expect(await believed(address, { channel: await channel(authority, 'gateway') })).to.equal(true)
    expect(await believed(address, { channel: await channel(authority, 'invoicing', 'gateway.example') })).to.equal(
      false
    )
    expect(await believed(address, { channel: await channel(foreign, 'gateway') })).to.equal(false)
    const anonymous = credentials.createSsl(Buffer.from(authority.cert))
    expect(await believed(address, { channel: anonymous })).to.equal(false)
    await foreign[Symbol.asyncDispose]()
  })

  it('is believed from no peer whose certificate is for all names of a domain, that of gateways among them', async () => {
    const isGateway = gatewayPeers(
      { secret: undefined, name: 'gateway.shop.example' },
      { log: memoryLog().log, now: Date.now }
    )
    const isNamed = async (name: string): Promise<boolean> => {
      const { raw } = new X509Certificate((await authority.issue(name)).cert)
      return isGateway({ peerAddress: '198.51.100.1', gatewaySecrets: [], peerCertificate: () => raw })
    }
    expect([await isNamed('gateway.shop.example'), await isNamed('*.shop.example')]).to.deep.equal([true, false])
  })

  it('is nobody’s to say where nothing tells a gateway apart, which a warning says at start', async () => {
    const { service, address } = await services.start({ GATEWAY_SECRET: '' })
    const { level } = await service.logged(({ msg }) => /neither GATEWAY_SECRET/.test(String(msg)))
    expect(level).to.equal('warn')
    expect(await believed(address, { metadata: showing('') })).to.equal(false)
  })
})
