import { createServer } from 'node:http'
import { expect } from 'chai'
import { type Answer, call, ids, json } from '../api/http-call.js'
import { eachDatabase } from '../harness/database.js'
import { VARIANTS } from '../harness/variant.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { TokenMint } from '../stack/token-mint.js'
import { LIBRARIAN, LibraryStore } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>

const ISSUER = 'https://issuer.example'
const theirs = new TokenMint()
const published = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ keys: [theirs.jwk] }))
})
const port = await listenLocally(published)
after(() => closeLocally(published))

const OUTSIDE = {
  JWT_JWKS_URI: `http://127.0.0.1:${port}/keys`,
  JWT_JWKS_ISSUER: ISSUER,
  JWT_JWKS_AUDIENCE: 'the-library',
  JWT_JWKS_ROLES: 'staff=Librarian',
  JWT_JWKS_ROLE_CLAIM: 'groups'
}
const tokenOf = (claims: Claims): string => theirs.sign({ iss: ISSUER, aud: 'the-library', ...claims })

/** contract.md section 2: a caller is `iss` + `sub`. The entity files are diaries.ts, documents.ts and tickets.ts. */
eachDatabase(
  (kind) => {
    describe(`a caller of an outside issuer on ${kind}`, () => {
      const store = new LibraryStore()
      after(() => store.stop())
      const rpc = (): GrpcCaller => new GrpcCaller(store.stack.dataAddress)
      const send = (token: string, [method, target]: readonly [string, string], body?: object): Promise<Answer> =>
        call(store.stack.url, target, {
          token,
          method,
          headers: body === undefined ? {} : { 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      const idOf = (made: Answer): number => {
        expect(made.status, made.text).to.equal(201)
        return (json(made) as { readonly id: number }).id
      }
      const theirStaff = { groups: 'staff', member_id: 7, tenant: '0b5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e', branch: 1 }

      before(() => store.start(kind, OUTSIDE))

      it('neither sees nor changes the rows of our account of the same subject', async () => {
        const ours = store.tokenOf({ sub: 'ann' })
        const same = tokenOf({ sub: 'ann' })
        const row = { title: `of ann ${kind}`, author: 'ann' }
        const target = `/diaries/${idOf(await send(ours, ['POST', '/diaries'], row))}`
        expect(ids(await send(same, ['GET', '/diaries']))).to.deep.equal([])
        expect((await send(same, ['GET', target])).status).to.equal(404)
        expect((await send(same, ['DELETE', target])).status).to.equal(404)
        expect((await send(same, ['POST', '/diaries'], { ...row, title: 'forged' })).status).to.equal(403)
        const client = rpc()
        const seen = await client.unary('Get', { resource: 'diaries', id: target.slice(9) }, { token: same })
        expect(isFailure(seen) && seen.details.reason).to.equal('not-found')
        client.close()
        expect((await send(ours, ['GET', target])).status).to.equal(200)
      })

      it('has rows of its own, under its issuer and subject', async () => {
        const same = tokenOf({ sub: 'ann' })
        const author = `${ISSUER} ann`
        const id = idOf(await send(same, ['POST', '/diaries'], { title: `of theirs ${kind}`, author }))
        expect(ids(await send(same, ['GET', '/diaries']))).to.deep.equal([id])
        expect((await send(store.tokenOf({ sub: 'ann' }), ['GET', `/diaries/${id}`])).status).to.equal(404)
        expect((await send(same, ['DELETE', `/diaries/${id}`])).status).to.equal(204)
      })

      it('brings no claim to a row scope or a preset that a setting does not name', async () => {
        const librarian = store.tokenOf({ ...LIBRARIAN, sub: 'boss', branches: [2], grade: 9 })
        const row = { title: 'Closed', branchId: 2, isOpen: false, grade: 5, author: 'boss' }
        const id = idOf(await send(librarian, ['POST', '/documents'], row))
        const claims = { sub: 'mallory', branches: [2], grade: 9 }
        expect((await send(tokenOf(claims), ['GET', `/documents/${id}`])).status).to.equal(404)
        const made = await send(tokenOf({ sub: 'ann', ...theirStaff }), ['POST', '/tickets'], { title: 'a' })
        expect(made.status, made.text).to.equal(201)
        expect(json(made))
          .to.include({ author: `${ISSUER} ann`, number: '7' })
          .and.not.include({ tenant: theirStaff.tenant })
      })
    })

    describe(`JWT_JWKS_CLAIMS on ${kind}`, () => {
      const store = new LibraryStore()
      after(() => store.stop())
      before(() => store.start(kind, { ...OUTSIDE, JWT_JWKS_CLAIMS: 'branches, grade' }))

      it('names the claims of an outside issuer that row scopes see', async () => {
        const librarian = { ...LIBRARIAN, sub: 'boss', branches: [2], grade: 9 }
        const row = { title: 'Closed', branchId: 2, isOpen: false, grade: 5, author: 'boss' }
        const made = await store.as(librarian, '/documents', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(row)
        })
        expect(made.status, made.text).to.equal(201)
        const target = `/documents/${(json(made) as { readonly id: number }).id}`
        const status = async (claims: Claims): Promise<number> =>
          (await call(store.stack.url, target, { token: tokenOf({ sub: 'mallory', ...claims }) })).status
        expect(await status({ branches: [2], grade: 9 })).to.equal(200)
        expect(await status({ branches: [3], grade: 9 })).to.equal(404)
        expect(await status({ branches: [2], grade: 9, clearance: 'none' })).to.equal(200)
      })
    })
  },
  { on: 'sqlite', never: VARIANTS }
)
