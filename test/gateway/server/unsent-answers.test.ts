import { once } from 'node:events'
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { GatewayMetrics } from '../../../gateway/observe/gateway-metrics.js'
import { UNDER_WAY, unsentBounds, UnsentAnswers } from '../../../gateway/server/unsent-answers.js'
import { Authority } from '../../harness/certificates.js'
import { memoryLog } from '../../harness/memory-log.js'
import { openHttp2, openStream, overHttp2 } from '../../harness/https.js'
import { exportHeader, exportRows, record } from '../fake-data-client.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const MIB = 1024 * 1024
const BOUNDS = { connection: 4 * UNDER_WAY, address: 6 * UNDER_WAY, process: 8 * UNDER_WAY, always: 0 }

describe('the count of unsent answers', () => {
  const connection = {}
  const sender = (address: string, of?: object): Parameters<UnsentAnswers['begin']>[0] => ({
    address,
    connection: of
  })
  let now = 0
  let lines: Record<string, unknown>[] = []
  const make = (): UnsentAnswers => {
    const log = memoryLog()
    lines = log.lines
    return new UnsentAnswers({ bounds: BOUNDS, log: log.log, now: () => now })
  }
  const refusalOf = (answers: UnsentAnswers, of: ReturnType<typeof sender>): unknown => {
    try {
      answers.begin(of)
    } catch (error) {
      return error
    }
    return undefined
  }

  it('refuses what would go beyond the bound of a connection, an address or the process', () => {
    const answers = make()
    const first = answers.begin(sender('a', connection))
    first.hold(3 * UNDER_WAY)
    answers.begin(sender('a', connection))
    expect(refusalOf(answers, sender('a', connection))).to.be.instanceOf(DomainError)
    answers.begin(sender('a'))
    answers.begin(sender('a', {}))
    expect(refusalOf(answers, sender('a'))).to.be.instanceOf(DomainError)
    answers.begin(sender('b'))
    answers.begin(sender('c'))
    expect(answers.held).to.equal(8 * UNDER_WAY)
    expect(refusalOf(answers, sender('d'))).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(answers.refused).to.deep.equal({ connection: 1, address: 1, process: 1 })
  })

  it('leaves each address a share, whatever others hold', () => {
    const log = memoryLog()
    const answers = new UnsentAnswers({ bounds: { ...BOUNDS, always: 2 * UNDER_WAY }, log: log.log })
    answers.begin(sender('a')).hold(9 * UNDER_WAY)
    answers.begin(sender('b'))
    answers.begin(sender('b'))
    expect(refusalOf(answers, sender('b'))).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(answers.refused).to.deep.equal({ connection: 0, address: 0, process: 1 })
  })

  it('counts an answer until its end, once, and forgets who has none', () => {
    const answers = make()
    const answer = answers.begin(sender('a', connection))
    answer.hold(10 * MIB)
    expect([answers.held, answers.heldFor('a')]).to.deep.equal([10 * MIB, 10 * MIB])
    answer.hold(0)
    expect(answers.held).to.equal(UNDER_WAY)
    answer.end()
    answer.hold(MIB)
    answer.end()
    expect([answers.held, answers.heldFor('a')]).to.deep.equal([0, 0])
    answers.begin(sender('a', connection)).hold(3 * UNDER_WAY)
    answers.begin(sender('a', connection))
  })

  it('refuses an answer that comes while its address keeps another, and lets one be larger than its bound', () => {
    const answers = make()
    const taken = (answer: ReturnType<UnsentAnswers['begin']>, bytes: number): unknown => {
      try {
        answer.take(bytes)
      } catch (error) {
        return error
      }
      return undefined
    }
    const [first, second] = [answers.begin(sender('a')), answers.begin(sender('a'))]
    expect(taken(answers.begin(sender('b')), UNDER_WAY)).to.equal(undefined)
    second.end()
    expect(taken(first, 7 * UNDER_WAY)).to.equal(undefined)
    first.hold(5 * UNDER_WAY)
    expect(refusalOf(answers, sender('b'))).to.equal(undefined)
    const third = answers.begin(sender('a'))
    expect(taken(third, 2 * UNDER_WAY)).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    third.end()
    first.hold(UNDER_WAY)
    expect(taken(answers.begin(sender('c')), 9 * UNDER_WAY)).to.equal(undefined)
    expect(answers.refused).to.deep.equal({ connection: 0, address: 1, process: 0 })
  })

  it('refuses an answer that comes while other addresses keep all that the process may keep', () => {
    const answers = make()
    const [own, other] = [answers.begin(sender('a')), answers.begin(sender('b'))]
    other.hold(9 * UNDER_WAY)
    expect(() => own.take(UNDER_WAY)).to.throw(DomainError)
    other.hold(0)
    own.take(9 * UNDER_WAY)
    expect(answers.refused).to.deep.equal({ connection: 0, address: 0, process: 1 })
  })

  it('counts what has come of a body, and refuses the rest beyond the bound of an address or the process', () => {
    const answers = make()
    const received = (address: string, bytes: number): unknown => {
      try {
        answers.begin(sender(address, {})).receive(bytes)
      } catch (error) {
        return error
      }
      return undefined
    }
    expect(received('a', 5 * UNDER_WAY)).to.equal(undefined)
    expect(answers.heldFor('a')).to.equal(5 * UNDER_WAY)
    expect(received('a', 2 * UNDER_WAY)).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(received('b', 2 * UNDER_WAY)).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(answers.refused).to.deep.equal({ connection: 0, address: 1, process: 1 })
  })

  it('says once a second that requests are refused, and how many', () => {
    const answers = make()
    answers.begin(sender('a')).hold(MIB)
    now = 5000
    for (let count = 0; count < 3; count++) refusalOf(answers, sender('a'))
    now = 5999
    refusalOf(answers, sender('a'))
    expect(lines.map(({ refused, bound }) => [refused, bound])).to.deep.equal([[1, 'address']])
    now = 6000
    refusalOf(answers, sender('b'))
    expect(lines.map(({ refused, bound }) => [refused, bound])).to.deep.equal([
      [1, 'address'],
      [4, 'process']
    ])
  })

  it('takes a quarter of the memory, 256 MiB at most', () => {
    expect(unsentBounds(256 * MIB)).to.deep.equal({
      process: 64 * MIB,
      address: 16 * MIB,
      connection: 4 * MIB,
      always: MIB
    })
    expect(unsentBounds(64 * 1024 * MIB)).to.deep.equal({
      process: 256 * MIB,
      address: 64 * MIB,
      connection: 16 * MIB,
      always: 4 * MIB
    })
  })
})

