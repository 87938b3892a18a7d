import { once } from 'node:events'
import type { ClientHttp2Session } from 'node:http2'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import tls from 'node:tls'
import { expect } from 'chai'
import type { ExportPart } from '../../../gateway/data/data-client.js'
import { GatewayMetrics } from '../../../gateway/observe/gateway-metrics.js'
import { DomainError } from '../../../shared/errors.js'
import { Authority } from '../../harness/certificates.js'
import {
  DATA,
  frame,
  framesOf,
  goAwayCode,
  HEADERS,
  PREFACE,
  RST_STREAM,
  SETTINGS
} from '../../harness/http2-frames.js'
import { openHttp2, openStream, overHttp1, overHttp2, type TlsAnswer, type TlsRequest } from '../../harness/https.js'
import { exportHeader, exportRows, parts } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'
import { type FakeRenderer, startRenderer } from '../renderer/renderer-fixture.js'

const KIB_64 = 64 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const ADA = JSON.stringify({ email: 'ada@example.com', password: 'demo-password' })

/** What one version of HTTP says of its connection, and what differs between any two answers. */
const OF_THE_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'date', 'x-request-id', 'traceparent']

const RESET_CODES = [
  ['NO_ERROR', 0],
  ['CANCEL', 8]
] as const
const ENHANCE_YOUR_CALM = 11

/** SETTINGS_INITIAL_WINDOW_SIZE 0. */
const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0])

/** Heads of requests (RFC 7541): GET, https and an authority of the static table, a path that is not kept; CONNECT. */
const EXPECTATION = [0x00, 6, ...Buffer.from('expect'), 3, ...Buffer.from('tea')]
const PRODUCT = [0x82, 0x87, 0x01, 1, 0x61, 0x04, 11, ...Buffer.from('/products/7')]
const JSON_CONTENT = [0x0f, 0x10, 16, ...Buffer.from('application/json')]
const CREATION = [0x83, 0x87, 0x01, 1, 0x61, 0x04, 9, ...Buffer.from('/products'), ...JSON_CONTENT]
const RESET_REQUESTS = [
  ['', PRODUCT],
  [' of an unknown expectation', [...PRODUCT, ...EXPECTATION]],
  [' of CONNECT', [0x02, 7, ...Buffer.from('CONNECT'), 0x01, 1, 0x61]]
] as const

const NONE = Buffer.alloc(0)

/** The bytes of a client that sends a request so often, and resets each of them at once. */
function resetRequests(head: Buffer, { count, code }: { count: number; code: number }): Buffer {
  const requests = Array.from({ length: count }, (_, index) => [
    frame(HEADERS, 5, 2 * index + 1, head),
    frame(RST_STREAM, 0, 2 * index + 1, Buffer.from([0, 0, 0, code]))
  ])
  return Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0)), ...requests.flat()])
}

