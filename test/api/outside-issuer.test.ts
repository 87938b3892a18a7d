import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { ids } from './http-call.js'
import { listenLocally } from '../harness/local-server.js'

type Claims = Readonly<Record<string, unknown>>

const ISSUER = 'https://issuer.example'
const AUDIENCE = 'the-store'
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const later = Math.floor(Date.now() / 1000) + 600
const claims: Claims = { iss: ISSUER, aud: AUDIENCE, sub: 'someone', exp: later, customer_id: 2, role: 'Customer' }

const keys = createServer((_request, response) => {
  const jwk = (key: KeyObject, more: Claims): object => ({ ...createPublicKey(key).export({ format: 'jwk' }), ...more })
  response.setHeader('content-type', 'application/json')
  response.end(
    JSON.stringify({
      keys: [
        jwk(ec.privateKey, { kid: 'ec', alg: 'ES256', use: 'sig' }),
        jwk(rsa.privateKey, { kid: 'rsa', alg: 'RS256', use: 'sig' }),
        { kty: 'oct', kid: 'oct', k: 'c2VjcmV0' }
      ]
    })
  )
})
const port = await listenLocally(keys)
after(() => keys.close())

function token(header: { readonly kid: string; readonly alg: 'ES256' | 'RS256' }, payload: Claims): string {
  const part = (value: Claims): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part(header)}.${part(payload)}`
  const key = header.alg === 'ES256' ? ec.privateKey : rsa.privateKey
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

describeApi(
  'tokens of an outside issuer',
  (store) => {
    for (const header of [
      { kid: 'ec', alg: 'ES256' },
      { kid: 'rsa', alg: 'RS256' }
    ] as const) {
      it(`are accepted with its ${header.alg} key`, async () => {
        expect(ids(await store.call('/orders', { token: token(header, claims) }))).to.deep.equal([2, 5])
      })
    }

    it('leave those of our own valid', async () => {
      expect(ids(await store.as('ada', '/orders'))).to.deep.equal([1, 3])
    })

    it('have no role of ours but those that settings name', async () => {
      const header = { kid: 'ec', alg: 'ES256' } as const
      const customers = async (more: Claims): Promise<number> =>
        (await store.call('/customers', { token: token(header, { ...claims, ...more }) })).status
      expect(await customers({ role: 'Clerk', permissions: ['customers:manage'] })).to.equal(403)
      expect(await customers({ groups: ['staff'] })).to.equal(200)
    })

    const BAD: readonly (readonly [why: string, token: () => Promise<string> | string])[] = [
      ['the key of one algorithm under another', () => token({ kid: 'rsa', alg: 'ES256' }, claims)],
      ['an unknown kid', () => token({ kid: 'nope', alg: 'ES256' }, claims)],
      ['a nonce, which ID tokens have', () => token({ kid: 'ec', alg: 'ES256' }, { ...claims, nonce: 'n' })],
      ['another audience', () => token({ kid: 'ec', alg: 'ES256' }, { ...claims, aud: 'other' })],
      [
        'an issuer that is neither',
        () => token({ kid: 'ec', alg: 'ES256' }, { ...claims, iss: 'https://other.example' })
      ],
      [
        'its own key under our issuer',
        async () => {
          const own = await ownClaims()
          return token({ kid: 'ec', alg: 'ES256' }, { ...claims, iss: own['iss'], aud: own['aud'] })
        }
      ]
    ]
    for (const [why, made] of BAD) {
      it(`are rejected for ${why}`, async () => {
        const answer = await store.call('/orders', { token: await made() })
        store.problem(answer, { status: 401, code: 'auth.invalid-token' })
      })
    }

    async function ownClaims(): Promise<Claims> {
      const [, payload = ''] = (await store.stack.token('ada@example.com')).split('.')
      const parsed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
      return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
    }
  },
  {
    on: 'sqlite',
    env: () => ({
      JWT_JWKS_URI: `http://127.0.0.1:${port}/keys`,
      JWT_JWKS_ISSUER: ISSUER,
      JWT_JWKS_AUDIENCE: AUDIENCE,
      JWT_JWKS_ROLE_CLAIM: 'groups',
      JWT_JWKS_ROLES: 'staff=Clerk'
    })
  }
)
