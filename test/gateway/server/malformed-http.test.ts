import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { exchange } from '../../harness/http.js'
import { listen, startGateway, type GatewayFixture } from '../gateway-fixture.js'

const KIB_64 = 64 * 1024
const HEAD = 'Host: x\r\nConnection: close\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'

describe('malformed HTTP', () => {
  let gateway: GatewayFixture
  let url: string
  before(async () => {
    gateway = await startGateway()
    url = await listen(gateway)
  })
  after(() => gateway.close())

  const answerTo = async (bytes: string): Promise<{ status: number; head: string; body: string }> => {
    const [head = '', ...rest] = (await exchange(url, Buffer.from(bytes, 'latin1'))).split('\r\n\r\n')
    return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body: rest.join('\r\n\r\n') }
  }

  const BROKEN: readonly (readonly [why: string, bytes: string])[] = [
    ['no HTTP', 'hello\r\n\r\n'],
    ['a method with a dot', 'GE.T /products HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a bare CR in a header', `GET /products HTTP/1.1\r\n${HEAD}X: a\rb\r\n\r\n`],
    ['a NUL in a header', `GET /products HTTP/1.1\r\n${HEAD}X: \0\r\n\r\n`],
    ['a folded header', `GET /products HTTP/1.1\r\n${HEAD}X: a\r\n b\r\n\0\r\n`],
    ['no Host', 'GET /products HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET /products HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n'],
    ['a Host with a space', 'GET /products HTTP/1.1\r\nHost: a b\r\n\r\n'],
    ['a Host with a path', 'GET /products HTTP/1.1\r\nHost: a/b\r\n\r\n'],
    ['an unknown expectation', `GET /products HTTP/1.1\r\n${HEAD}Expect: tea\r\nConnection: close\r\n\r\n`],
    ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a fragment', `GET /products#top HTTP/1.1\r\n${HEAD}\r\n`],
    ['a byte beyond ASCII in the target', `GET /products?a=\u00e9 HTTP/1.1\r\n${HEAD}\r\n`],
    ['two lengths', `POST /products HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`],
    ['length and chunks', `POST /products HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`]
  ]
  for (const [why, bytes] of BROKEN) {
    it(`${why} is answered with a problem document`, async () => {
      const { status, head, body } = await answerTo(bytes)
      expect(status, head).to.equal(400)
      expect(head).to.include('content-type: application/problem+json').and.include('connection: close')
      expect(body).to.include('"code":"request.malformed"').and.include('"requestId":"')
    })
  }

  const PLACES: readonly (readonly [why: string, bytes: string, instance: string])[] = [
    ['of a header', `GET /products/1?x=%2f HTTP/1.1\r\n${HEAD}X: \0\r\n\r\n`, '/products/1'],
    ['of a header of HTTP/1.0', `GET /products HTTP/1.0\r\nBad Header: 1\r\n\r\n`, '/products'],
    ['of a lower-case method', `get /products HTTP/1.1\r\n${HEAD}\r\n`, '/products'],
    ['of a version', 'GET /products HTTP/9.9\r\nHost: x\r\n\r\n', '/products'],
    ['of an expectation', `PUT /products/1 HTTP/1.1\r\n${HEAD}Expect: tea\r\n\r\n`, '/products/1'],
    ['in absolute form', `GET http://y/products?x=1 HTTP/1.1\r\n${HEAD}X: \0\r\n\r\n`, '/products'],
    ['in absolute form and well-formed', `GET http://y/nope?x=1 HTTP/1.1\r\n${HEAD}\r\n`, '/nope'],
    ['of a long target', `GET /${'a'.repeat(5000)} HTTP/1.1\r\n${HEAD}X: \0\r\n\r\n`, `/${'a'.repeat(5000)}`],
    ['of chunks', `POST /products HTTP/1.1\r\n${HEAD}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\nx\r\n`, '/products'],
    ['without a target', 'GET HTTP/1.1\r\nHost: x\r\n\r\n', '/'],
    ['of no line', 'hello\r\n\r\n', '/'],
    ['of another method’s target', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nX: \0\r\n\r\n', '/*']
  ]
  for (const [why, bytes, instance] of PLACES) {
    it(`the fault ${why} is told at ${instance.slice(0, 20)}`, async () => {
      const { status, body } = await answerTo(bytes)
      expect(status, body).to.be.within(400, 404)
      expect(body).to.include(`"instance":"${instance}"`)
    })
  }

  it('of several requests in one packet the faulty one is told', async () => {
    const first = 'GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\n'
    const instances = async (second: string): Promise<string[]> =>
      Array.from((await exchange(url, first + second)).matchAll(/"instance":"([^"]*)"/g), ([, path = '']) => path)
    expect(await instances('GET /nope HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n')).to.deep.equal(['/nope'])
    expect(await instances('garbage\r\n\r\n')).to.deep.equal(['/'])
  })

  it('a body that turns out faulty is told at the path of its head', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    await once(socket, 'connect')
    socket.write(`POST /products HTTP/1.1\r\n${HEAD}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`)
    await once(gateway.app.server, 'request')
    socket.write('zz\r\n')
    expect((await buffer(socket)).toString())
      .to.include('"code":"request.malformed"')
      .and.include('"/products"')
  })

  it('a request that does not arrive in time is told at its path', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    const [connection] = (await once(gateway.app.server, 'connection')) as [Socket]
    socket.write(`PUT /products/1 HTTP/1.1\r\n${HEAD}${JSON_TYPE}Content-Length: 9\r\n\r\n{`)
    await once(gateway.app.server, 'request')
    // What Node emits once `requestTimeout` has passed.
    gateway.app.server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), connection)
    const answer = (await buffer(socket)).toString()
    expect(answer).to.include('did not arrive in full').and.include('"instance":"/products/1"')
  })

  it('a faulty body after its rejection is no second answer', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    await once(socket, 'connect')
    socket.write(`POST /products HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n`)
    const [first] = (await once(socket, 'data')) as [Buffer]
    socket.write('zz\r\n')
    const rest = await buffer(socket)
    expect(
      Buffer.concat([first, rest])
        .toString()
        .match(/HTTP\/1\.1 \d+/g)
    ).to.deep.equal(['HTTP/1.1 415'])
  })

  for (const key of ['ab\x01c', '\x01', '"a\x7fb"', 'a\0']) {
    it(`an Idempotency-Key with a control character, ${JSON.stringify(key)}, is named as what is wrong`, async () => {
      const { status, body } = await answerTo(`POST /products HTTP/1.1\r\n${HEAD}Idempotency-Key: ${key}\r\n\r\n`)
      expect(status).to.equal(400)
      expect(body).to.include('"code":"idempotency.key.invalid"')
    })
  }

  const filled = (before: string, after: string, length: number): string =>
    before + 'a'.repeat(length - before.length - after.length) + after
  const target = (length: number): string => filled('/products?x=', '', length)
  const headed = (length: number): string => filled(`GET /products HTTP/1.1\r\n${HEAD}X: `, '\r\n\r\n', length)

  it('a head of 64 KiB is served and one byte more is 431', async () => {
    expect((await answerTo(headed(KIB_64))).status).to.equal(200)
    const { status, body } = await answerTo(headed(KIB_64 + 1))
    expect(status).to.equal(431)
    expect(body).to.include('"code":"headers.too-large"')
  })

  it('a head of 2000 lines is served and one line more is 431', async () => {
    // HEAD has lines of its own.
    const lined = (count: number): string => {
      const own = HEAD.split('\r\n').length - 1
      return `GET /products HTTP/1.1\r\n${HEAD}${'a:\r\n'.repeat(count - own)}\r\n`
    }
    expect((await answerTo(lined(2000))).status).to.equal(200)
    for (const lines of [2001, 3000, 10_000]) {
      const { status, body } = await answerTo(lined(lines))
      expect([lines, status]).to.deep.equal([lines, 431])
      expect(body).to.include('"code":"headers.too-large"').and.include('more than 2000 header lines')
    }
  })

  it('a target of 64 KiB leaves no room for headers, and one byte more is 414', async () => {
    expect((await answerTo(`GET ${target(KIB_64)} HTTP/1.1\r\n${HEAD}\r\n`)).status).to.equal(431)
    const { status, body } = await answerTo(`GET ${target(KIB_64 + 1)} HTTP/1.1\r\n${HEAD}\r\n`)
    expect(status).to.equal(414)
    expect(body).to.include('"code":"uri.too-long"').and.include('"instance":"/products"')
  })

  it('heads far over the limit are told apart as well', async () => {
    expect((await answerTo(`GET ${target(600_000)} HTTP/1.1\r\n${HEAD}\r\n`)).status).to.equal(414)
    const many = `GET /products HTTP/1.1\r\n${HEAD}${'X-Some: thing\r\n'.repeat(40_000)}\r\n`
    expect((await answerTo(many)).status).to.equal(431)
  })

  it('all headers of a head with as many lines as it may have are seen', async () => {
    const many = 'X: a\r\n'.repeat(2000 - HEAD.split('\r\n').length)
    await answerTo(`GET /products/1 HTTP/1.1\r\n${many}${HEAD}Authorization: Bearer last\r\n\r\n`)
    expect(gateway.data.calls.at(-1)?.call.authorization).to.equal('Bearer last')
  })

  it('absolute form and HTTP/1.0 without Host are served', async () => {
    expect((await answerTo(`GET http://y/products/1 HTTP/1.1\r\n${HEAD}\r\n`)).status).to.equal(200)
    expect((await answerTo('GET /products/1 HTTP/1.0\r\n\r\n')).status).to.equal(200)
  })

  it('every request leaves one line, its query and its secrets left out', async () => {
    const from = gateway.lines.length
    const secrets = 'Authorization: Bearer tell-tale\r\nCookie: a=tell-tale\r\n'
    await answerTo(`GET /products/1?x=tell-tale HTTP/1.1\r\n${HEAD}${secrets}\r\n`)
    await answerTo(`GET /products/%zz?x=tell-tale HTTP/1.1\r\n${HEAD}${secrets}\r\n`)
    const lines = gateway.lines.slice(from)
    expect(lines.map(({ msg, method, path, status }) => [msg, method, path, status])).to.deep.equal([
      ['request', 'GET', '/products/1', 200],
      ['request', 'GET', '/products/%zz', 400]
    ])
    expect(lines[0]).to.include.keys('requestId', 'durationMs')
    expect(JSON.stringify(lines)).to.not.include('tell-tale')
  })

  it('garbage after a request leaves that request its answer', async () => {
    const all = await exchange(url, 'GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\ngarbage\r\n\r\n')
    expect(all.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it('a client that goes away mid-request ends nothing', async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    await once(socket, 'connect')
    socket.write('GET /products HTTP/1.1\r\nHo')
    socket.resetAndDestroy()
    await once(socket, 'close')
    expect((await answerTo(`GET /products/1 HTTP/1.1\r\n${HEAD}\r\n`)).status).to.equal(200)
  })
})
