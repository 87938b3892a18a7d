import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { pino } from 'pino'
import { fetchJwks, outsideIssuer } from '../../../data-service/auth/tokens/outside-issuer.js'
import { loadSigningKey } from '../../../data-service/auth/tokens/signing-keys.js'
import type { VerificationKey } from '../../../shared/access-token.js'
import { closeLocally, listenLocally } from '../../harness/local-server.js'

describe('loadSigningKey', () => {
  let dataDir: string
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'keys-'))
  })
  afterEach(() => rm(dataDir, { recursive: true }))

  it('makes one key, readable by its owner alone, however many start at once', async () => {
    const folder = join(dataDir, 'new')
    const keys = await Promise.all(
      Array.from({ length: 8 }, () => loadSigningKey({ file: undefined, dataDir: folder }))
    )
    expect(new Set(keys.map(({ kid }) => kid)).size).to.equal(1)
    expect((await loadSigningKey({ file: undefined, dataDir: folder })).kid).to.equal(keys[0]?.kid)
    const files = await readdir(folder)
    expect(files).to.have.length(1)
    expect((await stat(join(folder, files[0] ?? ''))).mode & 0o777).to.equal(0o600)
  })

  it('takes a given EC P-256 or RSA key and says what else is wrong', async () => {
    const file = join(dataDir, 'key.pem')
    const put = (key: {
      privateKey: { export(o: { type: 'pkcs8'; format: 'pem' }): string | Buffer }
    }): Promise<void> => writeFile(file, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const load = (): Promise<string> =>
      loadSigningKey({ file, dataDir }).then(
        ({ algorithm }) => algorithm,
        (error: unknown) => (error instanceof Error ? error.message : 'no error')
      )
    expect(await load()).to.match(/cannot be read \(ENOENT\)/)
    await writeFile(file, 'nonsense')
    expect(await load()).to.match(/holds no private key/)
    await put(generateKeyPairSync('ec', { namedCurve: 'P-384' }))
    expect(await load()).to.match(/EC P-256 key or an RSA key/)
    await put(generateKeyPairSync('rsa', { modulusLength: 1024 }))
    expect(await load()).to.match(/at least 2048 bits/)
    await put(generateKeyPairSync('rsa', { modulusLength: 2048 }))
    expect(await load()).to.equal('RS256')
    await put(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
    expect(await load()).to.equal('ES256')
  })
})

