import { setTimeout as delay } from 'node:timers/promises'
import { type ClientDuplexStream, Metadata, status, type StatusObject } from '@grpc/grpc-js'
import { expect } from 'chai'
import fc from 'fast-check'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, readableBy, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { exportSemaphore } from '../../../data-service/operations/export.js'
import { CALL_STREAM } from '../../../shared/transport/call-stream.js'
import type { DomainError } from '../../../shared/errors.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { fromStatusBytes, transportStatusBytes } from '../../../shared/transport/rpc-status.js'
import { GATEWAY_SECRET_METADATA } from '../../../shared/tls.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { readResponseFrames } from '../../../shared/transport/call-frames.js'
import { encodeRequest, type WireCall } from '../../harness/call-stream-messages.js'
import { exampleEntities } from '../plan/example-entities.js'
import { answer, metadata, type RunningService, runService, soon } from './running-service.js'
import { unboundedShares } from './unbounded-shares.js'

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service: rpcs } = entity.v1.EntityService

const hang = (signal: AbortSignal): Promise<void> =>
  delay(60_000, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted())

/** How a call ended: with the bytes of its answer, with an error, with a status without details, or without begin. */
type Outcome = Buffer | DomainError | 'unprocessed' | 'without details'

/** A caller that speaks in frames and knows nothing of the gateway. */
class FrameClient {
  readonly stream: ClientDuplexStream<Buffer, Buffer>
  readonly outcomes = new Map<number, Outcome>()
  /** Ids in the order in which parts of answers came. */
  readonly parts: number[] = []
  readonly opened: Promise<void>
  readonly ended: Promise<StatusObject>
  #onOutcome: () => void = () => undefined

