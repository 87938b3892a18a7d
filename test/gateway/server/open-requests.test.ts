import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { ClientHttp2Session } from 'node:http2'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as tls, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { TrustedProxies } from '../../../gateway/http/client-address.js'
import { OpenRequests } from '../../../gateway/server/open-requests.js'
import { Authority } from '../../harness/certificates.js'
import { DATA, frame, HEADERS, PREFACE, SETTINGS } from '../../harness/http2-frames.js'
import { openHttp2, overHttp2, type TlsAnswer } from '../../harness/https.js'
import { record } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const KIB = 1024
/** Bytes that a request without a head counts as. */
const REQUEST = 8 * KIB
const MIB = KIB * KIB

/** The header lines of `GET /products/1` by HTTPS (RFC 7541): the path and the authority are texts of their own. */
const PRODUCT = Buffer.concat([
  Buffer.from([0x82, 0x87, 0x04, '/products/1'.length]),
  Buffer.from('/products/1'),
  Buffer.from([0x41, 1]),
  Buffer.from('x')
])

/** The origin of a request, with what a proxy says of its client. */
const from = (remoteAddress: string, forwardedFor?: string): Parameters<OpenRequests['admit']>[0] => ({
  remoteAddress,
  forwardedFor
})

describe('the count of open requests', () => {
  const proxies = TrustedProxies.parse('10.0.0.1')
  if (proxies instanceof Error) throw proxies
  const make = (address: number, inAll: number): OpenRequests =>
    new OpenRequests(proxies, { address: address * REQUEST, process: inAll * REQUEST })
  const admitted = (requests: OpenRequests, address: string, count: number): number =>
    Array.from({ length: count }, () => requests.admit(from(address))).filter((one) => one !== undefined).length

  it('refuses requests of an address beyond its bound, and lets others in', () => {
    const requests = make(3, 1000)
    expect(admitted(requests, '192.0.2.1', 5)).to.equal(3)
    expect(admitted(requests, '::ffff:192.0.2.1', 1)).to.equal(0)
    expect(admitted(requests, '192.0.2.2', 5)).to.equal(3)
  })

  it('lets each address have 64 small requests, whatever others hold', () => {
    const requests = make(100, 100)
    expect(admitted(requests, '192.0.2.1', 200)).to.equal(100)
    expect(admitted(requests, '192.0.2.2', 200)).to.equal(64)
  })

  it('bounds a trusted proxy that names no client by the bound of the process alone', () => {
    const requests = make(3, 70)
    expect(admitted(requests, '10.0.0.1', 200)).to.equal(70)
  })

  it('counts the requests of a trusted proxy for the clients that it names', () => {
    const requests = make(3, 1000)
    const admit = (client: string): boolean => requests.admit(from('10.0.0.1', client)) !== undefined
    // The client itself can name anybody before the address that the proxy saw.
    const sent = ['192.0.2.1', '198.51.100.9, 192.0.2.1', '192.0.2.1:4711, 10.0.0.1', '192.0.2.1', '192.0.2.2']
    expect(sent.map(admit)).to.deep.equal([true, true, true, false, true])
    expect(admitted(requests, '192.0.2.1', 1)).to.equal(0)
  })

  it('ignores the client that a peer names which is no trusted proxy', () => {
    const requests = make(3, 1000)
    const admit = (client: string): boolean => requests.admit(from('192.0.2.1', client)) !== undefined
    expect(['192.0.2.7', '192.0.2.8', '192.0.2.9', '192.0.2.10'].map(admit)).to.deep.equal([true, true, true, false])
  })

  it('counts 256 bytes for each piece of a body, and none once the request has ended', () => {
    const requests = make(3, 1000)
    const open = requests.admit(from('192.0.2.1'))
    const pieces = Array.from({ length: 64 }, () => open?.receivePiece())
    expect(pieces.indexOf(false)).to.equal(63)
    open?.end()
    open?.receivePiece()
    expect(admitted(requests, '192.0.2.1', 5)).to.equal(3)
  })

  it('counts 128 bytes for each line of a head, however short it is', () => {
    const requests = make(100, 1000)
    const lines = Array.from({ length: 6400 }, () => ['a', '']).flat()
    expect(requests.admit(from('192.0.2.1'), lines)).to.not.equal(undefined)
    expect(requests.admit(from('192.0.2.1'))).to.equal(undefined)
  })

  it('counts heads twice, and forgets what has ended', () => {
    const requests = make(3, 1000)
    const open = requests.admit(from('192.0.2.1'), ['x-long', 'x'.repeat(REQUEST)])
    expect(admitted(requests, '192.0.2.1', 1)).to.equal(0)
    open?.end()
    expect(admitted(requests, '192.0.2.1', 5)).to.equal(3)
  })
})