describe('bodies that are not sent to their end', () => {
  let gateway: GatewayFixture
  let port: number
  before(async () => {
    const address = 24 * 1024
    const bounds = { connection: address, address, process: 2 * address, always: 0 }
    // Nothing listens there: what is counted comes before the renderer.
    const settings = { TRUSTED_PROXIES: '127.0.0.1', RENDERER_URL: 'http://127.0.0.1:1' }
    gateway = await startGateway(settings, undefined, { load: { unsentBounds: bounds } })
    port = Number(new URL(await listen(gateway)).port)
  })
  after(async () => {
    gateway.app.server.closeAllConnections()
    await gateway.close()
  })

  /** A login of this address with a password of so many characters, and the status of its answer. */
  const login = (address: string, length: number): Promise<string> =>
    post('/auth/login', JSON.stringify({ email: 'ada@example.com', password: 'x'.repeat(length) }), [
      `X-Forwarded-For: ${address}`,
      'Content-Type: application/json'
    ])

  /** Sends a body in pieces. Returns the status of its answer. */
  async function post(path: string, body: string, headers: readonly string[]): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port }).on('error', () => {})
    const head = ['Host: x', 'Transfer-Encoding: chunked', ...headers].join('\r\n')
    socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
    const pieces = body.match(/.{1,8000}/g) ?? []
    socket.write(`${pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('')}0\r\n\r\n`)
    const [answer] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    return answer.toString('latin1').slice(9, 12)
  }

  it('count as they come, and are refused beyond the bound of their address', async () => {
    const asked = gateway.auth.calls.length
    expect(await login('192.0.2.1', 30_000)).to.equal('503')
    expect(gateway.auth.calls.length).to.equal(asked)
    expect(await login('192.0.2.1', 2000)).to.not.equal('503')
    expect(gateway.auth.calls.length).to.equal(asked + 1)
  })

  it('count as they come in forms for the renderer, which are kept until their token is found', async () => {
    const issued = await gateway.app.inject({ url: '/auth/antiforgery' })
    const [cookie = ''] = String(issued.headers['set-cookie']).split(';')
    const form = ['X-Forwarded-For: 192.0.2.2', `Cookie: ${cookie}`, 'Content-Type: application/x-www-form-urlencoded']
    expect(await post('/form', `a=${'x'.repeat(30_000)}`, form)).to.equal('503')
    expect(await post('/form', `a=${'x'.repeat(2000)}`, form)).to.equal('403')
    expect(await post('/form', `a=${'x'.repeat(30_000)}`, [...form, 'Accept: text/html'])).to.equal('503')
    expect(gateway.lines.filter(({ msg }) => msg === 'renderer failure')).to.deep.equal([])
  })
})

