import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall, status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { type AuthCall, GrpcAuthClient } from '../../../gateway/data/auth-client.js'
import { ReplicaPool } from '../../../gateway/data/replica-pool.js'
import { DomainError } from '../../../shared/errors.js'
import type { ProtoGrpcType } from '../../../shared/gen/auth_service.js'
import { toRpcStatus } from '../../../shared/transport/rpc-status.js'
import { loadProto } from '../../../shared/transport/wire.js'

type Unary = (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => void

const CALL: AuthCall = { requestId: 'r1', traceparent: 't' }
const SESSION = {
  accessToken: 'a',
  accessTokenExpiry: '2031-01-01T00:00:00.000Z',
  refreshToken: 'r',
  refreshTokenExpiry: '2031-01-02T00:00:00.000Z'
}
const LOGIN = { ...CALL, signal: new AbortController().signal }
const CREDENTIALS = { email: 'e', password: 'p', clientAddress: '192.0.2.1', replacedRefreshTokens: ['o'] }

describe('the client of the AuthService', () => {
  let server: Server
  let replicas: ReplicaPool
  let client: GrpcAuthClient
  let calls: number
  let on: Unary

  beforeEach(async () => {
    calls = 0
    server = new Server()
    // The definition loaded here is what the generated types describe.
    const types = loadProto('auth/v1/auth_service.proto').types as unknown as ProtoGrpcType
    const answering: Unary = (call, answer) => {
      calls += 1
      on(call, answer)
    }
    server.addService(types.auth.v1.AuthService.service, {
      Login: answering,
      Refresh: answering,
      Revoke: answering,
      Keys: answering
    })
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error)
      )
    })
    replicas = new ReplicaPool({ addresses: [`127.0.0.1:${port}`] })
    client = new GrpcAuthClient(replicas)
  })
  afterEach(() => {
    replicas.close()
    server.forceShutdown()
  })

  const failureOf = async (work: Promise<unknown>): Promise<DomainError> => {
    const error: unknown = await work.then(
      () => new Error('no failure'),
      (caught: unknown) => caught
    )
    if (error instanceof DomainError) return error
    throw error
  }
  const RPCS: readonly (readonly [name: string, call: () => Promise<unknown>, repeated: boolean])[] = [
    ['login', () => client.login(LOGIN, CREDENTIALS), false],
    ['refresh', () => client.refresh(CALL, 'r'), false],
    ['revoke', () => client.revoke(CALL, 'r'), false],
    ['keys', () => client.keys(CALL), true]
  ]

  it('carries everything over and back, with a deadline and without credentials of its own', async () => {
    const seen: { request: unknown; metadata: object; deadline: number }[] = []
    on = (call, answer) => {
      const metadata = call.metadata.getMap()
      seen.push({ request: call.request, metadata, deadline: Number(call.getDeadline()) })
      answer(null, { session: SESSION, issuers: [{ issuer: 'i', audience: 'b', jwks: Buffer.from('{}') }] })
    }
    const before = Date.now()
    expect(await client.login(LOGIN, CREDENTIALS)).to.deep.equal(SESSION)
    expect(await client.refresh(CALL, 'r')).to.deep.equal(SESSION)
    expect(await client.revoke(CALL, 'r')).to.equal(undefined)
    expect(await client.keys(CALL)).to.deep.equal([
      { issuer: 'i', audience: 'b', tokenType: '', inDoubt: false, jwks: Buffer.from('{}') }
    ])
    await client.keys(CALL, 'k')
    expect(seen.map(({ request }) => request)).to.deep.equal([
      CREDENTIALS,
      { refreshToken: 'r' },
      { refreshToken: 'r' },
      { missingKeyId: '' },
      { missingKeyId: 'k' }
    ])
    for (const { metadata, deadline } of seen) {
      expect(metadata, `deadline ${deadline}`)
        .to.include({ 'x-request-id': 'r1', traceparent: 't' })
        .and.not.have.property('authorization')
    }
    // A refresh leaves half of the grace window to its client.
    const TIMES = [10_000, 5000, 10_000, 10_000, 10_000]
    for (const [at, { deadline }] of seen.entries()) {
      const time = TIMES[at] ?? 0
      expect(deadline, `deadline ${at}`).to.be.within(before + time - 1000, Date.now() + time)
    }
  })

  it('gives back the DomainError that was thrown there', async () => {
    on = (_call, answer) => answer(toRpcStatus(new DomainError('quota-exceeded', 'Wait.', { retryAfter: 12 })))
    expect(await failureOf(client.login(LOGIN, CREDENTIALS))).to.include({ code: 'quota-exceeded', retryAfter: 12 })
  })

  for (const [name, call, repeated] of RPCS) {
    it(`${repeated ? 'repeats' : 'never repeats'} ${name} where the transport failed`, async () => {
      on = (_call, answer) => answer({ code: status.UNAVAILABLE, details: 'going away' })
      expect(await failureOf(call())).to.include({ code: 'upstream.unavailable' })
      expect(calls).to.equal(repeated ? 2 : 1)
    })
  }

  it('takes an answer without a session for a bad one', async () => {
    on = (_call, answer) => answer(null, {})
    expect(await failureOf(client.login(LOGIN, CREDENTIALS))).to.include({ code: 'upstream.bad-gateway' })
    expect(await failureOf(client.refresh(CALL, 'r'))).to.include({ code: 'upstream.bad-gateway' })
  })
})
