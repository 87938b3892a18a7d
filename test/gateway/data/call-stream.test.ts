import { setTimeout as delay } from 'node:timers/promises'
import {
  Client,
  credentials,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  status
} from '@grpc/grpc-js'
import { expect } from 'chai'
import { HealthImplementation } from 'grpc-health-check'
import { AttemptFailure, CallStream } from '../../../gateway/data/call-stream.js'
import type { HttpContext } from '../../../gateway/data/calls.js'
import { type DataClient, grpcDataClient } from '../../../gateway/data/data-client.js'
import { ReplicaPool } from '../../../gateway/data/replica-pool.js'
import { CALL_STREAM } from '../../../shared/transport/call-stream.js'
import { CancellationSource } from '../../../shared/transport/cancellation.js'
import { DomainError } from '../../../shared/errors.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { toStatusBytes } from '../../../shared/transport/rpc-status.js'
import { loadProto } from '../../../shared/transport/wire.js'
import {
  decodeRequest,
  encodeResponse,
  type WireCall,
  type WireRequestFrame,
  type WireResponseFrame
} from '../../harness/call-stream-messages.js'
import { memoryLog, type MemoryLog } from '../../harness/memory-log.js'
import { randomNumbers } from '../../runner/random.js'
import { MessageWriter, FailureFrame, type CallId } from '../../../shared/transport/call-frames.js'

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service: rpcs } = entity.v1.EntityService

const ANSWER = rpcs.Get.responseSerialize({ record: { json: Buffer.from('{"id":1}') } })

const CHECK = '/grpc.health.v1.Health/Check'

/** A data service that takes calls in frames, and answers as the test says. */
class FrameService {
  readonly server = new Server()
  readonly health = new HealthImplementation({ 'entity.v1.EntityService': 'SERVING' })
  readonly streams: ServerDuplexStream<Buffer, Buffer>[] = []
  readonly frames: WireRequestFrame[] = []
  unary = 0
  address = ''
  /** Checks of the way that calls go, which are no calls of a test. */
  checks = 0
  answersChecks = true
  /** As a data service of an earlier version does, whose stream has no checks. */
  knowsNoChecks = false
  /** What happens with a call. The default is an answer. */
  onCall: (call: WireCall, stream: ServerDuplexStream<Buffer, Buffer>) => void = (call, stream) =>
    this.send(stream, { answer: { call: call.id ?? 0, response: ANSWER } })

  get calls(): readonly WireCall[] {
    return this.frames.flatMap(({ call }) => call ?? [])
  }

  async start({ hasStreams = true } = {}): Promise<this> {
    const unary = (_call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>): void => {
      this.unary += 1
      done(null, { record: { json: Buffer.from('{"id":1}') } })
    }
    this.server.addService(rpcs, { Get: unary, Create: unary, Update: unary, Delete: unary, List: unary })
    if (hasStreams) this.#addStreams()
    this.health.addToServer(this.server)
    const port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error)
      )
    })
    this.address = `127.0.0.1:${port}`
    return this
  }

  #addStreams(): void {
    this.server.addService(
      { Open: CALL_STREAM },
      {
        Open: (stream: ServerDuplexStream<Buffer, Buffer>) => {
          this.streams.push(stream)
          stream.on('error', () => undefined)
          stream.on('data', (message: Buffer) => {
            for (const frame of decodeRequest(message)) {
              if (frame.call?.method === CHECK) {
                this.#check(frame.call, stream)
                continue
              }
              this.frames.push(frame)
              if (frame.call !== undefined) this.onCall(frame.call, stream)
            }
          })
          stream.sendMetadata(stream.metadata.clone())
        }
      }
    )
  }

  #check({ id = 0 }: WireCall, stream: ServerDuplexStream<Buffer, Buffer>): void {
    this.checks += 1
    if (this.knowsNoChecks) {
      const failure = { call: id, status: { code: status.UNIMPLEMENTED, message: 'There is no such unary method.' } }
      this.send(stream, { failure })
    } else if (this.answersChecks) this.send(stream, { answer: { call: id, response: Buffer.alloc(0) } })
  }

  send(stream: ServerDuplexStream<Buffer, Buffer>, ...frames: readonly WireResponseFrame[]): void {
    // A message after the end of a stream would destroy it before its status is sent.
    if (!stream.writableEnded) stream.write(encodeResponse(...frames))
  }

  fail(stream: ServerDuplexStream<Buffer, Buffer>, call: number, error: DomainError): void {
    // The id is one that the caller gave.
    const frame = new FailureFrame(call as CallId, toStatusBytes(error))
    const writer = new MessageWriter(frame.size)
    frame.write(writer)
    stream.write(writer.bytes)
  }
}

