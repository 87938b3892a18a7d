import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { ConnectionTimeouts } from '../../../gateway/server/connections.js'
import { open } from '../../harness/http.js'
import { exportHeader, exportRows, record } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const SHORT: ConnectionTimeouts = { head: 500, body: 500, response: 500 }
/** Node counts the time of a head by a clock, which goes on while this process is stopped. */
const LONG_HEAD: ConnectionTimeouts = { ...SHORT, head: 60_000 }
const GET = 'GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\n'
const POST = 'POST /products HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
/** Beyond what an operating system keeps for a reader that reads nothing. */
const LARGE = 24 * 1024 * 1024

interface Dialled {
  /** The client's end. */
  readonly client: Socket
  /** The gateway's end. */
  readonly server: Socket
}

async function dialTo(gateway: GatewayFixture, port: number, bytes: string): Promise<Dialled> {
  const accepted = once(gateway.app.server, 'connection') as Promise<[Socket]>
  const client = connect({ host: '127.0.0.1', port })
  client.on('error', () => {})
  client.write(bytes)
  const [server] = await accepted
  return { client, server }
}

async function portOf(gateway: GatewayFixture): Promise<number> {
  return Number(new URL(await listen(gateway)).port)
}

let gateway: GatewayFixture
let port: number
const dial = (bytes = ''): Promise<Dialled> => dialTo(gateway, port, bytes)
const closedAs = (): unknown[] =>
  gateway.lines.filter(({ msg }) => String(msg).startsWith('connection closed')).map(({ why }) => why)

/** The tests of a describe share a gateway with these times. */
function shareGateway(timeouts: ConnectionTimeouts): void {
  before(async () => {
    gateway = await startGateway({}, undefined, { timeouts })
    port = await portOf(gateway)
  })
  after(() => {
    gateway.app.server.closeAllConnections()
    return gateway.close()
  })
  beforeEach(() => {
    gateway.lines.length = 0
    gateway.data.calls.length = 0
    gateway.data.answerGet = () => ({ record: record('{"id":1}') })
  })
}

