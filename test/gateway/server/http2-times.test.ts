import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { ExportPart } from '../../../gateway/data/data-client.js'
import { Authority } from '../../harness/certificates.js'
import { openHttp2, openStream, overHttp2 } from '../../harness/https.js'
import { exportHeader, exportRows, record } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'
import { listenLocally } from '../../harness/local-server.js'

const JSON_TYPE = { 'content-type': 'application/json' }

let authority: Authority
let gateway: GatewayFixture
let url: string

/** The tests of a describe share a gateway in which a connection has so many milliseconds for its first request. */
function shareGateway(head: number): void {
  before(async () => {
    authority = await Authority.create()
    const { certFile, keyFile } = await authority.issueTo('http')
    const timeouts = { head, body: 300, response: 300 }
    gateway = await startGateway({ HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile }, undefined, { timeouts })
    url = await listen(gateway)
  })
  after(async () => {
    await gateway.close()
    await authority[Symbol.asyncDispose]()
  })
}

describe('the time of HTTP/2 for a first request', () => {
  shareGateway(1000)

  it('end a connection that never makes a request', async () => {
    const started = performance.now()
    const session = await openHttp2(url, authority.cert)
    await once(session, 'close')
    // A timer may be a millisecond early by this clock.
    expect(performance.now() - started, 'milliseconds that it had for a request').to.be.at.least(999)
  })

  it('end a connection whose client says good-bye and does not go', async () => {
    const below = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true })
    const socket = connectTls({ socket: below, ca: authority.cert, host: '127.0.0.1', ALPNProtocols: ['h2'] })
    await once(socket, 'secureConnect')
    socket.on('error', () => {}).resume()
    // The preface, empty SETTINGS, a GOAWAY without an error.
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(Buffer.from('0000000400000000000000080700000000000000000000000000', 'hex'))
    await withoutConnections(gateway)
    expect(below.destroyed, 'the client has hung up itself').to.equal(false)
    below.destroy()
  })
})