describe('requests that are open', () => {
  let authority: Authority
  let gateway: GatewayFixture
  let port: number
  let url: string
  let release: () => void
  before(async () => (authority = await Authority.create()))
  after(() => authority[Symbol.asyncDispose]())
  afterEach(async () => {
    release()
    gateway.app.server.closeAllConnections()
    await gateway.close()
  })

  async function start(address: number, settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const load = { unsentBounds: { connection: 64 * MIB, address, process: 64 * MIB, always: 0 } }
    gateway = await startGateway(settings, undefined, { load })
    const released = new Promise<void>((resolve) => (release = resolve))
    gateway.data.answerGet = () => released.then(() => ({ record: record('{"id":1}') }))
    url = await listen(gateway)
    port = Number(new URL(url).port)
  }

  it('close the connections of HTTP/1.1 of an address that pipelines more than it may hold', async () => {
    await start(100 * REQUEST)
    const pipelined = (count: number): ReturnType<typeof connect> => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
      socket.write('GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count))
      return socket.resume()
    }
    const few = pipelined(50)
    const other = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' }).on('error', () => {})
    other.write('GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\n')
    const ended = once(few, 'close')
    const many = pipelined(1000)
    await Promise.all([once(many, 'close'), ended])
    expect(other.destroyed).to.equal(false)
    // New ones are closed for two seconds. What the others held is let go: as many may wait once more.
    await once(pipelined(1), 'close')
    release()
    const isServed = async (): Promise<boolean> => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
      socket.write('GET /products/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
      const answer = await text(socket).catch(() => '')
      return answer.startsWith('HTTP/1.1 200')
    }
    while (!(await isServed())) await delay(50)
    const again = pipelined(50)
    expect(await isServed()).to.equal(true)
    expect(again.destroyed).to.equal(false)
    again.destroy()
    other.destroy()
  })

  it('count with heads of many lines, each on a connection of its own', async () => {
    await start(100 * REQUEST)
    const head = `GET /products/1 HTTP/1.1\r\nHost: x\r\n${'abc:\r\n'.repeat(1900)}\r\n`
    const ask = (): ReturnType<typeof connect> => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
      socket.write(head)
      return socket.resume()
    }
    const first = ask()
    const ended = once(first, 'close')
    while (gateway.data.calls.length < 1) await delay(5)
    // Each takes a quarter of a megabyte.
    for (let more = 0; more < 4; more++) ask()
    await ended
  })

  it('close the connections of HTTP/2 of an address that has more of them than it may have', async () => {
    const { certFile, keyFile } = await authority.issueTo('http')
    await start(512 * KIB, { HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile })
    const session = await openHttp2(url, authority.cert)
    const headers = { 'x-long': 'x'.repeat(60 * KIB) }
    const ask = (): void => {
      const stream = session.request({ ':path': '/products/1', ...headers })
      stream.on('error', () => {})
    }
    for (let asked = 0; asked < 4; asked++) ask()
    while (gateway.data.calls.length < 4) await delay(5)
    expect(session.destroyed).to.equal(false)
    ask()
    await new Promise((resolve) => session.once('close', resolve))
    // New ones are closed for two seconds, and what was held is let go.
    const closed = await openHttp2(url, authority.cert).catch((error: unknown) => error)
    expect(closed).to.be.instanceOf(Error)
    release()
    let again: ClientHttp2Session | undefined
    while (again === undefined) again = await openHttp2(url, authority.cert).catch(() => delay(50, undefined))
    expect((await overHttp2(again, { path: '/products/1' })).status).to.equal(200)
    again.destroy()
  })

  it('close the connection of HTTP/1.1 that sends a body in more pieces than its address may hold', async () => {
    await start(100 * REQUEST)
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
    const closed = once(socket.resume(), 'close')
    socket.write('GET /products/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket.write('1\r\nx\r\n'.repeat(4000))
    await closed
  })

  it('close the connection of HTTP/1.1 that sends so many pieces after the answer', async () => {
    await start(100 * REQUEST)
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
    const closed = once(socket, 'close')
    release()
    socket.write('GET /products/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    await once(socket, 'data')
    socket.resume().write('1\r\nx\r\n'.repeat(4000))
    await closed
  })

  it('leave a connection open on which the rest of a body comes after the answer', async () => {
    await start(100 * REQUEST)
    release()
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
    const head = 'GET /products/1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    // Together they hold more than the address may, if one that has ended were not let go.
    for (let asked = 0; asked < 5; asked++) {
      socket.write(head)
      await once(socket, 'data')
      socket.write(`${'1\r\nx\r\n'.repeat(1000)}0\r\n\r\n`)
    }
    expect(socket.destroyed).to.equal(false)
    socket.destroy()
  })

  /** A connection with TLS, on which the test writes bytes of its own. */
  function openTls(protocol: string): TLSSocket {
    const checkServerIdentity = (): undefined => undefined
    const socket = tls({ host: '127.0.0.1', port, ca: authority.cert, ALPNProtocols: [protocol], checkServerIdentity })
    return socket.on('error', () => {})
  }

  /** Starts a gateway of HTTPS whose clients may have 512 KiB open each. */
  async function startTls(settings: Readonly<Record<string, string>> = {}): Promise<ClientHttp2Session> {
    const { certFile, keyFile } = await authority.issueTo('http')
    await start(512 * KIB, { HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile, ...settings })
    return openHttp2(url, authority.cert)
  }

  it('close the connection of HTTP/2 that sends a body in more pieces than its address may hold, read or not', async () => {
    const session = await startTls()
    session.destroy()
    const socket = openTls('h2')
    const closed = once(socket.resume(), 'close')
    const piece = frame(DATA, 0, 1, Buffer.from('x'))
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0)), frame(HEADERS, 4, 1, PRODUCT)]))
    socket.write(Buffer.concat(Array.from({ length: 4000 }, () => piece)))
    await closed
  })

  it('keep no trailers', async () => {
    const session = await startTls()
    const kept: IncomingMessage[] = []
    gateway.app.server.prependListener('request', (request: IncomingMessage) => kept.push(request))
    const stream = session.request({ ':method': 'POST', ':path': '/nowhere' }, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'x-trailer': 'kept' }))
    stream.end('{}')
    await once(stream.resume(), 'close')
    const socket = openTls('http/1.1')
    socket.end(
      'POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n' +
        '2\r\n{}\r\n0\r\nX-Trailer: kept\r\n\r\n'
    )
    await text(socket)
    expect(kept.map(({ httpVersion, complete, rawTrailers }) => [httpVersion, complete, rawTrailers])).to.deep.equal([
      ['2.0', true, []],
      ['1.1', true, []]
    ])
    session.destroy()
  })

  it('of one client behind a trusted proxy of HTTP/1.1 are answered, so that it does not take the gateway for broken', async () => {
    await start(512 * KIB, { TRUSTED_PROXIES: '127.0.0.1' })
    const ask = (client: string, more: string): ReturnType<typeof connect> => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
      socket.write(`GET /products/1 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n${more}`)
      return socket
    }
    const long = `X-Long: ${'x'.repeat(60 * KIB)}\r\n\r\n`
    const held = Array.from({ length: 4 }, () => ask('192.0.2.1', long))
    while (gateway.data.calls.length < 4) await delay(5)
    const pieces = `Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(8000)}`
    // What is pipelined behind a refused request is not carried out: its answer could not be sent.
    const next = 'GET /products/2 HTTP/1.1\r\nHost: x\r\n\r\n'
    for (const more of [long, pieces, long + next]) {
      const [head = '', body = ''] = (await text(ask('192.0.2.1', more))).split('\r\n\r\n')
      expect(head).to.match(/^HTTP\/1\.1 503 /)
      expect(head.toLowerCase()).to.include('retry-after: 1').and.include('connection: close')
      expect(JSON.parse(body)).to.include({ status: 503, instance: '/products/1', code: 'upstream.unavailable' })
    }
    const other = text(ask('192.0.2.2', 'Connection: close\r\n\r\n'))
    release()
    expect(await other).to.match(/^HTTP\/1\.1 200 /)
    expect(held.map(({ destroyed }) => destroyed)).to.deep.equal([false, false, false, false])
    for (const socket of held) socket.destroy()
    expect(gateway.data.calls.length).to.equal(5)
  })

  it('that a trusted proxy pipelines beyond the bound of a client cost it that connection alone', async () => {
    await start(100 * REQUEST, { TRUSTED_PROXIES: '127.0.0.1' })
    const pipelined = (client: string, count: number): ReturnType<typeof connect> => {
      const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
      const end = count === 1 ? 'Connection: close\r\n' : ''
      socket.write(`GET /products/1 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${client}\r\n${end}\r\n`.repeat(count))
      return socket
    }
    const other = text(pipelined('192.0.2.2', 1))
    while (gateway.data.calls.length < 1) await delay(5)
    await once(pipelined('192.0.2.1', 1000).resume(), 'close')
    const later = text(pipelined('192.0.2.3', 1))
    release()
    for (const answer of [await other, await later]) expect(answer).to.match(/^HTTP\/1\.1 200 /)
  })

  it('of one client behind a trusted proxy are refused, and those of others on the same connection are served', async () => {
    const session = await startTls({ TRUSTED_PROXIES: '127.0.0.1' })
    const held = { 'x-forwarded-for': '192.0.2.1', 'x-long': 'x'.repeat(60 * KIB) }
    for (let asked = 0; asked < 4; asked++) {
      session.request({ ':path': '/products/1', ...held }).on('error', () => {})
    }
    while (gateway.data.calls.length < 4) await delay(5)
    const of = (client: string): Promise<TlsAnswer> =>
      overHttp2(session, { path: '/products/1', headers: { 'x-forwarded-for': client } })
    const refused = await of('192.0.2.1')
    expect([refused.status, refused.headers['retry-after']]).to.deep.equal([503, '1'])
    expect(JSON.parse(refused.body)).to.include({ status: 503, instance: '/products/1' })
    const other = of('192.0.2.2')
    release()
    expect((await other).status).to.equal(200)
    expect(session.destroyed).to.equal(false)
    session.destroy()
  })
})