describe('connections whose head does not come', () => {
  shareGateway(SHORT)

  it('one that sends nothing is closed without an answer, which would be taken for that of what it sends next', async () => {
    const { client } = await dial()
    expect(await text(client)).to.equal('')
  })

  it('half a head is answered and closed', async () => {
    const { client } = await dial('GET /products HTTP/1.1\r\nHo')
    expect(await text(client))
      .to.match(/^HTTP\/1.1 400 /)
      .and.include('did not arrive in full in time')
  })

  it('blank lines after an answer are the start of a head: they do not hold a connection open', async () => {
    const { client } = await dial(GET)
    await once(client, 'data')
    const blank = setInterval(() => client.write('\r\n'), SHORT.head / 10)
    expect(await text(client)).to.match(/HTTP\/1.1 400 /)
    clearInterval(blank)
  })

  it('half a head behind a request is answered after it', async () => {
    const { client } = await dial(`${GET}GET /nope HTTP/1.1\r\nHo`)
    expect((await text(client)).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it('half a head that is not read while an answer is under way has its time after that', async () => {
    let answer = (): void => undefined
    gateway.data.answerGet = () =>
      new Promise((resolve) => {
        answer = () => resolve({ record: record('{}') })
      })
    const { client } = await dial(`${GET}GET /products/1 HTTP/1.1\r\nHo`)
    const answers = text(client)
    // Longer than a head may take.
    await once(gateway.app.server, 'clientError')
    answer()
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })
})

describe('connections of clients', () => {
  shareGateway(LONG_HEAD)

  for (const [why, body] of [
    ['of a length', 'Content-Length: 9\r\n\r\n{'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n']
  ]) {
    it(`half a body ${why} is answered and closed`, async () => {
      const { client } = await dial(POST + body)
      expect(await text(client))
        .to.match(/^HTTP\/1.1 400 /)
        .and.include('"instance":"/products"')
    })
  }

  it('half a body that was rejected at its head is closed', async () => {
    const { client } = await dial(
      'POST /products HTTP/1.1\r\nHost: x\r\nContent-Type: a/b\r\nContent-Length: 9\r\n\r\n{'
    )
    expect((await text(client)).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 415'])
  })

  it('a body that goes on arriving is taken, however long it takes in all', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(30) })
    const { client } = await dial(`${POST}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`)
    for (const character of body) {
      await delay(SHORT.body / 10)
      client.write(character)
    }
    expect(await text(client)).to.match(/^HTTP\/1.1 201 /)
  })

  it('who reads nothing of a large answer is disconnected', async () => {
    gateway.data.answerGet = () => ({ record: record(`"${'x'.repeat(LARGE)}"`) })
    const { client, server } = await dial(GET)
    client.pause()
    await once(server, 'close')
    expect(closedAs()).to.deep.equal(['read an answer too slowly'])
    client.destroy()
  })

  it('who reads steadily gets the whole of it, although nothing leaves the gateway for long spells', async () => {
    gateway.data.answerGet = () => ({ record: record(`"${'x'.repeat(5 * 1024 * 1024)}"`) })
    const response = await open(`http://127.0.0.1:${port}/products/1`)
    let length = 0
    // A third of the buffers between takes longer than the time without progress.
    for await (const piece of response) {
      length += (piece as Buffer).length
      await delay(50)
    }
    expect(length).to.equal(5 * 1024 * 1024 + 2)
    expect(closedAs()).to.deep.equal([])
  })

  it('a client that leaves takes its waiting requests along', async () => {
    gateway.data.answerGet = () => new Promise(() => {})
    const { client, server } = await dial(GET + GET + GET)
    while (gateway.data.calls.length === 0) await delay(5)
    const closed = new Promise((resolve) => server.once('close', resolve))
    client.resetAndDestroy()
    await closed
    await delay(20)
    expect(gateway.data.calls.length).to.equal(1)
    expect(gateway.data.calls[0]?.call.signal.aborted).to.equal(true)
  })

  it('CONNECT behind a request that is answered is rejected; behind one under way, it ends the connection', async () => {
    const answered = await dial(GET)
    await once(answered.client, 'data')
    answered.client.write('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await text(answered.client)).to.match(/^HTTP\/1.1 400 /)
    gateway.data.answerGet = () => new Promise(() => {})
    const { client } = await dial(`${GET}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`)
    expect((await buffer(client)).toString()).to.equal('')
    expect(gateway.data.calls.at(-1)?.call.signal.aborted).to.equal(true)
  })

  it('a faulty body behind a request is answered after it', async () => {
    let answer = (): void => undefined
    gateway.data.answerGet = () =>
      new Promise((resolve) => {
        answer = () => resolve({ record: record('{}') })
      })
    const { client } = await dial(`${GET}${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`)
    const answers = buffer(client)
    while (gateway.data.calls.length === 0) await delay(5)
    await delay(20)
    answer()
    expect((await answers).toString().match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  it('every socket, request and answer has a listener for errors, handed to others or not', async () => {
    const sockets: Socket[] = []
    const keep = (socket: Socket): unknown => sockets.push(socket)
    gateway.app.server.on('connection', keep)
    const answered = once(gateway.app.server, 'request') as Promise<[ServerResponse['req'], ServerResponse]>
    await dial(GET)
    for (const [at, one] of (await answered).entries()) expect(one.listenerCount('error'), `case ${at}`).to.be.above(0)
    const connected = once(gateway.app.server, 'connect')
    const { client } = await dial('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')
    await connected
    gateway.app.server.off('connection', keep)
    expect(sockets.length).to.equal(2)
    for (const [at, socket] of sockets.entries()) expect(socket.listenerCount('error'), `socket ${at}`).to.be.above(0)
    // A gateway that closes waits for what it has answered itself.
    client.destroy()
  })
})

// With the times of the contract, since Node counts the time of a head that it has read in part by a clock.
describe('pipelined requests of a client', () => {
  beforeEach(async () => {
    gateway = await startGateway()
    port = await portOf(gateway)
  })
  afterEach(() => {
    gateway.app.server.closeAllConnections()
    return gateway.close()
  })

  it('pipelined requests begin when those before them are answered', async () => {
    const waiting: (() => void)[] = []
    gateway.data.answerGet = () => new Promise((resolve) => waiting.push(() => resolve({ record: record('{}') })))
    const { client } = await dial(
      `${GET}${POST}Content-Length: 2\r\n\r\n{}${GET.replace('Host', 'Connection: close\r\nHost')}`
    )
    const answers = text(client)
    while (waiting.length < 1) await delay(5)
    expect(gateway.data.calls.map(({ rpc }) => rpc)).to.deep.equal(['get'])
    waiting[0]?.()
    while (waiting.length < 2) await delay(5)
    expect(gateway.data.calls.map(({ rpc }) => rpc)).to.deep.equal(['get', 'create', 'get'])
    waiting[1]?.()
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 201', 'HTTP/1.1 200'])
  })

  it('pipelined requests beyond a few are not read before their turn, and all are answered in the end', async () => {
    let release = (): void => undefined
    gateway.data.answerGet = () =>
      new Promise((resolve) => {
        release = () => resolve({ record: record('{"id":1}') })
      })
    let seen = 0
    const count = (): unknown => (seen += 1)
    gateway.app.server.on('request', count)
    // More than twice what one read of the socket may bring.
    const many = 800
    const long = GET.replace(/\r\n\r\n$/, `\r\nx-padding: ${'x'.repeat(400)}\r\n\r\n`)
    const { client, server } = await dial(GET)
    while (gateway.data.calls.length === 0) await delay(5)
    client.write(long.repeat(many))
    let before = -1
    while (seen < 2 || seen !== before) {
      before = seen
      await delay(50)
    }
    // What was in one read of the socket when the reading stopped, and no more.
    expect(server.bytesRead).to.be.below(2 * 64 * 1024 + GET.length + long.length)
    const answered = (async (): Promise<number> => {
      let answers = 0
      let rest = ''
      for await (const piece of client) {
        const parts = (rest + (piece as Buffer).toString('latin1')).split('{"id":1}')
        answers += parts.length - 1
        // An answer may lie across two pieces.
        rest = parts.at(-1) ?? ''
        if (answers >= many) break
      }
      return answers
    })()
    gateway.data.answerGet = () => ({ record: record('{"id":1}') })
    release()
    expect(await answered).to.be.within(many, many + 1)
    client.destroy()
  })
})

describe('MAX_CONNECTIONS', () => {
  it('closes what comes beyond it, and says so once', async () => {
    const gateway = await startGateway({ MAX_CONNECTIONS: '2' })
    const port = await portOf(gateway)
    const dial = async (): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port })
      socket.on('error', () => {})
      await once(socket, 'connect')
      return socket
    }
    const first = [await dial(), await dial()]
    for (const [at, beyond] of [await dial(), await dial()].entries())
      expect(await text(beyond).catch(() => ''), `beyond ${at}`).to.equal('')
    expect(gateway.lines.filter(({ maxConnections }) => maxConnections === 2).length).to.equal(1)
    for (const [at, socket] of first.entries()) {
      socket.write(GET.replace('Host', 'Connection: close\r\nHost'))
      expect(await text(socket), `socket ${at}`).to.match(/^HTTP\/1.1 200 /)
    }
    await gateway.close()
  })
})

describe('the share of MAX_CONNECTIONS of one address', () => {
  const TAKEN = /^HTTP\/1.1 200 /

  /** Connections that stay open, each from an address of its own choice: those of a test all come from the loopback. */
  async function addresses(gateway: GatewayFixture) {
    const port = await portOf(gateway)
    let next = ''
    gateway.app.server.prependListener('connection', (socket: Socket) => {
      Object.defineProperty(socket, 'remoteAddress', { value: next })
    })
    return async (address: string): Promise<Socket> => {
      next = address
      return (await dialTo(gateway, port, '')).client
    }
  }

  async function answerTo(socket: Socket): Promise<string> {
    socket.write(GET.replace('Host', 'Connection: close\r\nHost'))
    return await text(socket).catch(() => '')
  }

  it('is a quarter, counted as limits count addresses; what comes beyond it is closed, with one line', async () => {
    const gateway = await startGateway({ MAX_CONNECTIONS: '8' })
    gateway.data.answerGet = () => ({ record: record('{"id":1}') })
    const dial = await addresses(gateway)
    const first = [await dial('203.0.113.9'), await dial('::ffff:203.0.113.9')]
    const others = [await dial('2001:db8::1'), await dial('2001:db8::2')]
    const beyond = [await dial('203.0.113.9'), await dial('2001:db8::ffff')]
    for (const socket of beyond) expect(await answerTo(socket)).to.equal('')
    expect(gateway.lines.filter(({ msg }) => String(msg).includes('share of MAX_CONNECTIONS'))).to.have.length(1)
    expect(await answerTo(await dial('203.0.113.10'))).to.match(TAKEN)
    // A place is free again once its connection has closed.
    for (const socket of first) expect(await answerTo(socket)).to.match(TAKEN)
    expect(await answerTo(await dial('203.0.113.9'))).to.match(TAKEN)
    for (const socket of others) socket.destroy()
    await gateway.close()
  })

  it('is one connection at least, and not for this machine and proxies of TRUSTED_PROXIES', async () => {
    const gateway = await startGateway({ MAX_CONNECTIONS: '3', TRUSTED_PROXIES: '198.51.100.0/24' })
    gateway.data.answerGet = () => ({ record: record('{"id":1}') })
    const dial = await addresses(gateway)
    for (const [address, answers] of [
      ['127.0.0.1', [TAKEN, TAKEN]],
      ['::ffff:198.51.100.7', [TAKEN, TAKEN]],
      ['203.0.113.9', [TAKEN, /^$/]]
    ] as const) {
      const sockets = [await dial(address), await dial(address)]
      const [one = '', another = ''] = (await Promise.all(sockets.map(answerTo))).toSorted().toReversed()
      expect(one, address).to.match(answers[0])
      expect(another, address).to.match(answers[1])
    }
    await gateway.close()
  })
})

describe('a gateway that closes', () => {
  it('ends connections that wait for nothing, and the others after their answers', async () => {
    // With the times of the contract: a client may keep an idle connection for longer than any test runs.
    const gateway = await startGateway()
    const port = await portOf(gateway)
    const dial = async (bytes: string): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port })
      await once(socket, 'connect')
      socket.write(bytes)
      return socket
    }
    const silent = await dial('')
    const idle = await dial(GET)
    await once(idle, 'data')

    const released = new AbortController()
    const release = once(released.signal, 'abort')
    gateway.data.answerGet = async () => {
      await release
      return { record: record('{"id":1}') }
    }
    gateway.data.answerExport = async function* () {
      yield exportHeader()
      yield exportRows([[1, 'a']])
      await release
      yield { end: { count: 1, truncated: false, unshownValues: [] } }
    }
    const begun = await dial('GET /products/export HTTP/1.1\r\nHost: x\r\n\r\n')
    const received: Buffer[] = []
    begun.on('data', (chunk: Buffer) => received.push(chunk))
    const ended = once(begun, 'end')
    await once(begun, 'data')
    const called = once(gateway.app.server, 'request')
    const waiting = await dial(GET)
    await called

    const closed = gateway.close()
    expect([await text(silent), await text(idle)]).to.deep.equal(['', ''])
    released.abort()
    expect(await text(waiting))
      .to.match(/^HTTP\/1\.1 200 /)
      .and.match(/\r\nConnection: close\r\n/i)
    await ended
    expect(Buffer.concat(received).toString()).to.match(/\r\n0\r\n\r\n$/)
    await closed
  })
})