describe('outsideIssuer', () => {
  const config = { jwksUri: 'https://keys.example', issuer: 'i', audience: 'a' }
  const key = {
    kid: 'k',
    algorithm: 'ES256',
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  } as const

  const doubtOf = (asked: Promise<unknown>): Promise<unknown> => asked.catch((reason: unknown) => reason)

  it('fetches once for many, and for made-up key ids not more often than every 30 seconds', async () => {
    let now = 0
    let fetches = 0
    const keys = new Map<string, VerificationKey>([['k', key]])
    const issuer = outsideIssuer(config, {
      now: () => now,
      fetchKeys: () => Promise.resolve(new Map([...keys, [`n${++fetches}`, key]]))
    })
    const asked = ['k', 'k', 'k'].map((kid) => issuer.key(kid))
    expect(await Promise.all(asked)).to.deep.equal([key, key, key])
    expect(fetches).to.equal(1)
    for (let i = 0; i < 10; i++)
      expect(await doubtOf(issuer.key(`made-up-${i}`)), `id ${i}`).to.include({ code: 'upstream.unavailable' })
    expect(fetches).to.equal(1)
    now = 30_000
    expect(await issuer.key('n2')).to.equal(key)
    expect(fetches).to.equal(2)
    for (let i = 0; i < 10; i++) expect(await issuer.key(`made-up-${i}`), `id ${i}`).to.equal(undefined)
    expect(await issuer.key('n1'), 'withdrawn').to.equal(undefined)
    expect(await doubtOf(issuer.key('n3'))).to.include({ code: 'upstream.unavailable', retryAfter: 30 })
    expect(fetches).to.equal(2)
    now += 30_000
    expect(await issuer.key('n3')).to.equal(key)
    now += 11 * 60_000
    await issuer.key('k')
    expect(fetches).to.equal(4)
  })

  it('fetches for an unknown key id although it has just fetched for another reason', async () => {
    let fetches = 0
    const issuer = outsideIssuer(config, {
      now: () => 0,
      fetchKeys: () => Promise.resolve(new Map([[`n${++fetches}`, key]]))
    })
    expect((await issuer.keys()).keys).to.deep.equal([key])
    expect(await issuer.key('made-up')).to.equal(undefined)
    expect(fetches).to.equal(2)
  })

  it('does not decide on a key id by a fetch that began before it was asked for', async () => {
    const answers: ((keys: Map<string, VerificationKey>) => void)[] = []
    const issuer = outsideIssuer(config, {
      now: () => 0,
      fetchKeys: () => new Promise((resolve) => answers.push(resolve))
    })
    const listed = issuer.keys()
    const asked = [issuer.key('new'), issuer.key('new'), issuer.key('made-up')]
    answers[0]?.(new Map([['k', key]]))
    await listed
    while (answers.length < 2) await new Promise((done) => setImmediate(done))
    answers[1]?.(new Map([['new', key]]))
    expect(await Promise.all(asked)).to.deep.equal([key, key, undefined])
    expect(answers).to.have.length(2)
  })

  it('remembers so many made-up key ids and no more', async () => {
    let now = 0
    const issuer = outsideIssuer(config, { now: () => now, fetchKeys: () => Promise.resolve(new Map([['k', key]])) })
    await issuer.key('first')
    for (let i = 0; i < 499; i++) await doubtOf(issuer.key(`made-up-${i}`))
    expect(await issuer.key('first')).to.equal(undefined)
    for (let i = 0; i < 500; i++) await doubtOf(issuer.key(`more-${i}`))
    expect(await doubtOf(issuer.key('first'))).to.include({ code: 'upstream.unavailable' })
    now = 30_000
    expect(await issuer.key('first')).to.equal(undefined)
  })

  it('keeps serving with known keys while the issuer is down, for a day', async () => {
    let now = 0
    let down = false
    const fetchKeys = (): Promise<Map<string, VerificationKey>> =>
      down ? Promise.reject(new Error('down')) : Promise.resolve(new Map([['k', key]]))
    const told: string[] = []
    const log = pino({ base: null, timestamp: false }, { write: (line) => void told.push(line) })
    const issuer = outsideIssuer(config, { now: () => now, fetchKeys, log })
    await issuer.key('k')
    down = true
    now = 60 * 60_000
    expect(await issuer.key('k')).to.equal(key)
    for (let i = 0; i < 3; i++, now += 30_000) {
      const doubt: unknown = await issuer.key('new').catch((reason: unknown) => reason)
      expect(doubt, `time ${i}`)
        .to.include({ code: 'upstream.unavailable', retryAfter: 30 })
        .and.not.have.property('cause')
    }
    expect(told).to.have.length(1)
    expect(told[0]).to.include('"reason":"down"')
    now = 25 * 60 * 60_000
    const error: unknown = await issuer.key('k').catch((reason: unknown) => reason)
    expect(error).to.include({ code: 'upstream.unavailable', retryAfter: 30 })
    down = false
    now += 31_000
    expect(await issuer.key('k')).to.equal(key)
    expect(told).to.have.length(2)
    expect(told[1]).to.include('fetched again')
    expect(await issuer.key('new')).to.equal(undefined)
  })
})

describe('a known key of an outside issuer', () => {
  const config = { jwksUri: 'https://keys.example', issuer: 'i', audience: 'a' }
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = { kid: 'k', algorithm: 'ES256', key: publicKey } as const

  it('verifies at once while a fetch hangs, and an unknown one waits for the fetch', async () => {
    let now = 0
    let answer = (_keys: Map<string, VerificationKey>): void => undefined
    const answers = [
      Promise.resolve(new Map([['k', key]])),
      new Promise<Map<string, VerificationKey>>((resolve) => (answer = resolve))
    ]
    let fetches = 0
    const issuer = outsideIssuer(config, {
      now: () => now,
      fetchKeys: () => answers[fetches++] ?? Promise.reject(new Error('more'))
    })
    await issuer.key('k')
    now = 60 * 60_000
    expect(await issuer.key('k')).to.equal(key)
    expect(fetches).to.equal(2)
    const unknown = issuer.key('n')
    expect(await issuer.key('k')).to.equal(key)
    answer(new Map([['n', key]]))
    expect(await unknown).to.equal(key)
    expect(await issuer.key('k')).to.equal(undefined)
  })

  it('is fetched before anybody asks, so that a withdrawn one is known in time', async () => {
    const stopping = new AbortController()
    const fetched = new Promise<string>((resolve) => {
      outsideIssuer(config, {
        now: Date.now,
        stopping: stopping.signal,
        fetchKeys: () => {
          resolve('fetched')
          return Promise.resolve(new Map())
        }
      })
    })
    try {
      expect(await Promise.race([fetched, delay(5000, 'not fetched', { ref: false })])).to.equal('fetched')
    } finally {
      stopping.abort()
    }
  })
})

