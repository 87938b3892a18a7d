import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { expect } from 'chai'
import jwt, { type JwtHeader, type SignOptions } from 'jsonwebtoken'
import { identifyBy, outsideClaimMapping, permissionsOf } from '../../../data-service/auth/tokens/claims.js'
import { ownIssuer } from '../../../data-service/auth/tokens/signing-keys.js'
import { readConfig } from '../../../data-service/config.js'
import { roles } from '../../../examples/store/roles.js'
import store from '../../../examples/store/uniform-rest.config.js'
import type { Authenticated, Caller } from '../../../data-service/entity/caller.js'
import { algorithmOf, type Issuer, thumbprint, type VerificationKey } from '../../../shared/access-token.js'
import { DomainError } from '../../../shared/errors.js'

interface Pair extends VerificationKey {
  readonly privateKey: KeyObject
}

function pair(privateKey: KeyObject): Pair {
  const key = createPublicKey(privateKey)
  const algorithm = algorithmOf(key)
  if (algorithm === undefined) throw new Error('unfit key')
  return { kid: thumbprint(key), algorithm, key, privateKey }
}

const own = pair(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
const outside = pair(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey)
const keySet = (key: Pair) => () => ({ signing: key, verifying: [key] })
const NOW = 1_800_000_000
const issuers: readonly Issuer[] = [
  ownIssuer({ issuer: 'own', audience: 'store' }, keySet(own)),
  ownIssuer({ issuer: 'outside', audience: 'other' }, keySet(outside))
]
const identify = identifyBy(issuers, {
  ownerClaimType: 'customer_id',
  permissionsOf: permissionsOf(roles),
  now: () => NOW * 1000
})

const claims = { iss: 'own', aud: 'store', sub: 'u', iat: NOW, exp: NOW + 60 }
const sign = (payload: object, by: Pair = own, options: SignOptions = {}): string =>
  jwt.sign(payload, by.privateKey, { algorithm: by.algorithm, keyid: by.kid, ...options })
const bearer = (payload: object): Promise<Caller> => identify([`Bearer ${sign({ ...claims, ...payload })}`])
const caller = async (payload: object): Promise<Authenticated> => {
  const found = await bearer(payload)
  if (found.kind !== 'authenticated') throw new Error('anonymous')
  return found
}

async function rejection(...authorization: string[]): Promise<string> {
  const error: unknown = await identify(authorization).catch((reason: unknown) => reason)
  return error instanceof DomainError ? error.code : 'accepted'
}

describe('identifyBy', () => {
  it('names a machine for log lines, which no rule takes for a claim of the account', async () => {
    const machine = await caller({ client_id: 'u' })
    expect(machine).to.include({ machine: 'u' })
    expect(machine.claims).to.not.have.property('client_id')
    const person = await caller({ client_id: 'a tenant' })
    expect(person).to.not.have.property('machine')
    expect(person.claims).to.include({ client_id: 'a tenant' })
    const long = 'u'.repeat(129)
    expect(await caller({ sub: long, client_id: long })).to.not.have.property('machine')
  })

  it('takes nobody for anonymous, and a bearer token of either issuer for its subject', async () => {
    expect(await identify([])).to.deep.equal({ kind: 'anonymous' })
    expect(await caller({})).to.include({ issuer: 'own', subject: 'u', owner: null })
    const token = sign({ ...claims, iss: 'outside', aud: ['x', 'other'] }, outside)
    expect(await identify([`bearer ${token}`])).to.include({ issuer: 'outside', subject: 'u' })
  })

  it('takes a token again until it expires, and never a changed one', async () => {
    let now = NOW * 1000
    const at = identifyBy(issuers, {
      ownerClaimType: 'customer_id',
      permissionsOf: permissionsOf(roles),
      now: () => now
    })
    const accepted = (token: string): Promise<boolean> =>
      at([`Bearer ${token}`]).then(
        ({ kind }) => kind === 'authenticated',
        () => false
      )
    const token = sign(claims)
    expect(await at([`Bearer ${token}`])).to.equal(await at([`Bearer ${token}`]))
    expect(await accepted(token.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')))).to.equal(false)
    now = (NOW + 60) * 1000 - 1
    expect(await accepted(token)).to.equal(true)
    now = (NOW + 60) * 1000
    expect(await accepted(token)).to.equal(false)
  })

  it('keeps verified tokens by what they take, and not by their number', async () => {
    const how = { ownerClaimType: 'customer_id', permissionsOf: permissionsOf(roles), now: () => NOW * 1000 }
    const at = identifyBy(issuers, how)
    const first = [`Bearer ${sign(claims)}`]
    const kept = await at(first)
    // Less than 5 KiB of text each, and more than 100 KiB on the heap.
    const takes = async (count: number, groups: readonly object[]): Promise<void> => {
      for (let n = 0; n < count; n++) await at([`Bearer ${sign({ ...claims, sub: `u${n}`, groups })}`])
    }
    await takes(300, [])
    expect(await at(first)).to.equal(kept)
    const many = Array.from({ length: 1000 }, () => ({}))
    await takes(100, many)
    expect(await at(first)).to.equal(kept)
    await takes(200, many)
    expect(await at(first)).to.not.equal(kept)
  })

  it('takes no token of a key that its issuer has given up, although it took it before', async () => {
    let current = own
    const another = pair(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
    const issuer = ownIssuer({ issuer: 'own', audience: 'store' }, () => ({ signing: current, verifying: [current] }))
    const how = { ownerClaimType: 'customer_id', permissionsOf: permissionsOf(roles), now: () => NOW * 1000 }
    const at = identifyBy([issuer], how)
    const value = [`Bearer ${sign(claims)}`]
    expect(await at(value)).to.include({ subject: 'u' })
    current = another
    expect(await at(value).catch((error: unknown) => error)).to.include({ code: 'auth.invalid-token' })
    // Another key under the same id verifies anew, too.
    current = { ...another, kid: own.kid }
    expect(await at(value).catch((error: unknown) => error)).to.include({ code: 'auth.invalid-token' })
    current = own
    expect(await at(value)).to.include({ subject: 'u' })
  })

  it('checks no signature of an expired token, whoever signed it', async () => {
    let checks = 0
    const counted = issuers.map((issuer): Issuer => ({
      ...issuer,
      key: (kid) => {
        checks += 1
        return issuer.key(kid)
      }
    }))
    const how = { ownerClaimType: 'customer_id', permissionsOf: permissionsOf(roles), now: () => NOW * 1000 }
    const at = identifyBy(counted, how)
    const expired = sign({ ...claims, exp: NOW })
    for (const token of [expired, expired, expired.replace(/.{4}$/, 'AAAA')]) {
      const error: unknown = await at([`Bearer ${token}`]).catch((reason: unknown) => reason)
      expect(error).to.include({ code: 'auth.invalid-token' })
    }
    expect(checks).to.equal(0)
    await at([`Bearer ${sign({ ...claims, exp: NOW + 1 })}`])
    expect(checks).to.equal(1)
  })

  it('rejects what is no single bearer token', async () => {
    const token = sign(claims)
    for (const value of ['', 'Bearer', 'Bearer ', token, `Basic ${token}`, `Bearer ${token} x`, `Bearer a.b.c`]) {
      expect(await rejection(value), value).to.equal('auth.invalid-token')
    }
    expect(await rejection(`Bearer ${token}`, `Bearer ${token}`)).to.equal('auth.invalid-token')
  })

  it('rejects a wrong issuer, audience, time, key id or subject', async () => {
    const { exp: _exp, ...endless } = claims
    const { sub: _sub, ...nobody } = claims
    const tokens = {
      issuer: sign({ ...claims, iss: 'x' }),
      audience: sign({ ...claims, aud: 'other' }),
      expired: sign({ ...claims, exp: NOW - 1 }),
      early: sign({ ...claims, nbf: NOW + 5 }),
      endless: sign(endless),
      nobody: sign(nobody),
      kid: sign(claims, own, { keyid: 'x' }),
      keyless: jwt.sign(claims, own.privateKey, { algorithm: 'ES256' }),
      critical: sign(claims, own, { header: { alg: 'ES256', crit: ['x'] } satisfies JwtHeader & { crit: string[] } })
    }
    expect(await rejection(`Bearer ${sign(claims)}`)).to.equal('accepted')
    for (const [what, token] of Object.entries(tokens)) {
      expect(await rejection(`Bearer ${token}`), what).to.equal('auth.invalid-token')
    }
  })

  it('rejects any other algorithm, and a key for another issuer', async () => {
    const unsigned = jwt.sign(claims, '', { algorithm: 'none', keyid: own.kid })
    const secret = own.key.export({ type: 'spki', format: 'pem' })
    const symmetric = jwt.sign(claims, secret, { algorithm: 'HS256', keyid: own.kid })
    const impostor = pair(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
    const forged = sign(claims, impostor, { keyid: own.kid })
    const crossed = sign(claims, outside)
    const altered = sign(claims).replace(/.{4}$/, 'AAAA')
    for (const token of [unsigned, symmetric, forged, crossed, altered]) {
      expect(await rejection(`Bearer ${token}`), token).to.equal('auth.invalid-token')
    }
  })

  it('rejects tokens whose claims are no object', async () => {
    const part = (text: string): string => Buffer.from(text).toString('base64url')
    for (const payload of ['null', '1', '"x"', '[]', '{', '']) {
      expect(
        await rejection(`Bearer ${part('{"alg":"ES256","typ":"JWT"}')}.${part(payload)}.AAAA`),
        JSON.stringify(payload)
      ).to.equal('auth.invalid-token')
    }
  })

  it('reads owners as 64-bit integers and takes anything else for missing', async () => {
    const owner = async (claim: unknown): Promise<bigint | null> => (await caller({ customer_id: claim })).owner
    expect(await owner(42)).to.equal(42n)
    expect(await owner('-042')).to.equal(-42n)
    expect(await owner(`${'0'.repeat(500)}1`)).to.equal(1n)
    expect(await owner('9223372036854775807')).to.equal(2n ** 63n - 1n)
    expect(await owner(Number.MAX_SAFE_INTEGER)).to.equal(2n ** 53n - 1n)
    for (const claim of [2 ** 53, 1.5, '', '+1', ' 1', '1e3', '9223372036854775808', true, null, [1], { a: 1 }]) {
      expect(await owner(claim), JSON.stringify(claim)).to.equal(null)
    }
  })

  it('reads roles and permissions', async () => {
    expect((await caller({ role: 'Clerk' })).permissions).to.include('products:manage')
    const both = await caller({ role: ['clerk', 'Guest', 7], permissions: ['x:y', 3] })
    expect(both.roles).to.deep.equal(['clerk', 'Guest'])
    expect(both.permissions).to.include('x:y').and.include('products:manage').and.not.include('orders:manage')
    expect((await caller({ role: 'Admin' })).permissions).to.include('audit:read')
    expect((await caller({ permissions: 'x:y' })).permissions.size).to.equal(0)
    expect((await caller({ role: 'Customer', roles: ['Admin'] })).roles).to.deep.equal(['Customer'])
  })
})

describe('tokens of an outside issuer', () => {
  const settings = {
    JWT_JWKS_URI: 'https://keys.example',
    JWT_JWKS_ISSUER: 'outside',
    JWT_JWKS_AUDIENCE: 'other'
  }
  const theirs = {
    iss: 'outside',
    aud: 'other',
    sub: 'u',
    exp: NOW + 60,
    role: ['Admin', 'boss', 'helper', 'boss'],
    permissions: ['products:manage', 'read:audit'],
    customer_id: 7,
    owner_of: 8,
    realm_access: { roles: ['boss'] },
    'dotted.claim': ['helper']
  }
  const under = async (more: Record<string, string>, options: SignOptions = {}): Promise<Authenticated> => {
    const { tokens, ownership } = readConfig(
      { ...settings, ...more },
      { ...store, owners: { rider: 'rider_id' } }
    ).config
    if (tokens.outside === undefined) throw new Error('no outside issuer')
    const { tokenType, claims: read } = tokens.outside
    const identifyTheirs = identifyBy(
      [ownIssuer({ issuer: 'outside', audience: 'other' }, keySet(outside))].map((one) => ({ ...one, tokenType })),
      {
        ownerClaimType: ownership.claimType,
        permissionsOf: permissionsOf(roles),
        outside: new Map([['outside', outsideClaimMapping(read, ownership.claimType)]]),
        now: () => NOW * 1000
      }
    )
    const { subject: sub = theirs.sub, ...others } = options
    const found = await identifyTheirs([`Bearer ${sign({ ...theirs, sub }, outside, others)}`])
    if (found.kind !== 'authenticated') throw new Error('anonymous')
    return found
  }

  it('give no role and no permission by default, whatever they are called', async () => {
    const found = await under({})
    expect(found).to.deep.include({ issuer: 'outside', subject: 'u', roles: [], owner: 7n })
    expect(found.permissions.size).to.equal(0)
  })

  it('give the roles and permissions of ours that settings name, and no others', async () => {
    const found = await under({
      JWT_JWKS_ROLES: 'boss=Clerk, a=b=Admin, helper = Guest',
      JWT_JWKS_PERMISSIONS: 'read:audit=audit:read'
    })
    expect(found.roles).to.deep.equal(['Clerk', 'Guest'])
    expect(found.permissions).to.include('audit:read').and.include('products:manage').and.not.include('orders:manage')
  })

  it('are read from the claims that settings name, nested ones too', async () => {
    const roles = async (claim: string): Promise<readonly string[]> =>
      (await under({ JWT_JWKS_ROLES: 'boss=Clerk,helper=Guest', JWT_JWKS_ROLE_CLAIM: claim })).roles
    expect(await roles('realm_access.roles')).to.deep.equal(['Clerk'])
    expect(await roles('dotted.claim')).to.deep.equal(['Guest'])
    for (const claim of ['x', 'realm_access', 'realm_access.x.y', 'constructor.name']) {
      expect(await roles(claim), claim).to.deep.equal([])
    }
    expect((await under({ JWT_JWKS_OWNER_CLAIM: 'owner_of' })).owner).to.equal(8n)
    expect((await under({ JWT_JWKS_OWNER_CLAIM: 'x' })).owner).to.equal(null)
    expect((await under({})).owners).to.deep.equal({})
    expect((await under({ JWT_JWKS_OWNERS: 'owner_of=rider' })).owners).to.deep.equal({ rider: 8n })
    expect((await under({ JWT_JWKS_OWNERS: 'x=rider' })).owners).to.deep.equal({ rider: null })
    expect(() => readConfig({ ...settings, JWT_JWKS_OWNERS: 'owner_of=driver' }, store)).to.throw(
      'JWT_JWKS_OWNERS must'
    )
  })

  it('bring to rules a subject with its issuer, and no claim but those that a setting names', async () => {
    expect(await under({})).to.deep.include({ subject: 'u', subjectInRules: 'outside u', claims: {} })
    const named = await under({ JWT_JWKS_CLAIMS: 'owner_of, dotted.claim,realm_access.roles,constructor' })
    expect(named.claims).to.deep.equal({ owner_of: 8, 'dotted.claim': ['helper'] })
    expect(await caller({ team: 1 })).to.include({ subject: 'u', subjectInRules: 'u' })
    expect((await caller({ team: 1 })).claims).to.include({ team: 1, sub: 'u' })
  })

  it('own nothing by their subject, unless a setting names it', async () => {
    const ours = { OWNER_CLAIM_TYPE: 'sub' }
    expect((await under(ours, { subject: '7' })).owner).to.equal(null)
    expect((await under({ ...ours, JWT_JWKS_OWNER_CLAIM: 'sub' }, { subject: '7' })).owner).to.equal(7n)
    expect((await under({ ...ours, JWT_JWKS_OWNER_CLAIM: 'customer_id' }, { subject: '8' })).owner).to.equal(7n)
  })

  it('must have the type that a setting asks for', async () => {
    const typed = (typ: string): SignOptions => ({ header: { alg: outside.algorithm, typ } })
    const required = { JWT_JWKS_TOKEN_TYPE: 'at+jwt' }
    await under({}, typed('anything'))
    await under(required, typed('AT+JWT'))
    await under(required, typed('application/at+jwt'))
    for (const typ of ['JWT', 'at', 'text/at+jwt']) {
      const error: unknown = await under(required, typed(typ)).catch((reason: unknown) => reason)
      expect(error, typ).to.include({ code: 'auth.invalid-token' })
    }
  })
})
