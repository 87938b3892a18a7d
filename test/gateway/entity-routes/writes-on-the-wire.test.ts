import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { exchange, request } from '../../harness/http.js'
import { created } from '../fake-data-client.js'
import { listen, startGateway, type GatewayFixture } from '../gateway-fixture.js'

const HEAD = 'Host: x\r\nConnection: close\r\n'
const JSON_HEAD = `${HEAD}Content-Type: application/json\r\n`
const EMPTY_OBJECT = 'Content-Length: 2\r\n\r\n{}'

describe('writes on the wire', () => {
  let gateway: GatewayFixture
  let url: string
  beforeEach(async () => {
    gateway = await startGateway()
    url = await listen(gateway)
  })
  afterEach(() => gateway.close())

  const answerTo = async (bytes: string): Promise<string> => exchange(url, Buffer.from(bytes, 'latin1'))

  it('a chunked body is taken up to 1 MiB', async () => {
    const chunked = (length: number): string => {
      const body = `"${'a'.repeat(length - 2)}"`
      return `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    }
    expect(await answerTo(`POST /products HTTP/1.1\r\n${JSON_HEAD}${chunked(1024 * 1024)}`)).to.match(
      /^HTTP\/1\.1 201 /
    )
    const answer = await answerTo(`POST /products HTTP/1.1\r\n${JSON_HEAD}${chunked(1024 * 1024 + 1)}`)
    expect(answer)
      .to.match(/^HTTP\/1\.1 413 /)
      .and.include('"code":"body.too-large"')
  })

  it('a connection serves on after a rejection that left a body unread', async () => {
    const answers = await answerTo(
      `PATCH /products HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${EMPTY_OBJECT}` +
        `POST /products HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n${EMPTY_OBJECT}` +
        `POST /products HTTP/1.1\r\n${JSON_HEAD}${EMPTY_OBJECT}`
    )
    expect(answers.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 405', 'HTTP/1.1 415', 'HTTP/1.1 201'])
  })

  it('a client that goes away does not cancel the write it sent', async () => {
    let answer: (() => void) | undefined
    const asked = new Promise<void>((resolve) => {
      gateway.data.answerCreate = () =>
        new Promise((done) => {
          answer = () => done(created())
          resolve()
        })
    })
    const connection = nextConnection(gateway)
    const leaving = new AbortController()
    const gone = request(`${url}/products`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
      signal: leaving.signal
    }).catch((error: unknown) => error)
    await asked
    const closed = once(await connection, 'close')
    leaving.abort()
    await Promise.all([gone, closed])
    expect(gateway.data.calls[0]?.call.signal.aborted).to.equal(false)
    answer?.()
  })

  it('a body that breaks off starts no write and is no failure of ours', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    const connection = nextConnection(gateway)
    await once(socket, 'connect')
    socket.write(`POST /products HTTP/1.1\r\n${JSON_HEAD}Content-Length: 100\r\n\r\n{`)
    await once(gateway.app.server, 'request')
    const closed = once(await connection, 'close')
    socket.destroy()
    await closed
    await request(`${url}/health`)
    expect(gateway.data.calls).to.be.empty
    expect(gateway.lines.filter(({ level }) => level === 'error')).to.be.empty
  })
})

/** The socket of the next client, on the gateway's side. */
async function nextConnection({ app }: GatewayFixture): Promise<Socket> {
  // What a server emits.
  const [socket] = (await once(app.server, 'connection')) as [Socket]
  return socket
}