describe('the times of HTTP/2', () => {
  // That time goes on while this process is stopped.
  shareGateway(60_000)

  it('end a request whose body comes no further, and one whose answer is not read; others go on', async () => {
    const session = await openHttp2(url, authority.cert)
    gateway.data.answerExport = async function* (): AsyncGenerator<ExportPart> {
      yield exportHeader()
      for (;;) yield exportRows([[1, 'x'.repeat(10_000)]])
    }
    let release: (() => void) | undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const answer = gateway.data.answerGet
    gateway.data.answerGet = async () => {
      await held
      return answer()
    }
    const patient = overHttp2(session, { path: '/products/1' })
    const half = session.request({ ':method': 'POST', ':path': '/products', ...JSON_TYPE })
    half.write('{')
    const { stream: unread } = await openStream(session, { path: '/products/export' })
    const codes = [half, unread].map(async (stream) => {
      stream.on('error', () => {}).pause()
      await once(stream, 'close')
      return stream.rstCode
    })
    expect(await Promise.all(codes)).to.deep.equal([8, 8])
    release?.()
    expect((await patient).status).to.equal(200)
    session.close()
  })

  for (const [what, path, pings] of [
    ['an answer of one part that nobody reads', '/products/1', false],
    ['an answer of one part that nobody reads, while PINGs come', '/products/1', true],
    ['an export that nobody reads, while PINGs come', '/products/export', true]
  ] as const) {
    it(`reset ${what}; another stream of the connection goes on`, async () => {
      gateway.data.answerGet = () => ({ record: record(`"${'x'.repeat(100_000)}"`) })
      gateway.data.answerExport = async function* (): AsyncGenerator<ExportPart> {
        yield exportHeader()
        for (;;) yield exportRows([[1, 'x'.repeat(10_000)]])
      }
      const session = connectHttp2(url, { ca: authority.cert, settings: { initialWindowSize: 0 } })
      await once(session, 'remoteSettings')
      const pinging = setInterval(() => pings && session.ping(() => {}), 30)
      const { stream } = await openStream(session, { path })
      stream.on('error', () => {}).pause()
      await once(stream, 'close')
      clearInterval(pinging)
      expect(stream.rstCode).to.equal(8)
      expect((await openStream(session, { path: '/products/1' })).status).to.equal(200)
      session.destroy()
    })
  }

  it('end a request whose answer is read a few bytes at a time, however steadily', async () => {
    gateway.data.answerExport = async function* (): AsyncGenerator<ExportPart> {
      yield exportHeader()
      for (;;) yield exportRows([[1, 'abcdefgh']])
    }
    // About a row. It is below the lowest rate even if each look of the gateway finds one more taken.
    const step = 12
    let window = step
    const session = connectHttp2(url, { ca: authority.cert, settings: { initialWindowSize: window } })
    await once(session, 'remoteSettings')
    const { stream } = await openStream(session, { path: '/products/export' })
    // A stream that is not paused allows as much again as it has read.
    stream.on('error', () => {}).pause()
    while (!stream.closed) {
      window += step
      await new Promise((resolve) => session.settings({ initialWindowSize: window }, resolve))
      await pause(60)
    }
    expect(stream.rstCode).to.equal(8)
    session.destroy()
  })

  it('end a request whose body comes no further, while PINGs come', async () => {
    const session = await openHttp2(url, authority.cert)
    const pinging = setInterval(() => session.ping(() => {}), 30)
    const half = session.request({ ':method': 'POST', ':path': '/products', ...JSON_TYPE })
    half.on('error', () => {}).write('{')
    await once(half, 'close')
    clearInterval(pinging)
    expect(half.rstCode).to.equal(8)
    session.close()
  })

  it('end a connection from which nothing is read any more, whatever its windows allow', async () => {
    gateway.data.answerExport = async function* (): AsyncGenerator<ExportPart> {
      yield exportHeader()
      for (;;) yield exportRows([[1, 'x'.repeat(10_000)]])
    }
    let gatewaySide: Socket | undefined
    const between = createServer((client) => {
      gatewaySide = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
      for (const side of [client, gatewaySide]) side.on('error', () => {})
      client.pipe(gatewaySide).pipe(client)
    })
    const port = await listenLocally(between)
    const settings = { initialWindowSize: 2 ** 30 }
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert, settings })
    session.on('error', () => {})
    await once(session, 'remoteSettings')
    expect(session.remoteSettings.maxConcurrentStreams, 'streams of a connection').to.equal(32)
    session.setLocalWindowSize(2 ** 30)
    const { stream } = await openStream(session, { path: '/products/export' })
    stream.on('error', () => {}).resume()
    gatewaySide?.unpipe().pause()
    await withoutConnections(gateway)
    expect(session.closed, 'the client has closed its session itself').to.equal(false)
    session.destroy()
    gatewaySide?.destroy()
    between.close()
  })

  it('never cut who reads steadily, however long an answer of one part takes in all', async () => {
    const length = 40 * 16 * 1024
    gateway.data.answerGet = () => ({ record: record(`"${'x'.repeat(length)}"`) })
    const session = connectHttp2(url, { ca: authority.cert, settings: { initialWindowSize: 16 * 1024 } })
    await once(session, 'remoteSettings')
    const { stream } = await openStream(session, { path: '/products/1' })
    let got = 0
    // In all several times as long as an answer may wait.
    for await (const piece of stream) {
      got += (piece as Buffer).length
      await pause(30)
    }
    expect(got).to.equal(length + 2)
    session.close()
  })
})

/** Resolves when the gateway has closed all of its connections. */
async function withoutConnections({ app: { server } }: GatewayFixture): Promise<void> {
  const count = promisify(server.getConnections.bind(server))
  while ((await count()) > 0) await pause(20)
}
