import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { Authority } from '../../harness/certificates.js'
import { frame, HEADERS, PREFACE, SETTINGS } from '../../harness/http2-frames.js'
import { openHttp2, overHttp2 } from '../../harness/https.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const ACKNOWLEDGED = 1
const KIB = 1024

/** GET of a product (RFC 7541), without further lines. */
const REQUEST = Buffer.from([0x82, 0x87, 0x01, 1, 0x61, 0x04, 11, ...Buffer.from('/products/1')])

/** Resolves once the connection is closed, however that happens. */
function closed(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => (socket.closed ? resolve() : socket.once('close', () => resolve())))
}

/** Whether an event comes before the connection is closed. */
function happens(socket: TLSSocket, event: 'secureConnect' | 'data'): Promise<boolean> {
  return Promise.race([
    new Promise<boolean>((resolve) => socket.once(event, () => resolve(true))),
    closed(socket).then(() => false)
  ])
}

describe('HTTP/2 that becomes no request', () => {
  let authority: Authority
  let gateway: GatewayFixture
  let url: string
  before(async () => {
    authority = await Authority.create()
  })
  after(() => authority[Symbol.asyncDispose]())
  beforeEach(async () => {
    const { certFile, keyFile } = await authority.issueTo('http')
    gateway = await startGateway({ HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile })
    url = await listen(gateway)
  })
  afterEach(() => gateway.close())

  async function open(): Promise<TLSSocket> {
    const { hostname: host, port } = new URL(url)
    const socket = connect({ host, port: Number(port), ca: authority.cert, ALPNProtocols: ['h2'] })
    socket.on('error', () => undefined)
    await happens(socket, 'secureConnect')
    socket.resume()
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0))]))
    return socket
  }

  const requestLines = (): unknown[] => gateway.lines.filter(({ msg }) => msg === 'request')

  it('A head beyond the SETTINGS ends a connection whose client has not acknowledged them.', async () => {
    const before = requestLines().length
    // A line of 3.9 KB goes into the dynamic table (RFC 7541 section 2.3.2), and each further byte stands for it again.
    const name = Buffer.from('x-forwarded-for')
    const value = Buffer.from('ab,'.repeat(1300))
    const length = [127, ((value.length - 127) & 127) | 128, (value.length - 127) >> 7]
    const line = Buffer.concat([Buffer.from([0x40, name.length]), name, Buffer.from(length), value])
    const socket = await open()
    socket.write(frame(HEADERS, 5, 1, Buffer.concat([REQUEST, line, Buffer.alloc(1000, 0xbe)])))
    await closed(socket)
    expect(gateway.data.calls).to.deep.equal([])
    expect(requestLines()).to.have.lengthOf(before)
  })

  const UNEXPLAINED: readonly (readonly [what: string, frames: (at: number) => Buffer])[] = [
    [
      'Heads that Node refuses by itself',
      (at) => frame(HEADERS, 5, 2 * at + 1, Buffer.concat([REQUEST, Buffer.alloc(14 * KIB, 0x90)]))
    ],
    ['Frames of no stream', () => frame(0xfa, 0, 0, Buffer.alloc(16 * KIB))],
    [
      'Frames of no stream beside requests',
      (at) =>
        Buffer.concat([
          frame(HEADERS, 5, 2 * at + 1, REQUEST),
          ...Array.from({ length: 3 }, () => frame(0xfa, 0, 0, Buffer.alloc(16 * KIB)))
        ])
    ],
    [
      'Frames of no stream beside requests whose bodies do not come',
      (at) =>
        Buffer.concat([
          frame(HEADERS, 4, 2 * at + 1, REQUEST),
          ...Array.from({ length: 3 }, () => frame(0xfa, 0, 0, Buffer.alloc(16 * KIB)))
        ])
    ]
  ]
  for (const [what, frames] of UNEXPLAINED) {
    it(`${what} end all connections of their address.`, async () => {
      const [idle, socket] = [await open(), await open()]
      socket.write(frame(SETTINGS, ACKNOWLEDGED, 0, Buffer.alloc(0)))
      const send = (at: number): void => {
        if (socket.destroyed) return
        socket.write(Buffer.concat([0, 1, 2, 3].map((more) => frames(4 * at + more))))
        setTimeout(() => send(at + 1), 1)
      }
      send(0)
      await Promise.all([closed(idle), closed(socket)])
      // A connection without a request is closed after 30 seconds in any case.
      expect(gateway.lines.some(({ msg }) => String(msg).startsWith('connections of an address are closed'))).to.equal(
        true
      )
    })
  }

  it('Bodies are explained by their requests, however many pieces they have.', async () => {
    const session = await openHttp2(url, authority.cert)
    const body = JSON.stringify({ name: 'x'.repeat(900 * KIB) })
    for (let at = 0; at < 30; at += 1) {
      const { status } = await overHttp2(session, {
        method: 'POST',
        path: '/products',
        headers: { 'content-type': 'application/json' },
        body
      })
      expect(status).to.not.equal(503)
    }
    const { status } = await overHttp2(session, { path: '/products/1' })
    expect(status).to.equal(200)
    session.close()
  })
})
