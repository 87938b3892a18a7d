import { createHmac, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { LogEntry } from '../stack/server-log.js'
import { describeApi } from './api-store.js'
import { ids } from './http-call.js'

type Claims = Readonly<Record<string, unknown>>

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const decode = (part = ''): Claims => {
  const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
const now = (): number => Math.floor(Date.now() / 1000)

/** JWS with ES256, as RFC 7515 lays it out. */
function es256(key: KeyObject, header: Claims, claims: Claims): string {
  const input = `${encode({ alg: 'ES256', ...header })}.${encode(claims)}`
  return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const folder = await mkdtemp(join(tmpdir(), 'key-'))
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const keyFile = join(folder, 'key.pem')
const publicPem = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }).toString()

before(() => writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 }))
after(() => rm(folder, { recursive: true, force: true }))

describeApi(
  'bearer tokens',
  (store) => {
    let header: Claims
    let claims: Claims
    let good: string

    before(async () => {
      good = await store.stack.token('ada@example.com')
      const [first, second] = good.split('.')
      header = decode(first)
      claims = decode(second)
    })

    it('are minted with the given key, a kid, an issuer, an audience and an end', () => {
      expect(header).to.include({ alg: 'ES256' }).and.have.property('kid').that.is.a('string')
      expect(claims).to.include.keys('iss', 'aud', 'sub', 'exp')
    })

    const signed = (changed: Claims, key = privateKey): string =>
      es256(key, { kid: header['kid'] }, { ...claims, ...changed })
    const without = (name: string): string => {
      const { [name]: _left, ...rest } = claims
      return es256(privateKey, { kid: header['kid'] }, rest)
    }

    it('pass when all is right, whatever the order of claims', async () => {
      const answer = await store.call('/orders', { token: signed({}) })
      expect(ids(answer)).to.deep.equal([1, 3])
    })

    const BAD: readonly (readonly [why: string, token: () => string])[] = [
      ['garbage', () => 'garbage'],
      ['two parts', () => good.split('.').slice(0, 2).join('.')],
      ['an empty signature', () => `${good.split('.').slice(0, 2).join('.')}.`],
      ['a truncated signature', () => good.slice(0, -10)],
      [
        'a signature of other claims',
        () => [encode(header), encode({ ...claims, customer_id: 2 }), good.split('.')[2]].join('.')
      ],
      ['alg none', () => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`],
      [
        'alg none with a signature',
        () => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.${good.split('.')[2] ?? ''}`
      ],
      [
        'HS256 keyed by the public key',
        () => {
          const input = `${encode({ ...header, alg: 'HS256' })}.${encode(claims)}`
          return `${input}.${createHmac('sha256', publicPem).update(input).digest('base64url')}`
        }
      ],
      ['RS256 keyed by an EC key', () => es256(privateKey, { alg: 'RS256', kid: header['kid'] }, claims)],
      ['a kid that is missing', () => es256(privateKey, {}, claims)],
      ['critical header parameters', () => es256(privateKey, { kid: header['kid'], crit: ['exp'], exp: 1 }, claims)],
      ['a key of a stranger under the right kid', () => signed({}, stranger)],
      ['an unknown kid', () => es256(privateKey, { kid: 'other' }, claims)],
      [
        'a key of its own in the header',
        () => es256(stranger, { kid: header['kid'], jwk: createPublicKey(stranger).export({ format: 'jwk' }) }, claims)
      ],
      ['another audience', () => signed({ aud: 'somebody-else' })],
      ['another issuer', () => signed({ iss: 'https://evil.example' })],
      ['no audience', () => without('aud')],
      ['no issuer', () => without('iss')],
      ['a subject with U+0000', () => signed({ sub: 'ada\0@example.com' })],
      ['a subject with half a surrogate pair', () => signed({ sub: 'ada\ud83d' })],
      ['no end', () => without('exp')],
      ['an end in the past', () => signed({ exp: now() - 3600 })],
      ['an end that is no number', () => signed({ exp: 'tomorrow' })],
      ['a beginning in the future', () => signed({ nbf: now() + 3600 })]
    ]
    for (const [index, [why, token]] of BAD.entries()) {
      it(`are rejected for ${why}, on public reads as well, and logged once without the token`, async () => {
        const targets = ['/orders', '/products', '/products/1', '/products/export', '/products/lookup']
        const bad = token()
        const idOf = (target: string): string => `bad-${index}${target.replaceAll('/', '.')}`
        for (const target of targets) {
          const answer = await store.call(target, { token: bad, headers: { 'x-request-id': idOf(target) } })
          const violations = [{ code: 'auth.invalid-token', header: 'Authorization' }]
          store.problem(answer, { status: 401, code: 'auth.invalid-token', violations })
          expect(answer.headers['www-authenticate'], target).to.match(/^Bearer\b.*error="invalid_token"/)
        }
        const { dataService } = store.stack
        for (const target of targets) {
          const isRejection = ({ msg, requestId, code }: LogEntry): boolean =>
            msg !== 'call' && requestId === idOf(target) && code === 'auth.invalid-token'
          const rejection = await dataService.logged(isRejection)
          expect(rejection['reason'], target).to.be.a('string').and.not.equal('')
          expect(dataService.logs().filter(isRejection), target).to.have.length(1)
        }
        expect(JSON.stringify(store.stack.logs())).to.not.include(bad.slice(0, 60))
      })
    }

    for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', 'Token x', 'Bearer a b']) {
      it(`do not come as ${JSON.stringify(authorization)}`, async () => {
        const answer = await store.call('/orders', { headers: { authorization } })
        expect(answer.status).to.equal(401)
        expect(answer.headers['www-authenticate']).to.match(/^Bearer/)
      })
    }

    it('come under a scheme of any letter case', async () => {
      expect(ids(await store.call('/orders', { headers: { authorization: `bearer ${good}` } }))).to.deep.equal([1, 3])
    })

    const OWNERS: readonly (readonly [claim: unknown, own: readonly number[] | 403])[] = [
      [1, [1, 3]],
      ['1', [1, 3]],
      ['0001', [1, 3]],
      [2, [2, 5]],
      [-1, []],
      ['-1', []],
      ['9223372036854775807', []],
      ['9223372036854775808', 403],
      [9007199254740993, 403],
      [1.5, 403],
      ['1.0', 403],
      ['+1', 403],
      [' 1', 403],
      ['', 403],
      ['1e0', 403],
      [true, 403],
      [null, 403],
      [[1], 403],
      [{}, 403]
    ]
    for (const [claim, own] of OWNERS) {
      it(`with the owner claim ${JSON.stringify(claim)} see ${JSON.stringify(own)}`, async () => {
        const answer = await store.call('/orders', { token: signed({ customer_id: claim }) })
        if (own === 403) store.problem(answer, { status: 403, code: 'ownership.denied' })
        else expect(ids(answer)).to.deep.equal(own)
      })
    }

    for (const role of ['Admin', 'admin', ['Customer', 'ADMIN']]) {
      it(`with the role ${JSON.stringify(role)} see every row`, async () => {
        const token = signed({ role, customer_id: undefined })
        expect(ids(await store.call('/orders', { token }))).to.deep.equal([1, 2, 3, 4, 5])
      })
    }
    for (const role of ['Administrator', 'Admin ', ['Customer'], null, 'Admin,Customer']) {
      it(`with the role ${JSON.stringify(role)} and no owner claim see none`, async () => {
        const answer = await store.call('/orders', { token: signed({ role, customer_id: undefined }) })
        store.problem(answer, { status: 403, code: 'ownership.denied' })
      })
    }

    it('may carry permissions of their own', async () => {
      const token = signed({ permissions: ['customers:manage'] })
      expect(ids(await store.call('/customers', { token }))).to.deep.equal([1, 2, 3])
      const other = await store.call('/customers', { token: signed({ permissions: ['customers:read'] }) })
      store.problem(other, { status: 403, code: 'capability.denied' })
      const text = await store.call('/customers', { token: signed({ permissions: 'customers:manage' }) })
      store.problem(text, { status: 403, code: 'capability.denied' })
    })
  },
  { on: 'sqlite', never: ['cuts'], env: () => ({ JWT_PRIVATE_KEY_FILE: keyFile }) }
)
