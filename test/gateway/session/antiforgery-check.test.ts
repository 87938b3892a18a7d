import { once } from 'node:events'
import { type IncomingMessage, request as send } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import Fastify, { type FastifyInstance } from 'fastify'
import { AntiforgeryCheck, AntiforgeryTokens } from '../../../gateway/session/antiforgery.js'
import { DomainError } from '../../../shared/errors.js'
import { request } from '../../harness/http.js'
import { MemoryStore } from '../key-ring/memory-store.js'
import { type Replica, startReplica } from '../key-ring/replica.js'
import { memoryLog } from '../../harness/memory-log.js'

const FORM = 'application/x-www-form-urlencoded'
const MEBIBYTE = 1024 * 1024

/** No session. */
const NOBODY = Buffer.alloc(0)

describe('antiforgery check', () => {
  let app: FastifyInstance
  let replica: Replica
  let issued: { cookie: string; token: string }
  let origin = ''
  let lines: Record<string, unknown>[]
  /** The bytes that a handler gets once the check has passed. */
  let received: Buffer | undefined
  let whenPassed: () => void

  before(async () => {
    replica = await startReplica({ store: new MemoryStore() })
    const tokens = new AntiforgeryTokens(replica.ring)
    issued = await tokens.issue(undefined, NOBODY)
    const logged = memoryLog()
    lines = logged.lines
    const check = new AntiforgeryCheck(tokens, logged.log)
    app = Fastify({ forceCloseConnections: true })
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
    app.setErrorHandler((error, _request, reply) =>
      reply.code(error instanceof DomainError && error.code === 'antiforgery.invalid' ? 403 : 500).send(String(error))
    )
    app.post('/', { preHandler: (request) => check.check(request) }, async ({ body }) => {
      whenPassed()
      received = body instanceof Readable ? await buffer(body) : Buffer.alloc(0)
      return 'done'
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    origin = app.listeningOrigin
  })

  beforeEach(() => {
    received = undefined
    whenPassed = () => undefined
    lines.length = 0
  })

  after(async () => {
    replica.upkeep.close()
    await app.close()
  })

  const post = (
    body: string | Buffer,
    headers: Readonly<Record<string, string | readonly string[]>>
  ): Promise<number> =>
    request(`${origin}/`, {
      method: 'POST',
      body,
      headers: {
        'content-length': String(Buffer.byteLength(body)),
        cookie: `app_antiforgery=${issued.cookie}`,
        ...headers
      }
    }).then(({ status }) => status)

  it('takes the token from the header, whatever the body is', async () => {
    expect(await post('{}', { 'x-csrf-token': issued.token, 'content-type': 'application/json' })).to.equal(200)
    expect(received?.toString()).to.equal('{}')
    expect(await post('', { 'x-csrf-token': issued.token })).to.equal(200)
    expect(lines).to.deep.equal([])
  })

  it('takes the token from the form, wherever it stands, and hands on the very bytes', async () => {
    for (const form of [
      `_csrf=${issued.token}`,
      `a=%zz&b=\xff&_csrf=${issued.token}&c=1`,
      `a=1&_csrf=${issued.token.replace('.', '%2E')}`,
      `_csrf=${issued.token.replace(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`)}`
    ]) {
      const bytes = Buffer.from(form, 'latin1')
      expect(await post(bytes, { 'content-type': `${FORM}; charset=UTF-8` }), form).to.equal(200)
      expect(received?.equals(bytes), form).to.equal(true)
    }
  })

  it('hands on a form over 1 MiB, and finds the token in its first MiB only', async () => {
    const early = Buffer.from(`_csrf=${issued.token}&a=${'x'.repeat(3 * MEBIBYTE)}`)
    expect(await post(early, { 'content-type': FORM })).to.equal(200)
    expect(received?.equals(early)).to.equal(true)
    const field = `&_csrf=${issued.token}`
    const last = Buffer.from(`a=${'x'.repeat(MEBIBYTE - 2 - field.length)}${field}`)
    expect(await post(last, { 'content-type': FORM })).to.equal(200)
    expect(await post(Buffer.from(`a${last.toString()}`), { 'content-type': FORM })).to.equal(403)
    expect(received?.equals(last)).to.equal(true)
  })

  it('hands on what comes after the first MiB as it comes', async () => {
    const start = `_csrf=${issued.token}&a=${'x'.repeat(MEBIBYTE)}`
    const passed = new Promise<void>((resolve) => (whenPassed = resolve))
    const outgoing = send(`${origin}/`, {
      method: 'POST',
      headers: { cookie: `app_antiforgery=${issued.cookie}`, 'content-type': FORM }
    })
    const answered = once(outgoing, 'response')
    outgoing.write(start)
    await passed
    outgoing.end('yz')
    await answered
    expect(received?.toString()).to.equal(`${start}yz`)
  })

  it('rejects a request without a token, and says why in the log alone', async () => {
    expect(await post('a=1', { 'content-type': FORM })).to.equal(403)
    expect(await post('', {})).to.equal(403)
    expect(await post(`{"_csrf":"${issued.token}"}`, { 'content-type': 'application/json' })).to.equal(403)
    expect(received).to.equal(undefined)
    expect(lines.map(({ msg, why }) => [msg, why])).to.deep.equal(
      Array.from({ length: 3 }, () => ['antiforgery token refused', 'no token'])
    )
  })

  it('rejects a wrong token, two of them, and a wrong one in the header beside a right one in the form', async () => {
    const form = { 'content-type': FORM }
    expect(await post('_csrf=nonsense', form)).to.equal(403)
    expect(await post(`x_csrf=${issued.token}`, form)).to.equal(403)
    expect(await post(`_csrf=nonsense&_csrf=${issued.token}`, form)).to.equal(403)
    expect(await post(`_csrf=${issued.token}`, { ...form, 'x-csrf-token': 'nonsense' })).to.equal(403)
    expect(await post('', { 'x-csrf-token': [issued.token, issued.token] })).to.equal(403)
    expect(lines[0]).to.include({ why: 'token: it is none' })
  })

  it('rejects a request without its cookie, and with two of them', async () => {
    const token = { 'x-csrf-token': issued.token }
    expect(await post('', { ...token, cookie: 'other=1' })).to.equal(403)
    expect(await post('', { ...token, cookie: 'app_antiforgery=' })).to.equal(403)
    expect(await post('', { ...token, cookie: `app_antiforgery=${issued.cookie}; app_antiforgery=x` })).to.equal(403)
    expect(await post('', { ...token, cookie: `a=1; app_antiforgery=${issued.cookie}` })).to.equal(200)
  })

  it('rejects a form with a cookie that the ring has not signed before the form has come', async () => {
    const [keyId = ''] = issued.cookie.split('.')
    for (const cookie of ['x', `${keyId}.${'A'.repeat(86)}`]) {
      const outgoing = send(`${origin}/`, {
        method: 'POST',
        headers: { cookie: `app_antiforgery=${cookie}`, 'content-type': FORM, 'content-length': MEBIBYTE }
      })
      const answered = once(outgoing, 'response')
      outgoing.write('a=1')
      const [{ statusCode }] = (await answered) as [IncomingMessage]
      expect(statusCode, cookie).to.equal(403)
      outgoing.on('error', () => {}).destroy()
    }
    for (const { why } of lines) expect(why).to.match(/^cookie: /)
  })

  it('does not look into a form that is encoded', async () => {
    expect(await post(`_csrf=${issued.token}`, { 'content-type': FORM, 'content-encoding': 'gzip' })).to.equal(403)
  })
})
