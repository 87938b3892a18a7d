import { expect } from 'chai'
import type { LightMyRequestResponse } from 'fastify'
import { DomainError } from '../../../shared/errors.js'
import { ISSUER, keySet } from './fake-auth-client.js'
import { expectProblem, type SessionFixture, startSessions } from './session-fixture.js'
import { newSigner, signed } from './signing.js'

const AWAY = new DomainError('upstream.unavailable', 'Away.')

describe('the published keys', () => {
  let gateway: SessionFixture
  beforeEach(async () => {
    gateway = await startSessions()
  })
  afterEach(() => gateway.close())

  const keySetAnswer = (): Promise<LightMyRequestResponse> => gateway.send('GET', '/.well-known/jwks.json')
  const check = async (access: string): Promise<number> =>
    (await gateway.send('POST', '/auth/session/token', { cookies: { access } })).statusCode
  const fetches = (): number => gateway.auth.made('keys').length

  it('are those of the own issuer', async () => {
    gateway.auth.outside = [keySet('https://issuer.example', 'store', [newSigner('theirs')])]
    const answer = await keySetAnswer()
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers).to.include({ 'content-type': 'application/json', 'cache-control': 'public, max-age=60' })
    expect(answer.json()).to.deep.equal({ keys: [gateway.auth.signer.jwk] })
    const head = await gateway.send('HEAD', '/.well-known/jwks.json')
    expect(head.statusCode).to.equal(200)
    expect(head.body).to.equal('')
  })

  it('are served to GET and HEAD alone', async () => {
    const answer = await gateway.send('POST', '/.well-known/jwks.json', { body: {} })
    expectProblem(answer, 405, 'method.not-allowed')
    expect(answer.headers['allow']).to.equal('GET, HEAD, OPTIONS')
  })

  it('are kept for a minute', async () => {
    await keySetAnswer()
    gateway.advance(60)
    await Promise.all([keySetAnswer(), check(gateway.auth.token())])
    expect(fetches()).to.equal(1)
    gateway.advance(1)
    await Promise.all([keySetAnswer(), keySetAnswer(), keySetAnswer()])
    expect(fetches()).to.equal(2)
  })

  it('are served on while the data service is away, for a day', async () => {
    const token = gateway.auth.token({ exp: Date.parse('2031-03-01T00:00:00Z') / 1000 })
    const { body } = await keySetAnswer()
    gateway.auth.failure = AWAY
    gateway.advance(24 * 60 * 60)
    expect((await keySetAnswer()).body).to.equal(body)
    expect(await check(token)).to.equal(200)
    gateway.advance(6)
    expectProblem(await keySetAnswer(), 503, 'upstream.unavailable')
    expect(await check(token)).to.equal(503)
    gateway.auth.failure = undefined
    expect((await keySetAnswer()).body).to.equal(body)
  })

  it('are 503 where there never were any', async () => {
    gateway.auth.failure = AWAY
    const answer = await keySetAnswer()
    expectProblem(answer, 503, 'upstream.unavailable')
    gateway.auth.failure = undefined
    expect((await keySetAnswer()).statusCode).to.equal(200)
  })

  it('are fetched again for a key id that is not among them', async () => {
    expect(await check(gateway.auth.token())).to.equal(200)
    gateway.auth.signer = newSigner('next')
    gateway.advance(5)
    expect(await check(gateway.auth.token())).to.equal(200)
    expect(fetches()).to.equal(2)
  })

  it('are not fetched for every made-up key id', async () => {
    for (let made = 0; made < 20; made += 1) {
      expect(
        await check(gateway.auth.token({}, { ...gateway.auth.signer, kid: `made-${made}` })),
        `made ${made}`
      ).to.equal(401)
    }
    expect(fetches()).to.equal(1)
    gateway.advance(5)
    expect(await check(gateway.auth.token({}, { ...gateway.auth.signer, kid: 'more' }))).to.equal(401)
    expect(fetches()).to.equal(2)
  })

  it('leave a token of an unknown key in doubt while they cannot be fetched', async () => {
    expect(await check(gateway.auth.token())).to.equal(200)
    gateway.auth.failure = AWAY
    gateway.advance(10)
    const unknown = gateway.auth.token({}, newSigner('next'))
    expect(await check(unknown)).to.equal(503)
    expect(await check(unknown)).to.equal(503)
    expect(await check(gateway.auth.token())).to.equal(200)
  })

  it('leave the tokens of an issuer whose keys nobody can fetch in doubt', async () => {
    const signer = newSigner('theirs')
    const issuer = 'https://issuer.example'
    const token = signed(signer, { iss: issuer, aud: 'store', sub: 'x', exp: Date.parse('2031-02-04') / 1000 })
    gateway.auth.outside = [keySet(issuer, 'store', [])]
    expect(await check(token)).to.equal(503)
    gateway.auth.outside = [keySet(issuer, 'store', [signer])]
    gateway.advance(5)
    expect(await check(token)).to.equal(200)
    expect(await check(signed(signer, { iss: ISSUER, sub: 'x' }))).to.equal(401)
  })

  it('of an outside issuer are looked for by key id, and one that the data service has in doubt is 503', async () => {
    const [before, after] = [newSigner('before'), newSigner('after')]
    const issuer = 'https://issuer.example'
    const exp = Date.parse('2031-02-04') / 1000
    const token = (signer: typeof after): string => signed(signer, { iss: issuer, aud: 'store', sub: 'x', exp })
    const publish = (signer: typeof after, inDoubt: boolean): void => {
      gateway.auth.outside = [{ ...keySet(issuer, 'store', [signer]), inDoubt }]
    }
    publish(before, false)
    expect(await check(token(before))).to.equal(200)
    expect(await check(token(newSigner('made-up')))).to.equal(401)
    expect(gateway.auth.made('keys')).to.deep.equal([undefined, 'made-up'])
    expect(await check(token(newSigner('made-up'))), 'shown absent').to.equal(401)
    const kept = await gateway.send('POST', '/auth/session/token', { cookies: { access: token(after), refresh: 'r' } })
    expectProblem(kept, 503, 'upstream.unavailable')
    expect(kept.headers).to.include({ 'retry-after': '5' }).and.not.have.property('set-cookie')
    expect(fetches()).to.equal(2)
    gateway.advance(5)
    publish(before, true)
    expect(await check(token(after))).to.equal(503)
    expect(gateway.auth.made('keys')).to.deep.equal([undefined, 'made-up', 'after'])
    gateway.advance(5)
    publish(after, false)
    expect(await check(token(after))).to.equal(200)
  })

  it('of a data service that publishes none are no keys', async () => {
    gateway.auth.keys = () => Promise.resolve([])
    expectProblem(await keySetAnswer(), 502, 'upstream.bad-gateway')
  })

  it('of a data service that publishes nonsense are a fault of ours', async () => {
    gateway.auth.keys = () =>
      Promise.resolve([{ issuer: ISSUER, audience: ISSUER, tokenType: '', jwks: Buffer.from('x'), inDoubt: false }])
    expectProblem(await keySetAnswer(), 500, 'internal')
  })
})