describe('answers that their clients do not read', () => {
  /** Bytes of an answer, with its quotation marks. */
  const ANSWER = 6 * MIB
  let authority: Authority
  let gateway: GatewayFixture
  let metrics: GatewayMetrics
  let url: string
  const sessions: ClientHttp2Session[] = []
  before(async () => (authority = await Authority.create()))
  after(() => authority[Symbol.asyncDispose]())
  afterEach(async () => {
    for (const session of sessions.splice(0)) session.destroy()
    gateway.app.server.closeAllConnections()
    await gateway.close()
  })

  async function start(tls: boolean): Promise<void> {
    metrics = new GatewayMetrics(() => [])
    const { certFile, keyFile } = await authority.issueTo('http')
    const files = tls ? { HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile } : {}
    const load = { unsentBounds: { connection: ANSWER, address: 2 * ANSWER, process: 4 * ANSWER, always: 0 } }
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1', ...files }, undefined, { metrics, load })
    gateway.data.answerGet = () => ({ record: record(`"${'x'.repeat(ANSWER - 2)}"`) })
    url = await listen(gateway)
  }

  const sampleOf = (name: string): readonly unknown[] =>
    metrics.families
      .find(({ about }) => about.name === name)
      ?.samples()
      .map(({ value }) => value) ?? []
  const held = (): unknown => sampleOf('uniform_rest_unsent_answer_bytes')[0]
  const refused = (): readonly unknown[] => sampleOf('uniform_rest_unsent_answers_refused_total')
  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await pause(5)
  }

  /** A connection of HTTP/2 from this address, whose client takes nothing of an answer. */
  async function unread(address: string): Promise<ClientHttp2Session> {
    const session = connectHttp2(url, { ca: authority.cert, settings: { initialWindowSize: 0 } })
    sessions.push(session.on('error', () => {}))
    await once(session, 'remoteSettings')
    const { stream } = await openStream(session, { path: '/products/1', headers: { 'x-forwarded-for': address } })
    stream.on('error', () => {}).pause()
    return session
  }

  it('stop the requests of their connection, then of their address, then all, before a data service is called', async () => {
    await start(true)
    const first = await unread('192.0.2.1')
    expect(held()).to.equal(ANSWER)
    const from = async (session: ClientHttp2Session, address: string): Promise<unknown[]> => {
      const { status, stream, headers } = await openStream(session, {
        path: '/products/2',
        headers: { 'x-forwarded-for': address }
      })
      stream.on('error', () => {}).close()
      return [status, headers['retry-after'], headers['api-supported-versions']]
    }
    const calls = (): number => gateway.data.calls.length
    const REFUSED = [503, '1', '1.0']
    expect([await from(first, '192.0.2.9'), calls(), refused()]).to.deep.equal([REFUSED, 1, [1, 0, 0]])
    await unread('192.0.2.1')
    const other = await openHttp2(url, authority.cert)
    sessions.push(other)
    expect([await from(other, '192.0.2.1'), calls(), refused()]).to.deep.equal([REFUSED, 2, [1, 1, 0]])
    await unread('192.0.2.2')
    await unread('192.0.2.3')
    expect(held()).to.equal(4 * ANSWER)
    expect([await from(other, '192.0.2.4'), calls(), refused()]).to.deep.equal([REFUSED, 4, [1, 1, 1]])
    // Health is answered whatever there is to do.
    expect((await overHttp2(other, { path: '/health' })).status).to.equal(200)
    const problem = await overHttp2(other, { path: '/products/2' })
    // Its client reads the bytes of a problem, not those of an answer.
    expect(JSON.parse(problem.body)).to.include({ status: 503, code: 'upstream.unavailable' })
    first.destroy()
    await until(() => held() === 3 * ANSWER)
    expect((await overHttp2(other, { path: '/products/2' })).status).to.equal(200)
    await until(() => held() === 3 * ANSWER)
    expect(gateway.lines.filter(({ bound }) => bound !== undefined).length).to.be.within(1, 4)
  })

  it('over HTTP/1.1 stop the requests of their address', async () => {
    await start(false)
    const GET = 'GET /products/1 HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n'
    const sockets: Socket[] = []
    const ask = async (): Promise<Socket> => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
      sockets.push(socket.on('error', () => {}))
      socket.write(GET + GET)
      await once(socket, 'readable')
      return socket
    }
    // More than the buffers of the operating system take.
    const large = record(`"${'x'.repeat(4 * ANSWER)}"`)
    gateway.data.answerGet = () => ({ record: large })
    await ask()
    expect([held(), gateway.data.calls.length]).to.deep.equal([4 * ANSWER + 2, 1])
    const second = await ask()
    expect(String(second.read())).to.match(/^HTTP\/1\.1 503 /)
    expect([gateway.data.calls.length, refused().slice(0, 1)]).to.deep.equal([1, [0]])
    for (const socket of sockets) socket.destroy()
    await until(() => held() === 0)
  })

  it('count of an export what waits for its client, and nothing once it is read', async () => {
    await start(true)
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    gateway.data.answerExport = async function* () {
      yield exportHeader()
      yield exportRows([[1, 'x'.repeat(ANSWER)]])
      await released
      yield { end: { count: 1, truncated: false, unshownValues: [] } }
    }
    const session = connectHttp2(url, { ca: authority.cert, settings: { initialWindowSize: 0 } })
    sessions.push(session)
    await once(session, 'remoteSettings')
    const { stream } = await openStream(session, { path: '/products/export' })
    await until(() => Number(held()) > ANSWER)
    session.settings({ initialWindowSize: 2 ** 24 })
    release()
    let got = 0
    for await (const piece of stream) got += (piece as Buffer).length
    expect(got).to.be.above(ANSWER)
    await until(() => held() === 0)
  })
})