describe('HTTP/2', () => {
  let authority: Authority
  let renderer: FakeRenderer
  let gateway: GatewayFixture
  let metrics: GatewayMetrics
  let url: string
  let session: ClientHttp2Session
  /** The settings of a gateway with the certificate of the authority. */
  let files: Readonly<Record<string, string>>
  before(async () => {
    authority = await Authority.create()
    renderer = await startRenderer()
    const { certFile, keyFile } = await authority.issueTo('http')
    files = { HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile }
    metrics = new GatewayMetrics(() => [])
    gateway = await startGateway({ ...files, RENDERER_URL: renderer.url }, undefined, { metrics })
    url = await listen(gateway)
    session = await openHttp2(url, authority.cert)
  })
  after(async () => {
    session.close()
    await gateway.close()
    await renderer[Symbol.asyncDispose]()
    await authority[Symbol.asyncDispose]()
  })

  it('offers TLS 1.2 only with suites that authenticate what they encrypt', async () => {
    const { hostname: host, port } = new URL(url)
    const handshake = async (ciphers: string): Promise<string> => {
      const socket = tls.connect({ host, port: Number(port), ca: authority.cert, maxVersion: 'TLSv1.2', ciphers })
      try {
        await once(socket, 'secureConnect')
        return socket.getCipher().name
      } catch {
        return 'none'
      } finally {
        socket.destroy()
      }
    }
    expect(await handshake('DEFAULT')).to.match(/^ECDHE-.*(?:GCM|POLY1305)/)
    for (const cbc of ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-RSA-AES128-SHA256', 'AES128-SHA256', 'AES128-GCM-SHA256']) {
      expect(await handshake(cbc), cbc).to.equal('none')
    }
  })

  const padded = (length: number): string => `/products?x=${'a'.repeat(length - '/products?x='.length)}`
  const REQUESTS: readonly (readonly [what: string, request: TlsRequest & { path: string }, status: number])[] = [
    ['a list', { path: '/products' }, 200],
    ['a page with its links', { path: '/products/paged?pageNumber=2' }, 200],
    ['a row', { path: '/products/1' }, 200],
    ['a HEAD', { method: 'HEAD', path: '/products/1' }, 200],
    ['an export', { path: '/products/export' }, 200],
    ['options', { method: 'OPTIONS', path: '/products' }, 204],
    ['an unknown path', { path: '/openapi.json/nope' }, 404],
    ['a wrong method', { method: 'PATCH', path: '/products' }, 405],
    ['a method that nobody has', { method: 'PURGE', path: '/products' }, 405],
    ['TRACE', { method: 'TRACE', path: '/products' }, 405],
    ['a path that is not percent-encoded', { path: '/products/%zz' }, 400],
    ['a version', { path: '/products', headers: { 'api-version': '7' } }, 400],
    ['a precondition missing', { method: 'PUT', path: '/products/1', headers: JSON_TYPE, body: '{}' }, 200],
    ['a create', { method: 'POST', path: '/products', headers: JSON_TYPE, body: '{"name":"x"}' }, 201],
    ['a body without a type', { method: 'POST', path: '/products', body: '{}' }, 415],
    [
      'a body of another type',
      { method: 'POST', path: '/products', headers: { 'content-type': 'a/b' }, body: 'x' },
      415
    ],
    ['a body that is no JSON', { method: 'POST', path: '/products', headers: JSON_TYPE, body: '{' }, 400],
    ['no body', { method: 'POST', path: '/products', headers: JSON_TYPE }, 400],
    ['an unknown expectation', { path: '/products', headers: { expect: 'tea' } }, 400],
    ['a target of just over 64 KiB', { path: padded(KIB_64 + 1) }, 414],
    ['headers of just over 64 KiB', { path: '/products', headers: { x: 'a'.repeat(KIB_64 - 10) } }, 431],
    ['a log-in', { method: 'POST', path: '/auth/login', headers: JSON_TYPE, body: ADA }, 200],
    ['a session token of nobody', { method: 'POST', path: '/auth/session/token' }, 401],
    ['a foreign site', { method: 'POST', path: '/auth/logout', headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['a foreign origin', { method: 'POST', path: '/auth/logout', headers: { origin: 'https://x.example' } }, 403],
    ['the log-out', { method: 'DELETE', path: '/auth/session-cookie', headers: { cookie: 'a=b' } }, 204],
    ['metrics, which are not the renderer’s', { path: '/metrics', headers: { accept: 'text/html' } }, 404],
    ['a page of the administration', { path: '/admin/x', headers: { accept: 'text/html' } }, 404],
    ['a form there', { method: 'POST', path: '/admin/x/y/z', body: 'a=b' }, 404],
    ['a page', { path: '/', headers: { accept: 'text/html' } }, 200],
    ['an unsafe request to the renderer', { method: 'POST', path: '/cart', body: 'a=b' }, 403],
    ['docs', { path: '/docs' }, 200],
    ['health', { path: '/health' }, 200]
  ]
  for (const [what, request, status] of REQUESTS) {
    it(`answers ${what} as HTTP/1.1 does, with headers that are HTTP/2's`, async () => {
      const warnings: string[] = []
      const warned = (warning: Error): void => void warnings.push(`${warning.name}: ${warning.message}`)
      process.on('warning', warned)
      const [old, now] = [
        await overHttp1(url, authority.cert, request),
        // An authority of its own, as curl and browsers send it, and no Host.
        await overHttp2(session, request)
      ]
      process.off('warning', warned)
      expect(now.status, now.body).to.equal(status)
      const comparable = ({ headers, body }: typeof old): object => ({
        headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.includes(name))),
        body: body.replace(/"requestId":"[^"]+"/, '').replaceAll(/eyJ[\w.-]+|refresh-\d+/g, 'token')
      })
      const texts = (answer: typeof old): string =>
        JSON.stringify(comparable(answer)).replaceAll(/eyJ[\w.-]+|refresh-\d+/g, 'token')
      expect(JSON.parse(texts(now))).to.deep.equal(JSON.parse(texts(old)))
      expect(old.status).to.equal(status)
      expect(warnings).to.deep.equal([])
    })
  }

  const countedMethods = (): unknown[] => {
    const requests = metrics.families.find(({ about }) => about.name === 'http_requests_total')
    if (requests?.kind !== 'counter') throw new TypeError('http_requests_total is a counter')
    return requests.samples().map(({ labels }) => labels['method'])
  }

  for (const method of ['FOO', 'BREW', 'get', 'X'.repeat(300)]) {
    it(`answers the unknown method ${method.slice(0, 10)} at a known path with 405 and Allow, elsewhere with 404`, async () => {
      const known = await overHttp2(session, { method, path: '/products/1' })
      expect([known.status, known.headers['allow']]).to.deep.equal([405, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'])
      expect(JSON.parse(known.body))
        .to.include({ code: 'method.not-allowed' })
        .and.to.have.property('detail')
        .that.includes(method.slice(0, 200))
      expect(known.body.length).to.be.below(800)
      const before = renderer.seen.length
      for (const path of ['/products/nope/nope', '/cart']) {
        expect((await overHttp2(session, { method, path })).status, path).to.equal(404)
      }
      expect(renderer.seen.length).to.equal(before)
      expect(countedMethods()).to.include('_OTHER').and.not.include(method)
      expect(gateway.logText()).to.include(`"method":"${method.slice(0, 200)}`)
    })
  }

  it('is at a URL of https by default, and answers keep browsers there', async () => {
    const answer = await overHttp2(session, { path: '/products/nope/nope' })
    expect(answer.body).to.include('"type":"https://127.0.0.1:')
    expect(answer.headers['strict-transport-security']).to.equal('max-age=31536000')
  })

  it('rejects a Host that is not the authority, none at all, and CONNECT', async () => {
    const two = await overHttp2(session, {
      path: '/products',
      headers: { ':authority': 'a.example', host: 'b.example' }
    })
    expect([two.status, two.body]).to.satisfy(([status, body]: [number, string]) => status === 400 && /Host/.test(body))
    const tunnel = session.request({ ':method': 'CONNECT', ':authority': 'x:1' })
    const [head] = (await once(tunnel, 'response')) as [Record<string, unknown>]
    expect(head[':status']).to.equal(400)
    expect((await buffer(tunnel)).toString()).to.include('request.malformed')
  })

  const MALFORMED: readonly (readonly [what: string, headers: Readonly<Record<string, string>>])[] = [
    ['a Host that is none', { host: 'a b' }],
    ['a length that is none', { 'content-length': '-1' }],
    ['a path that is none', { ':path': 'products' }],
    ['no path', { ':path': '' }]
  ]
  for (const [what, headers] of MALFORMED) {
    it(`resets a stream with ${what}, and its connection goes on`, async () => {
      const failure = await overHttp2(session, { path: '/products', headers }).catch((error: unknown) => error)
      expect(String(failure)).to.include('NGHTTP2_PROTOCOL_ERROR')
      expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
    })
  }

  it('rejects a body of more than 1 MiB, announced or not, and the connection goes on', async () => {
    const body = Buffer.alloc(1024 * 1024 + 1, 0x20)
    for (const headers of [JSON_TYPE, { ...JSON_TYPE, 'content-length': String(body.length) }]) {
      const { stream, status } = await openStream(session, { method: 'POST', path: '/products', headers, body })
      stream.on('error', () => {})
      expect(status, JSON.stringify(headers)).to.equal(413)
      expect((await buffer(stream)).toString(), JSON.stringify(headers)).to.include('body.too-large')
    }
    expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
  })

  it('hands a renderer a request of HTTP/1.1, with the body that the frames had', async () => {
    const sent = await overHttp2(session, { method: 'GET', path: '/', headers: { cookie: 'a=b', accept: 'text/html' } })
    expect(sent.status).to.equal(200)
    const { headers } = renderer.seen.at(-1) ?? { headers: {} }
    expect(headers).to.include({ host: renderer.host, cookie: 'a=b', 'x-forwarded-proto': 'https' })
    expect(Object.keys(headers).filter((name) => name.startsWith(':'))).to.deep.equal([])
  })

  it('sends an export no faster than it is read', async () => {
    let pulled = 0
    const rows = 1000
    gateway.data.answerExport = async function* (): AsyncGenerator<ExportPart> {
      yield exportHeader()
      for (; pulled < rows; pulled++) yield exportRows([[pulled, 'x'.repeat(10_000)]])
      yield { end: { count: rows, truncated: false, unshownValues: [] } }
    }
    const { stream, status } = await openStream(session, { path: '/products/export' })
    stream.pause()
    expect(status).to.equal(200)
    // Other streams of the connection are answered meanwhile.
    for (let turn = 0; turn < 20; turn++) await overHttp2(session, { path: '/products/1' })
    expect(pulled).to.be.within(1, 200)
    const bytes = await buffer(stream)
    expect([pulled, bytes.toString().split('\r\n').length]).to.deep.equal([rows, rows + 2])
  })

  it('an export that fails on its way is no whole file', async () => {
    gateway.data.answerExport = () => parts(exportHeader(), exportRows([[1, 'a']]), new DomainError('internal', 'x'))
    const { stream } = await openStream(session, { path: '/products/export' })
    const failure = await buffer(stream).then(
      () => undefined,
      (error: unknown) => error
    )
    expect(String(failure)).to.include('NGHTTP2_INTERNAL_ERROR')
  })

  it('a stream that is reset cancels the call behind it, and is logged as aborted', async () => {
    let cancelled: (() => void) | undefined
    const told = new Promise<void>((resolve) => (cancelled = resolve))
    gateway.data.answerExport = async function* (call): AsyncGenerator<ExportPart> {
      call.signal.addEventListener('abort', { handleEvent: () => cancelled?.() })
      yield exportHeader()
      yield exportRows([[1, 'a']])
      await told
    }
    const { stream } = await openStream(session, { path: '/products/export' })
    stream.on('error', () => {}).close(8)
    await told
    expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
    const isLogged = (): boolean =>
      gateway.lines.some(({ aborted, path }) => aborted === true && path === '/products/export')
    while (!isLogged()) await new Promise(setImmediate)
  })

  for (const [name, code] of RESET_CODES) {
    it(`nothing is written of a body whose stream is reset with ${name} before its end`, async () => {
      const asked = gateway.data.calls.length
      const logged = gateway.lines.length
      const { hostname: host, port } = new URL(url)
      const client = tls.connect({ host, port: Number(port), ca: authority.cert, ALPNProtocols: ['h2'] })
      const begun = once(gateway.app.server, 'request')
      client.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, NONE), frame(HEADERS, 4, 1, Buffer.from(CREATION))]))
      client.write(frame(DATA, 0, 1, Buffer.from('{"name":"whole"}')))
      await begun
      client.write(frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, code])))
      const isLogged = (): boolean =>
        gateway.lines.slice(logged).some(({ method, path }) => method === 'POST' && path === '/products')
      while (!isLogged()) await new Promise(setImmediate)
      expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
      expect(gateway.data.calls.slice(asked).map(({ rpc }) => rpc)).to.deep.equal(['get'])
      client.destroy()
    })
  }

  const RESETS = RESET_CODES.flatMap(([name, code]) =>
    RESET_REQUESTS.map(([what, head]) => ({ what, name, code, head: Buffer.from(head) }))
  )
  for (const { what, name, code, head } of RESETS) {
    it(`begins no request${what} whose reset with ${name} comes in the same bytes, and ends a connection of many`, async () => {
      const { hostname: host, port } = new URL(url)
      const flood = tls.connect({ host, port: Number(port), ca: authority.cert, ALPNProtocols: ['h2'] })
      const before = gateway.lines.length
      flood.write(resetRequests(head, { count: 300, code }))
      expect(goAwayCode(await buffer(flood))).to.equal(ENHANCE_YOUR_CALM)
      expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
      const begun = gateway.lines
        .slice(before)
        .filter(({ path, msg }) => path === '/products/7' || msg === 'malformed HTTP')
      expect(begun).to.deep.equal([])
    })
  }

  /** A client that lets no body come, and acknowledges no settings, so that none of them binds it yet. */
  const windowless = (origin: string) => {
    const { hostname: host, port } = new URL(origin)
    const socket = tls.connect({ host, port: Number(port), ca: authority.cert, ALPNProtocols: ['h2'] })
    let received = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => (received = Buffer.concat([received, bytes])))
    // The connection may break off before the client has read the GOAWAY.
    socket.on('error', () => {})
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, NO_WINDOW)]))
    let asked = 0
    return {
      socket,
      asked: () => asked,
      goAway: () => goAwayCode(received),
      /** Asks so often, and resets each request with NO_ERROR once the heads of the answers are there. */
      async reset(count: number): Promise<void> {
        const ids = Array.from({ length: count }, () => 2 * asked++ + 1)
        socket.write(Buffer.concat(ids.map((id) => frame(HEADERS, 5, id, Buffer.from(PRODUCT)))))
        while (framesOf(received, HEADERS).length < asked && !socket.destroyed) await new Promise(setImmediate)
        socket.write(Buffer.concat(ids.map((id) => frame(RST_STREAM, 0, id, Buffer.alloc(4)))))
      }
    }
  }

  it('keeps nothing of answers that their client resets with NO_ERROR', async () => {
    const own = new GatewayMetrics(() => [])
    // Nothing but the resets themselves may end these streams.
    const timeouts = { head: 1000, body: 60_000, response: 60_000 }
    const other = await startGateway(files, undefined, { metrics: own, timeouts })
    const unsentBytes = (): number => {
      const family = own.families.find(({ about }) => about.name === 'uniform_rest_unsent_answer_bytes')
      if (family?.kind !== 'gauge') throw new TypeError('uniform_rest_unsent_answer_bytes is a gauge')
      return family.samples()[0]?.value ?? 0
    }
    const client = windowless(await listen(other))
    await client.reset(20)
    expect(unsentBytes()).to.be.above(0)
    const isGivenBack = async (): Promise<void> => {
      while (unsentBytes() > 0) await new Promise((resolve) => setTimeout(resolve, 25))
    }
    await isGivenBack()
    expect([client.goAway(), client.socket.destroyed]).to.deep.equal([undefined, false])
    // Each of them counts, however slowly they come.
    for (; !client.socket.destroyed && client.asked() < 400; await isGivenBack()) await client.reset(20)
    expect(client.asked()).to.be.below(200)
    await other.close()
  })

  it('ends a connection of many answers that their client resets with NO_ERROR, before it looks at each', async () => {
    const client = windowless(url)
    const isClosed = new Promise((resolve) => client.socket.once('close', resolve))
    while (!client.socket.destroyed && client.asked() < 1000) await client.reset(20)
    expect(client.asked()).to.be.below(300)
    await isClosed
    expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
  })

  it('goes on with a connection of many answers that are whole and have no body, or end before that of their request', async () => {
    const tooLong = { ...JSON_TYPE, 'content-length': String(2 * 1024 * 1024) }
    const answered = (request: TlsRequest & { path: string }) => async (): Promise<number> =>
      (await overHttp2(session, request)).status
    const answeredEarly = async (): Promise<number> => {
      const stream = session.request({ ':method': 'POST', ':path': '/products', ...tooLong }, { endStream: false })
      const [head] = (await once(stream, 'response')) as [Record<string, unknown>]
      await buffer(stream)
      stream.close()
      return Number(head[':status'])
    }
    const kinds = [
      [answered({ method: 'HEAD', path: '/products/1' }), 200],
      [answered({ method: 'OPTIONS', path: '/products' }), 204],
      [answered({ method: 'POST', path: '/products', headers: JSON_TYPE, body: '{' }), 400],
      [answeredEarly, 413]
    ] as const
    for (const [ask, status] of kinds) {
      for (let turn = 0; turn < 11; turn++) {
        const statuses = await Promise.all(Array.from({ length: 10 }, ask))
        expect(new Set(statuses)).to.deep.equal(new Set([status]))
      }
    }
  })

  it('what is no TLS is not answered, and what chooses no HTTP/2 is HTTP/1.1', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    socket.write('GET /products HTTP/1.1\r\nHost: x\r\n\r\n')
    expect((await buffer(socket)).toString('latin1')).to.not.include('HTTP/1.1')
    expect((await overHttp1(url, authority.cert, { path: '/products/1' })).status).to.equal(200)
  })

  it('new connections get a changed certificate, and those there are go on', async () => {
    const next = await Authority.create('Next authority')
    await authority.replace('http', await next.issue())
    let answer: TlsAnswer | undefined
    while (answer === undefined) {
      answer = await overHttp1(url, next.cert, { path: '/products/1' }).catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    expect(answer.status).to.equal(200)
    expect((await overHttp2(session, { path: '/products/1' })).status).to.equal(200)
    await next[Symbol.asyncDispose]()
  })

  it('lets requests under way end when it closes, and takes no others', async () => {
    const own = await Authority.create()
    const { certFile, keyFile } = await own.issueTo('http')
    const other = await startGateway({ HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile })
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const asked = new Promise<void>((resolve) => {
      other.data.answerGet = async () => {
        resolve()
        await held
        return { record: null }
      }
    })
    const known = await openHttp2(await listen(other), own.cert)
    const running = overHttp2(known, { path: '/products/1' })
    await asked
    const goodBye = once(known, 'goaway')
    const closed = other.close()
    await goodBye
    release?.()
    expect((await running).status).to.equal(502)
    await closed
    await own[Symbol.asyncDispose]()
  })
})

describe('Strict-Transport-Security', () => {
  const header = async (environment: Record<string, string>): Promise<unknown> => {
    const gateway = await startGateway(environment)
    const answers = await Promise.all(['/products/1', '/nope/nope/nope'].map((path) => gateway.app.inject(path)))
    await gateway.close()
    const values = new Set(answers.map(({ headers }) => headers['strict-transport-security']))
    expect(values.size).to.equal(1)
    return [...values][0]
  }
  it('is on every answer where cookies are Secure, and on none of plain HTTP', async () => {
    expect(await header({})).to.equal('max-age=31536000')
    expect(await header({ COOKIE_SECURE: 'false' })).to.equal(undefined)
  })
})