const call = (more: Partial<HttpContext> = {}): HttpContext => ({
  authorization: undefined,
  requestId: 'r1',
  traceparent: undefined,
  signal: new AbortController().signal,
  ...more
})

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'no failure',
    (error: unknown) => (error instanceof DomainError ? error.code : error)
  )

describe('calls of the gateway in frames', () => {
  const services: FrameService[] = []
  let pool: ReplicaPool
  let data: DataClient
  let logged: MemoryLog
  const start = async (count = 1): Promise<[FrameService, FrameService]> => {
    for (let n = 0; n < count; n++) services.push(await new FrameService().start())
    logged = memoryLog()
    pool = new ReplicaPool({ addresses: services.map(({ address }) => address), log: logged.log })
    data = grpcDataClient(pool)
    // Calls go by their unary methods until a stream is open.
    while (services.some(({ calls }) => calls.length === 0)) await get()
    for (const service of services) {
      service.frames.length = 0
      service.unary = 0
    }
    const [one, other = one] = services
    if (one === undefined || other === undefined) throw new Error('no service')
    return [one, other]
  }
  const get = (context = call()): Promise<unknown> => data.get(context, { resource: 'x', id: '1' })
  afterEach(() => {
    pool.close()
    for (const { server } of services.splice(0)) server.forceShutdown()
  })

  it('carry token, request id, trace, address and deadline, and the bytes of the answer', async () => {
    const [service] = await start()
    const context = call({ authorization: 'Bearer a', traceparent: 't', clientAddress: '192.0.2.1' })
    const { record } = await data.get(context, { resource: 'x', id: '1' })
    expect(record?.json.toString()).to.equal('{"id":1}')
    expect(service.frames[0]).to.deep.equal({ credential: { slot: 1, authorization: 'Bearer a' } })
    const [sent] = service.calls
    expect(sent).to.include({
      method: '/entity.v1.EntityService/Get',
      credential: 1,
      requestId: 'r1',
      traceparent: 't',
      clientAddress: '192.0.2.1'
    })
    // Ten seconds, less what has passed since the call was made.
    expect(sent?.timeoutMs).to.be.within(5000, 10_000)
    expect(rpcs.Get.requestDeserialize(sent?.request ?? Buffer.alloc(0))).to.include({ resource: 'x', id: '1' })
  })

  it('send a token once, and again where it had to make room', async () => {
    const [service] = await start()
    const tokens = Array.from({ length: 1025 }, (_, at) => `Bearer ${at}`)
    for (const authorization of [...tokens, tokens[1024], tokens[5], tokens[0]]) {
      await get(call({ authorization }))
    }
    const credentials = service.frames.flatMap(({ credential }) => credential ?? [])
    expect(credentials).to.have.length(1026)
    expect(credentials.at(-1)?.authorization).to.equal('Bearer 0')
    // Whatever stands in a slot is the token of the calls that name it.
    const slots = new Map<number, string>()
    const seen: string[] = []
    for (const { credential, call: made } of service.frames) {
      if (credential !== undefined) slots.set(credential.slot ?? 0, credential.authorization ?? '')
      if (made !== undefined) seen.push(slots.get(made.credential ?? 0) ?? 'none')
    }
    expect(seen).to.deep.equal([...tokens, tokens[1024], tokens[5], tokens[0]])
  })

  it('reject a token that cannot be carried, without a call', async () => {
    const [service] = await start()
    for (const authorization of ['Bearer é', 'Bearer a\tb', `Bearer ${'a'.repeat(9000)}`]) {
      expect(await codeOf(get(call({ authorization }))), authorization).to.equal('auth.invalid-token')
    }
    expect([service.frames.length, service.unary]).to.deep.equal([0, 0])
  })

  it('join the parts of a large answer, whatever comes between', async () => {
    const [service] = await start()
    const large = rpcs.Get.responseSerialize({ record: { json: Buffer.alloc(100_000, 'a') } })
    service.onCall = ({ id = 0 }, stream) => {
      if (service.calls.length < 2) return
      const part = (at: number): Buffer => large.subarray(at, at + 40_000)
      service.send(stream, { answer: { call: id - 1, response: part(0), more: true } })
      service.send(stream, { answer: { call: id, response: ANSWER } })
      service.send(stream, { answer: { call: id - 1, response: part(40_000), more: true } })
      service.send(stream, { answer: { call: id - 1, response: part(80_000) } })
    }
    const [one, other] = await Promise.all([data.get(call(), {}), data.get(call(), {})])
    expect(one.record?.json.equals(Buffer.alloc(100_000, 'a'))).to.equal(true)
    expect(other.record?.json.toString()).to.equal('{"id":1}')
  })

  it('give back what the data service rejects, and send no call again because of it', async () => {
    const [service] = await start()
    service.onCall = ({ id = 0 }, stream) =>
      service.fail(stream, id, new DomainError('upstream.unavailable', 'The database is away.', { retryAfter: 7 }))
    const error: unknown = await get().catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(DomainError).and.include({ message: 'The database is away.', retryAfter: 7 })
    expect(service.calls).to.have.length(1)
    service.onCall = ({ id = 0 }, stream) =>
      service.send(stream, { failure: { call: id, status: { code: status.UNIMPLEMENTED, message: 'none' } } })
    expect(await codeOf(get())).to.equal('upstream.bad-gateway')
    service.onCall = ({ id = 0 }, stream) =>
      service.send(stream, { answer: { call: id, response: Buffer.from([0x0a, 0xff]) } })
    expect(await codeOf(get())).to.equal('upstream.bad-gateway')
  })

  it('are cancelled when nobody waits, and their late answers are of no use', async () => {
    const [service] = await start()
    const abandoned = new AbortController()
    let late = (): void => undefined
    service.onCall = ({ id = 0 }, stream) => {
      late = () => service.send(stream, { answer: { call: id, response: ANSWER } })
      abandoned.abort()
    }
    expect(await codeOf(get(call({ signal: abandoned.signal })))).to.equal('upstream.bad-gateway')
    while (!service.frames.some(({ cancellation }) => cancellation !== undefined)) await delay(5)
    expect(service.frames.at(-1)?.cancellation?.call).to.equal(service.calls[0]?.id)
    late()
    expect(await codeOf(get(call({ signal: abandoned.signal }))), 'aborted before').to.not.equal('no failure')
    expect(service.calls).to.have.length(1)
  })

  describe('to a data service that reads nothing for a while', () => {
    /** Bytes of a write in a frame. 16 messages of two of them fill what a paused stream keeps. */
    const body = Buffer.alloc(60_000, 'a')
    const begun = (service: FrameService): WireCall[] =>
      service.calls.filter(({ method }) => method === '/entity.v1.EntityService/Create')

    it('are never seen by it where they are given up before they are sent', async () => {
      const [service] = await start()
      const [stream] = service.streams.slice(-1)
      stream?.pause()
      const abandoned = new CancellationSource()
      const given = Array.from({ length: 120 }, () => codeOf(data.create(call({ signal: abandoned }), { body })))
      // No message is made before the end of the tick in which the calls are.
      while (pool.states()[0]?.waiting === 0 || pool.states()[0]?.waiting === 120) await delay(1)
      abandoned.abort(new Error('gone'))
      expect(new Set(await Promise.all(given))).to.deep.equal(new Set(['upstream.bad-gateway']))
      expect(pool.states()[0]).to.include({ waiting: 0, inFlight: 0 })
      service.onCall = ({ id = 0, method }, on) => {
        if (method?.endsWith('/Get') === true) service.send(on, { answer: { call: id, response: ANSWER } })
      }
      stream?.resume()
      await get()
      const seen = begun(service).map(({ id }) => id)
      expect(seen.length).to.be.below(100)
      // Those that were sent are cancelled, and no others.
      const cancelled = service.frames.flatMap(({ cancellation }) => cancellation ?? [])
      expect(cancelled.map(({ call: id }) => id)).to.deep.equal(seen)
    })

    it('are given the time that is left when they are sent', async () => {
      const [service] = await start()
      const [stream] = service.streams.slice(-1)
      stream?.pause()
      const before = Date.now()
      const answers = [...Array.from({ length: 100 }, () => data.create(call(), { body })), get()]
      while (Date.now() - before < 500) await delay(20)
      stream?.resume()
      await Promise.all(answers)
      expect(service.calls.at(-1)?.method).to.equal('/entity.v1.EntityService/Get')
      expect(service.calls.at(-1)?.timeoutMs).to.be.within(1, 9500)
    })

    it('are refused early where too much waits, and those of another address are not', async () => {
      const [service] = await start()
      const [stream] = service.streams.slice(-1)
      stream?.pause()
      const from = (clientAddress: string): Promise<unknown> =>
        data.create(call({ clientAddress }), { body }).then(
          () => 'answered',
          (error: unknown) => error
        )
      const ofOne = Array.from({ length: 120 }, () => from('192.0.2.1'))
      const ofAnother = from('192.0.2.2')
      expect(await Promise.race(ofOne))
        .to.be.instanceOf(DomainError)
        .and.include({
          code: 'upstream.unavailable',
          message: 'Too many calls wait for the data service. Try again.',
          retryAfter: 1
        })
      stream?.resume()
      expect(await ofAnother).to.equal('answered')
      const answered = (await Promise.all(ofOne)).filter((outcome) => outcome === 'answered')
      expect(answered).to.have.length.within(20, 60)
      expect(begun(service)).to.have.length(answered.length + 1)
    })
  })

  describe('and checks of the way that they go', () => {
    /** A client over the same pool that looks often. */
    const checked = (timeout: number): DataClient => grpcDataClient(pool, { every: 10, timeout, log: logged.log })
    const aboutAnswers = (): unknown[] => logged.lines.flatMap(({ msg }) => (/answer/.test(String(msg)) ? [msg] : []))

    it('say that no data service can be reached while checks have no answer, whatever its health says', async () => {
      const [service] = await start()
      const client = checked(50)
      expect(client.isReachable()).to.equal(true)
      service.answersChecks = false
      while (client.isReachable()) await delay(5)
      expect(pool.allServing()).to.have.length(1)
      service.answersChecks = true
      while (!client.isReachable()) await delay(5)
      expect(aboutAnswers().slice(0, 2)).to.deep.equal([
        'a data service does not answer its calls',
        'a data service answers its calls again'
      ])
    })

    it('say so while nothing of the stream is read', async () => {
      const [service] = await start()
      const client = checked(50)
      const [stream] = service.streams.slice(-1)
      stream?.pause()
      while (client.isReachable()) await delay(5)
      stream?.resume()
      while (!client.isReachable()) await delay(5)
    })

    it('do not where a data service knows no checks, and says so', async () => {
      const [service] = await start()
      service.knowsNoChecks = true
      const client = checked(60_000)
      while (service.checks < 5) await delay(5)
      expect(client.isReachable()).to.equal(true)
      expect(aboutAnswers()).to.deep.equal([])
    })

    it('do not while calls take long, and are no calls that count', async () => {
      const [service] = await start()
      const client = checked(60_000)
      const held: number[] = []
      service.onCall = ({ id = 0 }) => void held.push(id)
      const running = Array.from({ length: 20 }, () => get())
      while (held.length < 20) await delay(5)
      const before = service.checks
      while (service.checks < before + 5) await delay(5)
      expect(client.isReachable()).to.equal(true)
      expect(pool.states()[0]).to.include({ inFlight: 20 })
      const [stream] = service.streams.slice(-1)
      if (stream === undefined) throw new Error('no stream')
      for (const id of held) service.send(stream, { answer: { call: id, response: ANSWER } })
      await Promise.all(running)
    })
  })

  it('that have no time left are not sent', async () => {
    const [service] = await start()
    const client = new Client(service.address, credentials.createInsecure())
    const stream = await new Promise<CallStream>((resolve) => {
      const opening: CallStream = new CallStream(client, {
        onOpen: () => resolve(opening),
        onEnd: () => undefined
      })
    })
    const sent = (deadline: number): Promise<unknown> =>
      stream.call({ path: rpcs.Get.path, request: Buffer.alloc(0), context: call(), deadline, isRepeatable: true })
    const error: unknown = await sent(Date.now()).catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(AttemptFailure).and.include({ maybeSent: false })
    expect(await sent(Date.now() + 100_000)).to.deep.equal(ANSWER)
    expect(service.frames).to.have.length(1)
    stream.close()
    client.close()
  })

  it('read once more where a stream is lost, and write never twice', async () => {
    const [one, other] = await start(2)
    const attempts = (): number => one.calls.length + other.calls.length + one.unary + other.unary
    for (const service of services) {
      service.onCall = (_call, stream) => stream.emit('error', { code: status.UNAVAILABLE, details: 'gone' })
    }
    expect(await codeOf(data.create(call(), {}))).to.equal('upstream.unavailable')
    expect(attempts()).to.equal(1)
    // One stream is left. The read that it loses goes to the other data service by the unary method.
    expect(await codeOf(get())).to.equal('no failure')
    expect(attempts()).to.be.within(2, 3)
  })

  it('lose no read and double no write when streams are cut at random moments', async () => {
    await start(2)
    const begun = new Map<string, number>()
    const random = randomNumbers(7)
    for (const service of services) {
      service.onCall = ({ id = 0, requestId = '' }, stream) => {
        begun.set(requestId, (begun.get(requestId) ?? 0) + 1)
        if (random() < 0.02) stream.emit('error', { code: status.UNAVAILABLE, details: 'cut' })
        else setTimeout(() => service.send(stream, { answer: { call: id, response: ANSWER } }), random() * 5)
      }
    }
    const outcomes = new Map<unknown, number>()
    const worker = async (name: number): Promise<void> => {
      for (let n = 0; n < 60; n++) {
        const requestId = `${name}-${n}`
        if (n % 3 !== 0) {
          const code = await codeOf(get(call({ requestId: `read-${requestId}` })))
          // Both attempts of a read may meet a cut.
          expect(code, 'a read').to.be.oneOf(['no failure', 'upstream.unavailable'])
          outcomes.set(`read: ${String(code)}`, (outcomes.get(`read: ${String(code)}`) ?? 0) + 1)
        } else {
          const code = await codeOf(data.create(call({ requestId: `write-${requestId}` }), {}))
          expect(code, 'a write').to.be.oneOf(['no failure', 'upstream.unavailable'])
        }
      }
    }
    await Promise.all(Array.from({ length: 20 }, (_, name) => worker(name)))
    for (const [requestId, times] of begun) {
      expect(times, requestId).to.be.at.most(requestId.startsWith('write') ? 1 : 2)
    }
    expect(
      services.reduce((sum, { streams }) => sum + streams.length, 0),
      'streams'
    ).to.be.above(4)
    expect(outcomes.get('read: no failure')).to.be.above(700)
  })

  it('go to another data service where the first has not begun them, writes too', async () => {
    const [one, other] = await start(2)
    one.onCall = ({ id = 0 }, stream) => one.send(stream, { unprocessed: { call: id } })
    for (let n = 0; n < 10; n++) await data.create(call(), {})
    expect(other.calls).to.have.length(10)
    expect(one.calls.length).to.be.within(1, 10)
  })

  it('end where their stream ends, and go on over a new one', async () => {
    const [service] = await start()
    service.onCall = () => undefined
    const lost = Array.from({ length: 20 }, () => codeOf(data.update(call(), {})))
    while (service.calls.length < 20) await delay(5)
    service.streams.at(-1)?.emit('error', { code: status.INTERNAL, details: 'broken' })
    expect(new Set(await Promise.all(lost))).to.deep.equal(new Set(['upstream.unavailable']))
    service.onCall = ({ id = 0 }, stream) => service.send(stream, { answer: { call: id, response: ANSWER } })
    // In between the unary methods serve.
    while (service.calls.length < 30) await get()
    expect(service.streams.length).to.be.at.least(2)
  })

  it('end where the data service sends what is no message', async () => {
    const [service] = await start()
    service.onCall = (_call, stream) => void stream.write(Buffer.from([0x0a, 0x05, 0x12]))
    expect(await codeOf(data.delete(call(), {}))).to.equal('upstream.unavailable')
    service.onCall = ({ id = 0 }, stream) => service.send(stream, { answer: { call: id, response: ANSWER } })
    await get()
  })

  it('wait for room beyond the limit of a stream, and end there too', async () => {
    const [service] = await start()
    const open: number[] = []
    service.onCall = ({ id = 0 }) => void open.push(id)
    const abandoned = new AbortController()
    const running = Array.from({ length: 1000 }, () => get())
    const waiting = Array.from({ length: 50 }, () => get())
    const left = codeOf(get(call({ signal: abandoned.signal })))
    while (open.length < 1000) await delay(5)
    abandoned.abort()
    expect(await left).to.equal('upstream.bad-gateway')
    await delay(50)
    expect(open).to.have.length(1000)
    const [stream] = service.streams.slice(-1)
    if (stream === undefined) throw new Error('no stream')
    for (const id of open.splice(0, 10)) service.send(stream, { answer: { call: id, response: ANSWER } })
    while (open.length < 1000) await delay(5)
    service.onCall = ({ id = 0 }) => service.send(stream, { answer: { call: id, response: ANSWER } })
    for (const id of open.splice(0)) service.send(stream, { answer: { call: id, response: ANSWER } })
    await Promise.all([...running, ...waiting])
    expect(service.calls).to.have.length(1050)
  })

  it('are counted in the log where a stream is lost, and once more when it is open again', async () => {
    const [service] = await start()
    const { address } = service
    const open: number[] = []
    service.onCall = ({ id = 0 }) => void open.push(id)
    const calls = [get(), get(), ...Array.from({ length: 3 }, () => codeOf(data.create(call(), {})))]
    while (open.length < 5) await delay(5)
    service.onCall = ({ id = 0 }, stream) => service.send(stream, { answer: { call: id, response: ANSWER } })
    service.streams.at(-1)?.emit('error', { code: status.INTERNAL, details: 'broken' })
    await Promise.all(calls)
    const about = (): Record<string, unknown>[] => logged.lines.filter(({ msg }) => /stream/.test(String(msg)))
    while (about().length < 2) await delay(5)
    const [lost, again] = about()
    expect(lost).to.include({ level: 'warn', address, readsSentAgain: 2, callsFailed: 3 })
    expect(lost).to.include({ msg: 'the stream of calls to a data service was lost' })
    expect(again).to.include({ level: 'info', address, msg: 'the stream of calls to a data service is open again' })
  })

  it('cause no such line where the data service ends the stream without an error, or the gateway does', async () => {
    const [service] = await start()
    service.streams.at(-1)?.end()
    while (service.streams.length < 2) await delay(5)
    const before = service.calls.length
    while (service.calls.length === before) await get()
    pool.close()
    await delay(50)
    expect(logged.lines.filter(({ msg }) => /stream/.test(String(msg)))).to.deep.equal([])
  })

  it('go by unary methods where the data service has no streams, which is logged once', async () => {
    const service = await new FrameService().start({ hasStreams: false })
    services.push(service)
    logged = memoryLog()
    pool = new ReplicaPool({ addresses: [service.address], log: logged.log })
    data = grpcDataClient(pool)
    for (let n = 0; n < 20; n++) await get().then(() => delay(20))
    expect(service.unary).to.equal(20)
    const lines = logged.lines.filter(({ msg }) => /stream/.test(String(msg)))
    expect(lines.map(({ level, address, msg }) => ({ level, address, msg }))).to.deep.equal([
      {
        level: 'info',
        address: service.address,
        msg: 'a data service has no stream of calls: they go by unary methods'
      }
    ])
  })

  it('go by unary methods where the gateway is told so, and no stream is opened', async () => {
    const service = await new FrameService().start()
    services.push(service)
    pool = new ReplicaPool({ addresses: [service.address], unaryOnly: true })
    data = grpcDataClient(pool)
    for (let n = 0; n < 10; n++) await get().then(() => delay(20))
    await data.create(call(), {})
    expect([service.unary, service.streams.length]).to.deep.equal([11, 0])
  })

  it('of large requests go by their unary methods', async () => {
    const [service] = await start()
    await data.create(call(), { body: Buffer.alloc(70_000, 'a') })
    expect([service.unary, service.calls.length]).to.deep.equal([1, 0])
    await data.create(call(), { body: Buffer.alloc(60_000, 'a') })
    expect([service.unary, service.calls.length]).to.deep.equal([1, 1])
  })

  it('share several data services by what is under way on each', async () => {
    const [one, other] = await start(2)
    one.onCall = () => undefined
    let answered = 0
    const held = Array.from({ length: 6 }, async () => {
      const code = await codeOf(data.list(call(), { resource: 'x' }))
      answered += 1
      return code
    })
    // Until the other has answered its half, both have as much under way.
    while (one.calls.length + answered < 6) await delay(5)
    const stuck = one.calls.length
    for (let n = 0; n < 10; n++) await get()
    expect(one.calls).to.have.length(stuck)
    expect(other.calls.length).to.be.at.least(10)
    pool.close()
    await Promise.all(held)
  })
})
