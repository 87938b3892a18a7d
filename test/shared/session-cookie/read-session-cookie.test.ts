import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { readSessionCookie, type SessionCookieResult } from '../../../shared/session-cookie/read-session-cookie.js'
import { outputRoot, packageRoot } from '../../harness/package-root.js'

const NOW = Date.parse('2031-02-03T04:05:06.500Z')
const later = NOW / 1000 + 60

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (claims: unknown, signature = ''): string => `${encode({ alg: 'none' })}.${encode(claims)}.${signature}`
const read = (token: string): SessionCookieResult => readSessionCookie(`app_auth_access=${token}`, () => NOW)

const NO_JWT = { kind: 'failure', message: 'Session cookie is not a valid JWT.' }
const EXPIRED = { kind: 'failure', message: 'Session cookie JWT is expired.' }
const NONE = { kind: 'none' }

describe('the SessionCookie scheme', () => {
  it('has no result without the cookie', () => {
    for (const header of [
      undefined,
      new Headers().get('cookie'),
      '',
      'a=b',
      'app_auth_access',
      'app_auth_access=',
      'xapp_auth_access=a',
      'APP_AUTH_ACCESS=a',
      ';;'
    ]) {
      expect(
        readSessionCookie(header, () => NOW),
        String(header)
      ).to.deep.equal(NONE)
    }
  })

  it('reads subject, name and roles of a token that has not expired, whoever signed it', () => {
    const claims = { sub: 'ada@example.com', name: 'Ada', role: 'Customer', exp: later }
    const principal = { nameIdentifier: 'ada@example.com', name: 'Ada', roles: ['Customer'] }
    for (const token of [jwt(claims), jwt(claims, 'AAAA')]) {
      expect(read(token), token).to.deep.equal({ kind: 'success', principal })
    }
  })

  it('finds the cookie among others', () => {
    const header = `a=b; c; =d;app_auth_access=${jwt({ sub: 'ada', exp: later })} ;\tapp_auth_refresh=r`
    expect(readSessionCookie(header, () => NOW)).to.have.nested.property('principal.nameIdentifier', 'ada')
  })

  const ROLES: readonly (readonly [claims: object, roles: readonly string[]])[] = [
    [{}, []],
    [{ role: 'A' }, ['A']],
    [{ role: ['A', 'B'] }, ['A', 'B']],
    [{ role: 'A', roles: ['B'] }, ['A']],
    [{ role: [null, { a: 1 }, 'B'] }, ['B']],
    [{ role: 1 }, []]
  ]
  for (const [claims, roles] of ROLES) {
    it(`reads the roles of ${JSON.stringify(claims)}`, () => {
      const principal = { nameIdentifier: undefined, name: undefined, roles }
      expect(read(jwt({ ...claims, exp: later }))).to.deep.equal({ kind: 'success', principal })
    })
  }

  it('takes a subject that is no text for none', () => {
    for (const sub of [7, null, ['ada'], { a: 1 }]) {
      expect(read(jwt({ sub, exp: later })), JSON.stringify(sub)).to.have.nested.property(
        'principal.nameIdentifier',
        undefined
      )
    }
  })

  const NO_JWTS: readonly string[] = [
    'garbage',
    'a.b',
    'a.b.c',
    '..',
    '.',
    `${encode({})}.${encode({})}`,
    `${jwt({ exp: later })}.more`,
    `${encode({})}.${encode([])}.`,
    `${encode('text')}.${encode({ exp: later })}.`,
    `${encode({})}.${encode(null)}.`,
    `${encode({})}.${encode(7)}.`,
    `${encode({})}..`,
    `.${encode({ exp: later })}.`,
    `${encode({})}.${encode({ exp: later })}.+/`,
    `${encode({})}.${encode({ exp: later })}.a=`,
    `${encode({})}.${Buffer.from('{"exp":1').toString('base64url')}.`,
    `${encode({})}.${Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]).toString('base64url')}.`,
    `"${jwt({ exp: later })}"`,
    `${jwt({ exp: later })} x`
  ]
  for (const token of NO_JWTS) {
    it(`says that ${token.slice(0, 60)} is no JWT`, () => expect(read(token)).to.deep.equal(NO_JWT))
  }

  it('expires at the moment that exp names, by the clock given', () => {
    const token = `app_auth_access=${jwt({ sub: 'ada', exp: later })}`
    expect(readSessionCookie(token, () => later * 1000 - 1)).to.have.property('kind', 'success')
    expect(readSessionCookie(token, () => later * 1000)).to.deep.equal(EXPIRED)
    expect(readSessionCookie(token, () => later * 1000 + 1)).to.deep.equal(EXPIRED)
  })

  for (const exp of [undefined, null, String(later), true, [later], {}]) {
    it(`takes a token with exp ${JSON.stringify(exp)} for expired`, () => {
      expect(read(jwt({ sub: 'ada', exp }))).to.deep.equal(EXPIRED)
    })
  }

  it('has no result where somebody else may have set the cookie too', () => {
    const [ada, eve] = [jwt({ sub: 'ada', exp: later }), jwt({ sub: 'eve', exp: later })]
    const header = (first: string, second: string): string => `app_auth_access=${first}; app_auth_access=${second}`
    expect(readSessionCookie(header(ada, eve), () => NOW)).to.deep.equal(NONE)
    expect(readSessionCookie(header(ada, ada), () => NOW)).to.have.nested.property('principal.nameIdentifier', 'ada')
  })

  it('goes by the system’s clock unless told otherwise', () => {
    const header = (exp: number): string => `app_auth_access=${jwt({ sub: 'ada', exp })}`
    expect(readSessionCookie(header(1))).to.deep.equal(EXPIRED)
    expect(readSessionCookie(header(8.64e12))).to.have.property('kind', 'success')
  })

  it('is exported to renderers as uniform-rest/session-cookie', async () => {
    const { name, exports } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as Manifest
    const { types, default: built } = exports['./session-cookie']
    expect(name).to.equal('uniform-rest')
    expect(existsSync(join(packageRoot, types))).to.equal(true)
    // dist/ is where `npm run build` puts what this test run may have elsewhere.
    const module: unknown = await import(pathToFileURL(join(outputRoot, built.replace('./dist/', ''))).href)
    expect(module).to.include({ readSessionCookie })
  })
})

interface Manifest {
  readonly name: string
  readonly exports: { readonly './session-cookie': { readonly types: string; readonly default: string } }
}
