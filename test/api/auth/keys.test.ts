import { createPublicKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import jwt from 'jsonwebtoken'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { opened, type AuthCaller } from './auth-caller.js'
import { DataServices } from './data-services.js'
import { listenLocally } from '../../harness/local-server.js'

const ada = { email: 'ada@example.com', password: 'demo-password' }

type Jwk = JsonWebKey & { readonly kid?: string }

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

async function jwksOf(caller: AuthCaller, place = 0): Promise<readonly Jwk[]> {
  const { issuers } = await caller.keys()
  const parsed: unknown = JSON.parse(issuers[place]?.jwks.toString() ?? '{}')
  const keys: unknown = typeof parsed === 'object' && parsed !== null && 'keys' in parsed ? parsed.keys : []
  // What a JSON Web Key Set holds.
  return keys as Jwk[]
}

describe('the service’s own keys', () => {
  it('are told by Keys, each for one algorithm, with nothing private', async () => {
    await using services = await DataServices.over('sqlite')
    const { caller } = await services.start()
    const { issuers } = await caller.keys()
    expect(issuers.map(({ issuer, audience }) => [issuer, audience])).to.deep.equal([['uniform-rest', 'uniform-rest']])
    const [key] = await jwksOf(caller)
    expect(key).to.have.all.keys('kty', 'crv', 'x', 'y', 'kid', 'alg', 'use')
    expect(key).to.include({ kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' })
    const { accessToken } = await opened(caller.login(ada))
    const verified = jwt.verify(accessToken, createPublicKey({ key: key ?? {}, format: 'jwk' }), { complete: true })
    expect(verified.header.kid).to.equal(key?.kid)
  })

  it('roll over while the service runs, and no token is rejected before its key is dropped', async () => {
    await using services = await DataServices.over('sqlite')
    const [before, after] = [
      generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
      generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    ].map(pemOf)
    const file = join(services.dataDir, 'keys.pem')
    await writeFile(file, `${before}`)
    const { caller, service, address } = await services.start({ JWT_PRIVATE_KEY_FILE: file })
    const rpc = new GrpcCaller(address)
    const accepts = async (token: string): Promise<boolean> => {
      const answer = await rpc.unary('List', { resource: 'products' }, { token })
      if (isFailure(answer)) expect(answer.status).to.equal(status.UNAUTHENTICATED)
      return !isFailure(answer)
    }
    let read = 0
    const put = async (text: string): Promise<void> => {
      read += 1
      const count = (): number => service.logs().filter(({ msg }) => msg === 'signing keys read again').length
      await writeFile(file, text)
      await service.logged(() => count() === read)
    }
    const kidOf = (token: string): string | undefined => jwt.decode(token, { complete: true })?.header.kid
    try {
      const [first] = await jwksOf(caller)
      const old = (await opened(caller.login(ada))).accessToken
      expect(kidOf(old)).to.equal(first?.kid)

      await put(`${before}${after}`)
      const both = await jwksOf(caller)
      expect(both.map(({ kty, kid }) => [kty, kid === first?.kid])).to.deep.equal([
        ['EC', true],
        ['RSA', false]
      ])
      expect(kidOf((await opened(caller.login(ada))).accessToken)).to.equal(first?.kid)

      await put(`${after}${before}`)
      const young = (await opened(caller.login(ada))).accessToken
      expect(kidOf(young)).to.equal(both[1]?.kid)
      expect([await accepts(old), await accepts(young)]).to.deep.equal([true, true])

      await writeFile(file, `${after}${before}`.slice(0, -40))
      const broken = await service.logged(({ level }) => level === 'error')
      expect(broken['reason']).to.include('incomplete PEM block')
      expect([await accepts(old), await accepts(young)]).to.deep.equal([true, true])

      await put(`${after}`)
      expect([await accepts(old), await accepts(young)]).to.deep.equal([false, true])
      expect(await jwksOf(caller)).to.have.length(1)
      expect(JSON.stringify(service.logs())).to.not.include('BEGIN')
    } finally {
      rpc.close()
    }
  })

  it('are told with those of an outside issuer, after them, and with none while those cannot be had', async () => {
    await using services = await DataServices.over('sqlite')
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const published = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'theirs' }] }
    let reachable = false
    const server = createServer((_request, response) => {
      response.writeHead(reachable ? 200 : 503).end(JSON.stringify(published))
    })
    const port = await listenLocally(server)
    try {
      const outside = {
        JWT_JWKS_URI: `http://127.0.0.1:${port}/`,
        JWT_JWKS_ISSUER: 'https://issuer.example',
        JWT_JWKS_AUDIENCE: 'shop'
      }
      const without = await services.start(outside)
      expect((await without.caller.keys()).issuers.map(({ issuer }) => issuer)).to.deep.equal([
        'uniform-rest',
        'https://issuer.example'
      ])
      expect(await jwksOf(without.caller, 1)).to.deep.equal([])
      reachable = true
      const { caller } = await services.start(outside)
      const { issuers } = await caller.keys()
      expect(issuers.map(({ issuer, audience }) => [issuer, audience])).to.deep.equal([
        ['uniform-rest', 'uniform-rest'],
        ['https://issuer.example', 'shop']
      ])
      expect(await jwksOf(caller, 1)).to.deep.equal([{ ...published.keys[0], alg: 'ES256', use: 'sig' }])
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})
