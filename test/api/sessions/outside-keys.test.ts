import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { closeLocally, listenLocally } from '../../harness/local-server.js'
import { expectProblem } from '../expect-problem.js'
import { json, type Answer } from '../http-call.js'
import { cookiesOf, SessionStack } from './session-stack.js'

const ISSUER = 'https://issuer.example'
const AUDIENCE = 'the-store'

/** Signs tokens of the issuer under this key id. */
class Signer {
  readonly kid: string
  readonly #privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

  constructor(kid: string) {
    this.kid = kid
  }

  get jwk(): object {
    return { ...createPublicKey(this.#privateKey).export({ format: 'jwk' }), kid: this.kid, alg: 'ES256', use: 'sig' }
  }

  token(): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const exp = Math.floor(Date.now() / 1000) + 600
    const input = `${part({ alg: 'ES256', kid: this.kid })}.${part({ iss: ISSUER, aud: AUDIENCE, sub: 'someone', exp })}`
    const signature = sign('sha256', Buffer.from(input), { key: this.#privateKey, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
}

describe('a session with the token of an outside issuer', () => {
  let published = new Signer('before')
  let fetches = 0
  const issuer = createServer((_request, response) => {
    fetches += 1
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ keys: [published.jwk] }))
  })
  let stack: SessionStack
  before(async () => {
    stack = new SessionStack('sqlite', {
      JWT_JWKS_URI: `http://127.0.0.1:${await listenLocally(issuer)}/keys`,
      JWT_JWKS_ISSUER: ISSUER,
      JWT_JWKS_AUDIENCE: AUDIENCE
    })
    await stack.start()
  })
  after(async () => {
    await stack.stop()
    await closeLocally(issuer)
  })

  const ask = (access: string): Promise<Answer> => stack.send('/auth/session/token', { cookies: { access } })
  const direct = (token: string): Promise<Answer> => stack.send('/categories', { method: 'GET', token })

  it('keeps its cookies while nobody can tell whether the issuer has its new key, and goes on once that is known', async () => {
    const before = published.token()
    expect(json(await ask(before))).to.include({ accessToken: before })

    const forged = await ask(new Signer('made-up').token())
    expect(forged.status).to.equal(401)
    expect(cookiesOf(forged), 'expired').to.deep.equal({ access: '', refresh: '' })

    published = new Signer('after')
    const after = published.token()
    const fetchesBefore = fetches
    for (const answer of [await ask(after), await direct(after), await ask(after)]) {
      expectProblem(answer, { status: 503, code: 'upstream.unavailable', base: stack.url() })
      expect(answer.headers['set-cookie'], 'cookies are kept').to.equal(undefined)
      expect(Number(answer.headers['retry-after'])).to.be.within(1, 30)
    }
    const warnings = stack
      .logText()
      .split('\n')
      .filter((line) => /"level":"(?:warn|error)"/.test(line))
    expect(
      warnings.filter((line) => line.includes('upstream.unavailable')),
      'a line for each token'
    ).to.deep.equal([])
    expect((await ask(new Signer('made-up').token())).status, 'a key that was shown absent').to.equal(401)
    expect(fetches).to.equal(fetchesBefore)

    const deadline = Date.now() + 60_000
    let answer = await ask(after)
    for (; answer.status === 503 && Date.now() < deadline; answer = await ask(after)) await delay(1000)
    expect(json(answer)).to.include({ accessToken: after })
    expect((await direct(after)).status).to.equal(200)
  })
})