describe('the key list of an outside issuer', () => {
  const config = { jwksUri: 'https://keys.example', issuer: 'i', audience: 'a' }
  const key = {
    kid: 'k',
    algorithm: 'ES256',
    key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  } as const

  it('is fetched anew after half a minute, and is what it was while it cannot be had', async () => {
    let now = 0
    const answers: (() => Promise<Map<string, VerificationKey>>)[] = [
      () => Promise.reject(new Error('down')),
      () => Promise.resolve(new Map([['k', key]])),
      () => Promise.reject(new Error('down')),
      () => Promise.resolve(new Map())
    ]
    const fetchKeys = (): Promise<Map<string, VerificationKey>> =>
      answers.shift()?.() ?? Promise.reject(new Error('more'))
    const issuer = outsideIssuer(config, { now: () => now, fetchKeys })
    const lists: unknown[] = []
    for (; answers.length > 0; now += 30_000) {
      lists.push((await issuer.keys()).keys)
      // A list that is not waited for is there when the fetch has ended.
      await new Promise((done) => setImmediate(done))
      lists.push((await issuer.keys()).keys)
    }
    expect(lists).to.deep.equal([[], [], [key], [key], [key], [key], [key], []])
  })

  it('does not wait for an issuer that does not answer', async () => {
    let now = 0
    const answers = [Promise.resolve(new Map([['k', key]])), new Promise<never>(() => undefined)]
    const issuer = outsideIssuer(config, {
      now: () => now,
      fetchKeys: () => answers.shift() ?? Promise.reject(new Error())
    })
    await issuer.keys()
    now = 30_000
    expect((await issuer.keys()).keys).to.deep.equal([key])
  })

  it('tells whether a key that the caller lacks is in doubt, and fetches for it', async () => {
    let now = 0
    let published = new Map<string, VerificationKey>([['k', key]])
    let down = false
    const issuer = outsideIssuer(config, {
      now: () => now,
      fetchKeys: () => (down ? Promise.reject(new Error('down')) : Promise.resolve(published))
    })
    expect(await issuer.keys('k')).to.deep.equal({ keys: [key], inDoubt: false })
    published = new Map([['n', key]])
    expect(await issuer.keys('n'), 'within the cool-down').to.deep.equal({ keys: [key], inDoubt: true })
    expect(await issuer.keys(), 'without an id').to.deep.equal({ keys: [key], inDoubt: false })
    now = 30_000
    expect(await issuer.keys('n')).to.deep.equal({ keys: [key], inDoubt: false })
    expect((await issuer.keys('k')).inDoubt, 'withdrawn').to.equal(false)
    down = true
    now = 60_000
    expect((await issuer.keys('made-up')).inDoubt, 'while fetches fail').to.equal(true)
  })
})

describe('fetchJwks', () => {
  let server: Server
  let answer: { status: number; body: string }
  let uri: string
  before(async () => {
    server = createServer((_request, response) => response.writeHead(answer.status).end(answer.body))
    uri = `http://127.0.0.1:${await listenLocally(server)}/`
  })
  after(() => closeLocally(server))

  it('keeps signature keys that are strong enough, by key id', async () => {
    const jwk = (options: object, key = generateKeyPairSync('ec', { namedCurve: 'P-256' })): object => ({
      ...key.publicKey.export({ format: 'jwk' }),
      ...options
    })
    const keys = [
      jwk({ kid: 'good', use: 'sig', alg: 'ES256' }),
      jwk({ kid: 'plain' }),
      jwk({ kid: 'encrypting', use: 'enc' }),
      jwk({ kid: 'other', alg: 'RS256' }),
      jwk({ kid: 'curve' }, generateKeyPairSync('ec', { namedCurve: 'P-384' })),
      jwk({}),
      { kid: 'secret', kty: 'oct', k: 'AAAA' },
      { kid: 'broken', kty: 'EC' },
      null
    ]
    answer = { status: 200, body: JSON.stringify({ keys }) }
    expect([...(await fetchJwks(uri)).keys()]).to.deep.equal(['good', 'plain'])
  })

  it('rejects failures, floods and what is no key set', async () => {
    for (const bad of [
      { status: 500, body: '{"keys":[]}' },
      { status: 302, body: '' },
      { status: 200, body: '[]' },
      { status: 200, body: 'x' },
      { status: 200, body: `{"keys":[],"x":"${'x'.repeat(300_000)}"}` }
    ]) {
      answer = bad
      const outcome = await fetchJwks(uri).catch(() => 'refused')
      expect(outcome, bad.body.slice(0, 20)).to.equal('refused')
    }
  })
})