  constructor({ client }: RunningService, values: Record<string, string> = {}) {
    const { path, requestSerialize, responseDeserialize } = CALL_STREAM
    this.stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata(values))
    this.opened = new Promise((resolve) => this.stream.once('metadata', () => resolve()))
    this.ended = new Promise((resolve) => this.stream.once('status', resolve))
    this.stream.on('error', () => undefined)
    const parts = new Map<number, Buffer[]>()
    this.stream.on('data', (message: Buffer) => {
      readResponseFrames(message, {
        answer: (call, part, more) => {
          this.parts.push(call)
          const all = [...(parts.get(call) ?? []), part]
          parts.set(call, all)
          if (!more) this.outcomes.set(call, Buffer.concat(all))
        },
        failure: (call, bytes) => this.outcomes.set(call, fromStatusBytes(bytes) ?? 'without details'),
        unprocessed: (call) => this.outcomes.set(call, 'unprocessed'),
        times: () => undefined
      })
      this.#onOutcome()
    })
  }

  send(...calls: readonly WireCall[]): void {
    this.stream.write(encodeRequest(...calls.map((call) => ({ call }))))
  }

  async outcome(id: number): Promise<Outcome> {
    for (;;) {
      const outcome = this.outcomes.get(id)
      if (outcome !== undefined) return outcome
      await new Promise<void>((resolve) => (this.#onOutcome = resolve))
    }
  }

  /** The JSON of the record that a call of Get has got. */
  async record(id: number): Promise<unknown> {
    const outcome = await this.outcome(id)
    if (!Buffer.isBuffer(outcome)) throw new Error(`no answer: ${String(outcome)}`)
    const { record } = rpcs.Get.responseDeserialize(outcome)
    return JSON.parse(record?.json.toString() ?? 'null')
  }
}

const get = (id: number, request: object = { resource: 'things', id: '1' }, more: WireCall = {}): WireCall => ({
  id,
  method: rpcs.Get.path,
  timeoutMs: 100_000,
  request: rpcs.Get.requestSerialize(request),
  ...more
})
const list = (id: number, resource = 'tickets', more: WireCall = {}): WireCall =>
  get(id, {}, { method: rpcs.List.path, request: rpcs.List.requestSerialize({ resource }), ...more })

describe('calls in frames', function () {
  // A machine that does much else at the same time is no reason to fail.
  let service: RunningService
  let frames: FrameClient
  beforeEach(async () => {
    service = await runService(exampleEntities, exportSemaphore(), unboundedShares)
    service.store.rows = [{ id: 1, title: 'x', rowVersion: Buffer.alloc(8) }]
    frames = new FrameClient(service)
    await frames.opened
  })
  afterEach(async () => {
    frames.stream.cancel()
    await service.stop()
  })

  it('answer what unary calls answer, byte for byte', async () => {
    frames.send(get(1), get(2, { resource: 'things', id: '2' }), list(3, 'things'))
    const { record } = await answer<ReturnType<typeof rpcs.Get.responseDeserialize>>((done) =>
      service.client.get({ resource: 'things', id: '1' }, new Metadata(), soon(), done)
    )
    expect(await frames.record(1)).to.deep.equal(JSON.parse(record?.json.toString() ?? ''))
    expect(await frames.outcome(2)).to.include({ code: 'not-found' })
    const listed = await frames.outcome(3)
    expect(Buffer.isBuffer(listed) && rpcs.List.responseDeserialize(listed).records).to.have.length(1)
  })

  it('have each their own caller, request id and trace', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    frames.stream.write(
      encodeRequest(
        { credential: { slot: 1, authorization: 'owner 1' } },
        { credential: { slot: 2, authorization: 'nonsense' } },
        { call: list(1, 'tickets', { credential: 1 }) },
        { call: list(2, 'tickets', { credential: 2, requestId: 'r2', traceparent }) },
        { call: list(3, 'tickets', { requestId: 'r3' }) },
        { credential: { slot: 2, authorization: 'owner 2' } },
        { call: list(4, 'tickets', { credential: 2 }) }
      )
    )
    expect(Buffer.isBuffer(await frames.outcome(1))).to.equal(true)
    expect(await frames.outcome(2)).to.include({ code: 'auth.invalid-token' })
    expect(await frames.outcome(3)).to.include({ code: 'auth.required' })
    expect(Buffer.isBuffer(await frames.outcome(4))).to.equal(true)
    const logged = service.logs.filter(({ rpc, msg }) => rpc === 'List' && msg !== 'call')
    expect(logged[0]).to.include({ requestId: 'r2', traceparent })
    expect(logged[1]).to.include({ requestId: 'r3' }).and.not.have.property('traceparent')
  })

  it('are of a gateway where the stream is', async () => {
    await using boxes = await runService([
      defineEntity({
        name: 'boxes',
        description: 'Boxes.',
        fields: { id: readOnly(int()), name: text(99), cost: readableBy('boxes:cost', int()) },
        label: 'name',
        filterable: [],
        sortable: [],
        access: { read: everyone }
      })
    ])
    const propertiesFor = async (values: Record<string, string>): Promise<unknown> => {
      const client = new FrameClient(boxes, values)
      client.send(get(1, {}, { method: rpcs.Describe.path, request: rpcs.Describe.requestSerialize({}) }))
      const outcome = await client.outcome(1)
      client.stream.cancel()
      if (!Buffer.isBuffer(outcome)) throw new Error(`no answer: ${String(outcome)}`)
      return rpcs.Describe.responseDeserialize(outcome).resources[0]?.properties.map(({ name }) => name)
    }
    expect(await propertiesFor({})).to.not.include('cost')
    expect(await propertiesFor({ [GATEWAY_SECRET_METADATA]: 'of a gateway' })).to.include('cost')
  })

  it('Only a gateway may open a stream if gateways authenticate themselves.', async () => {
    await using guarded = await runService(exampleEntities, exportSemaphore(), unboundedShares, { knowsGateways: true })
    const { code } = await new FrameClient(guarded).ended
    expect(code, 'as of a data service without streams, after which a gateway calls the methods').to.equal(
      status.UNIMPLEMENTED
    )
    const gateway = new FrameClient(guarded, { [GATEWAY_SECRET_METADATA]: 'of a gateway' })
    await gateway.opened
    gateway.stream.cancel()
  })

  it('Credentials of callers that are no gateways are counted, and end a stream that sends too many.', async () => {
    const streams = [frames, ...[1, 2, 3].map(() => new FrameClient(service))]
    await Promise.all(streams.map(({ opened }) => opened))
    const authorization = 'x'.repeat(8192)
    // Each of the four streams has 1024 slots, which hold 33.5 MB together: the bound of a peer is 32 MiB.
    const ended = Promise.any(streams.map(async (one) => one.ended.then(({ code }) => expect(code).to.equal(3))))
    for (let slot = 0; slot < 1024; slot += 32) {
      const all = Array.from({ length: 32 }, (_, at) => ({ credential: { slot: slot + at, authorization } }))
      for (const { stream } of streams) stream.write(encodeRequest(...all))
    }
    for (const { stream } of streams) stream.write(encodeRequest({ credential: { slot: 0, authorization: 'y' } }))
    await ended
    for (const { stream } of streams) stream.cancel()
    const next = new FrameClient(service)
    next.send(get(1))
    expect(Buffer.isBuffer(await next.outcome(1)), 'the credentials of ended streams count no more').to.equal(true)
    next.stream.cancel()
  })

  it('need a deadline, and end at it', async () => {
    frames.send(get(1, undefined, { timeoutMs: 0 }))
    expect(await frames.outcome(1)).to.include({ code: 'request.malformed' })
    const reasons: unknown[] = []
    service.store.before = async (signal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      await hang(signal)
    }
    const started = Date.now()
    frames.send(get(2, undefined, { timeoutMs: 3000 }), get(3, undefined, { timeoutMs: 50 }))
    expect(await frames.outcome(3)).to.include({ code: 'upstream.timeout' })
    expect(Date.now() - started).to.be.at.least(45)
    expect(frames.outcomes.has(2), 'the call with more time').to.equal(false)
    expect(await frames.outcome(2)).to.include({ code: 'upstream.timeout' })
    expect(Date.now() - started).to.be.at.least(2995)
    expect(reasons).to.have.length(2)
  })

  it('stop when they are cancelled, and when their stream is', async () => {
    const signals: AbortSignal[] = []
    service.store.before = (signal) => {
      signals.push(signal)
      return hang(signal)
    }
    frames.send(get(1), get(2), get(3))
    while (signals.length < 3) await delay(5)
    frames.stream.write(encodeRequest({ cancellation: { call: 2 } }, { cancellation: { call: 77 } }))
    while (signals[1]?.aborted !== true) await delay(5)
    expect(signals.map(({ aborted }) => aborted)).to.deep.equal([false, true, false])
    frames.stream.cancel()
    while (signals.some(({ aborted }) => !aborted)) await delay(5)
    expect([...frames.outcomes]).to.deep.equal([])
  })

  it('of a method that is none, or of bytes that are no request, fail alone', async () => {
    frames.send(
      get(1, undefined, { method: '/entity.v1.EntityService/Nothing' }),
      get(2, undefined, { request: Buffer.from([0x0a, 0xff]) }),
      get(3, undefined, { method: rpcs.Export.path }),
      get(4)
    )
    for (const id of [1, 3]) expect(await frames.outcome(id), `call ${id}`).to.equal('without details')
    expect(await frames.outcome(2)).to.include({ code: 'request.malformed' })
    expect(await frames.record(4)).to.include({ id: 1 })
    expect(fromStatusBytes(transportStatusBytes(status.INTERNAL, 'x'))).to.equal(undefined)
  })

  it('that are malformed end their stream, and no other', async () => {
    const other = new FrameClient(service)
    await other.opened
    const malformed: readonly Buffer[] = [
      Buffer.from([0x0a, 0x05, 0x12]),
      encodeRequest({ call: get(1, undefined, { credential: 5 }) }),
      encodeRequest({ credential: { slot: 1025, authorization: 'a' } })
    ]
    for (const [at, message] of malformed.entries()) {
      const broken = new FrameClient(service)
      broken.stream.write(message)
      expect((await broken.ended).code, `message ${at}`).to.equal(status.INVALID_ARGUMENT)
    }
    service.store.before = hang
    const twice = new FrameClient(service)
    twice.send(get(1), get(1))
    expect((await twice.ended).code).to.equal(status.INVALID_ARGUMENT)
    service.store.before = () => Promise.resolve()
    other.send(get(1))
    expect(await other.record(1)).to.include({ id: 1 })
    other.stream.cancel()
  })

  it('survive whatever anybody sends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 60 })), async (messages) => {
        const fuzzing = new FrameClient(service)
        for (const message of messages) fuzzing.stream.write(Buffer.from(message))
        fuzzing.stream.end()
        await fuzzing.ended
      }),
      { numRuns: 50 }
    )
    frames.send(get(1))
    expect(await frames.record(1)).to.include({ id: 1 })
    expect(service.logs.filter(({ level }) => Number(level) >= 50)).to.deep.equal([])
  })

  it('tell the health of the service, whatever is under way', async () => {
    service.store.before = hang
    frames.send(get(1), get(2, undefined, { method: '/grpc.health.v1.Health/Check', request: Buffer.alloc(0) }))
    // `status` is `SERVING`, which is 1.
    expect(await frames.outcome(2)).to.deep.equal(Buffer.from([0x08, 0x01]))
    expect(frames.outcomes.has(1)).to.equal(false)
  })

  it('beyond the limit of a stream are not begun', async () => {
    let begun = 0
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    service.store.before = () => {
      begun += 1
      return released
    }
    frames.send(...Array.from({ length: 1010 }, (_, at) => get(at + 1)))
    for (let id = 1001; id <= 1010; id++) expect(await frames.outcome(id), `call ${id}`).to.equal('unprocessed')
    expect(begun).to.equal(1000)
    release()
    expect(await frames.record(1000)).to.include({ id: 1 })
  })

  it('of a caller that cancels what it has begun are limited too', async () => {
    let release = (): void => undefined
    let begun = 0
    const released = new Promise<void>((resolve) => (release = resolve))
    service.store.before = () => {
      begun += 1
      return released
    }
    for (let first = 1; first <= 2000; first += 500) {
      const ids = Array.from({ length: 500 }, (_, at) => first + at)
      frames.send(...ids.map((id) => get(id)))
      while (begun < first + 499) await delay(5)
      frames.stream.write(encodeRequest(...ids.map((call) => ({ cancellation: { call } }))))
    }
    frames.send(get(5000))
    expect(await frames.outcome(5000)).to.equal('unprocessed')
    release()
  })

  it('open at most four streams on a connection', async () => {
    const others = [1, 2, 3].map(() => new FrameClient(service))
    await Promise.all(others.map(({ opened }) => opened))
    const fifth = new FrameClient(service)
    expect((await fifth.ended).code).to.equal(status.RESOURCE_EXHAUSTED)
    others[0]?.stream.cancel()
    for (let opened = false; !opened;) {
      const next = new FrameClient(service)
      opened = await Promise.race([next.opened.then(() => true), next.ended.then(() => false)])
      next.stream.cancel()
    }
    for (const one of others) one.stream.cancel()
  })

  describe('with large answers beside them', () => {
    const large = Array.from({ length: 400 }, (_, id) => ({
      id,
      title: 'x'.repeat(5_000),
      rowVersion: Buffer.alloc(8)
    }))

    it('are answered before those are', async () => {
      service.store.rows = large
      frames.send(list(1, 'things'), list(2, 'things'))
      while (frames.parts.length === 0) await delay(1)
      for (let id = 10; id < 30; id++) {
        frames.send(get(id))
        await frames.record(id)
      }
      expect(frames.outcomes.has(1) && frames.outcomes.has(2), 'two answers of 2 MB').to.equal(false)
      for (const id of [1, 2]) {
        const outcome = await frames.outcome(id)
        expect(Buffer.isBuffer(outcome) && rpcs.List.responseDeserialize(outcome).records).to.have.length(400)
      }
      const last = frames.parts.lastIndexOf(1)
      expect(
        frames.parts.slice(0, last).filter((id) => id === 2),
        'turns of the other'
      ).to.have.length.above(50)
    })

    it('are not taken while a caller takes no answers', async () => {
      service.store.rows = large
      let begun = 0
      service.store.before = () => {
        begun += 1
        return Promise.resolve()
      }
      frames.stream.pause()
      for (let id = 1; id <= 28; id++) {
        frames.send(list(id, 'things'))
        await delay(2)
      }
      while (begun < 5) await delay(5)
      for (let looks = 0; looks < 3; looks++) {
        const seen = begun
        await delay(100)
        if (seen !== begun) looks = 0
      }
      expect(begun).to.be.within(5, 25)
      frames.stream.resume()
      for (let id = 1; id <= 28; id++) expect(Buffer.isBuffer(await frames.outcome(id)), `call ${id}`).to.equal(true)
    })
  })

  it('are finished when the service drains, and no further one is begun', async () => {
    let release = (): void => undefined
    let begun = 0
    const released = new Promise<void>((resolve) => (release = resolve))
    service.store.before = () => {
      begun += 1
      return released
    }
    frames.send(get(1))
    while (begun < 1) await delay(5)
    const stopping = service.stop()
    for (let id = 2; ; id++) {
      frames.send(get(id))
      await delay(10)
      if (frames.outcomes.get(id) === 'unprocessed') break
    }
    const before = begun
    frames.send(get(9999))
    expect(await frames.outcome(9999)).to.equal('unprocessed')
    expect(begun).to.equal(before)
    release()
    expect(await frames.record(1)).to.include({ id: 1 })
    expect((await frames.ended).code).to.equal(status.OK)
    await stopping
  })
})
