import { EventEmitter } from 'node:events'
import { mock } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { Metadata, type ServerDuplexStream, type ServerUnaryCall, type ServiceError } from '@grpc/grpc-js'
import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { exportHandler, exportSemaphore } from '../../../data-service/operations/export.js'
import { CallStreams } from '../../../data-service/rpc/transport/call-stream.js'
import { unaryCall } from '../../../data-service/rpc/transport/grpc.js'
import type { IncomingCall } from '../../../data-service/rpc/transport/interceptors.js'
import { PeerBytes } from '../../../data-service/rpc/transport/peer-bytes.js'
import { DomainError } from '../../../shared/errors.js'
import { createLogger } from '../../../shared/logger.js'
import type { ExportResponse__Output } from '../../../shared/gen/entity/v1/ExportResponse.js'
import { NEVER } from '../../../shared/transport/cancellation.js'
import { fromRpcStatus } from '../../../shared/transport/rpc-status.js'
import { GATEWAY_SECRET_METADATA } from '../../../shared/tls.js'
import { encodeRequest } from '../../harness/call-stream-messages.js'
import { exampleEntities } from '../plan/example-entities.js'
import { account } from './account.js'
import { answer, failure, metadata, planningOf, type RunningService, runService, soon } from './running-service.js'
import { unboundedShares } from './unbounded-shares.js'

const hang = (signal: AbortSignal): Promise<void> =>
  delay(60_000, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted())

/** Looks again every `interval` milliseconds; fails after 30 seconds, so that a failing test ends. */
async function until(condition: () => boolean, interval = 10): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(interval)) if (condition()) return
  throw new Error('it never came to that')
}

describe('calls', function () {
  // A machine that does much else at the same time is no reason to fail.
  let service: RunningService
  beforeEach(async () => {
    service = await runService()
    service.store.rows = [{ id: 1, title: 'x', rowVersion: Buffer.alloc(8) }]
  })
  afterEach(() => service.stop())

  const list =
    (values: Record<string, string> = {}, options: object = soon()) =>
    (done: (e: ServiceError | null) => void) =>
      service.client.list({ resource: 'tickets' }, metadata(values), options, done)
  const exported = async (request: object, options: object = {}): Promise<ExportResponse__Output[] | DomainError> => {
    const parts: ExportResponse__Output[] = []
    try {
      for await (const part of service.client.export({ resource: 'things', ...request }, metadata(), options)) {
        // The stream of this rpc holds nothing else.
        parts.push(part as ExportResponse__Output)
      }
      return parts
    } catch (error) {
      // What grpc-js raises on a stream.
      return fromRpcStatus(error as ServiceError)
    }
  }

  it('without a deadline are rejected', async () => {
    expect((await failure(list({ authorization: 'owner 1' }, {}))).code).to.equal('request.malformed')
    expect(await exported({})).to.have.property('code', 'request.malformed')
    expect(await exported({}, soon())).to.have.length(3)
  })

  it('identify their caller before anything else', async () => {
    expect((await failure(list())).code).to.equal('auth.required')
    expect((await failure(list({ authorization: 'nonsense' }))).code).to.equal('auth.invalid-token')
    expect(service.logs.filter(({ reason }) => reason === 'test reason')).to.have.length(1)
    expect(JSON.stringify(service.logs)).to.not.contain('nonsense')
    await answer(list({ authorization: 'owner 1' }))
  })

  it('keep a fit request id and trace in the log, and make an id otherwise', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await failure(list({ 'x-request-id': 'A.b_c-1', traceparent }))
    expect(service.logs.at(-1)).to.include({ requestId: 'A.b_c-1', traceparent, rpc: 'List' })
    await failure(list({ 'x-request-id': 'a b', traceparent: 'x'.repeat(4000) }))
    expect(service.logs.at(-1)).to.include({ requestId: 'made-here' }).and.not.have.property('traceparent')
    await failure(list({ traceparent: `01-${traceparent.slice(3)}-${'x'.repeat(4000)}` }))
    expect(service.logs.at(-1)).to.include({ traceparent })
  })

  it('of a gateway with another secret are told no catalogue, which it would take in place of the one it has', async () => {
    await using strict = await runService(undefined, undefined, undefined, { knowsGateways: true })
    const described = (values: Record<string, string>, request: object = {}): Promise<unknown> =>
      answer((done) => strict.client.describe(request, metadata(values), soon(), done))
    const other = { [GATEWAY_SECRET_METADATA]: 'of another one' }
    const refused = await failure((done) => strict.client.describe({}, metadata(other), soon(), done))
    expect(refused).to.include({ code: 'upstream.unavailable' })
    // Any other caller needs neither a secret nor a token.
    for (const call of [described({}), described(other, { asCaller: true })]) {
      expect(await call).to.have.property('resources')
    }
    expect(await described({ [GATEWAY_SECRET_METADATA]: 'of a gateway' })).to.have.property('resources')
  })

  it('turn whatever is unforeseen into an opaque internal error, logged under the request id', async () => {
    service.store.before = () => Promise.reject(new Error('SELECT secret FROM table'))
    const error = await failure(list({ authorization: 'owner 1', 'x-request-id': 'r1' }))
    expect(error.code).to.equal('internal')
    expect(error.message).to.not.contain('secret')
    const logged = service.logs.find(({ level }) => level === 50)
    expect(logged).to.include({ requestId: 'r1' }).and.have.nested.property('err.stack')
  })

  it('abort the work when the deadline passes or the caller cancels', async () => {
    const reasons: unknown[] = []
    let begun = 0
    let started = (): void => undefined
    service.store.before = async (signal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason))
      begun += 1
      started()
      await hang(signal)
    }
    // On a busy machine a deadline may pass before the work begins.
    for (let ms = 50; begun === 0; ms *= 4) {
      const late = await failure(list({ authorization: 'owner 1' }, { deadline: Date.now() + ms }))
      expect(late.code).to.equal('upstream.timeout')
    }
    await until(() => reasons.length === begun)
    const atDeadline = begun
    await new Promise<void>((resolve) => {
      const call = list({ authorization: 'owner 1' })(() => undefined)
      started = () => {
        call.cancel()
        resolve()
      }
    })
    await until(() => reasons.length === begun)
    expect(reasons).to.have.length.above(atDeadline)
    for (const [at, reason] of reasons.entries()) expect(reason, `reason ${at}`).to.be.instanceOf(DomainError)
  })

  describe('of an export', () => {
    it('send the header, rows as arrays, and the end', async () => {
      service.store.batches = 2
      const parts = await exported({ idleTimeoutMs: 5000, fields: 'title,id' })
      if (parts instanceof DomainError) throw parts
      expect(parts.map(({ part }) => part)).to.deep.equal(['header', 'rows', 'rows', 'end'])
      expect(parts[0]?.header?.columns.map(({ name }) => name)).to.deep.equal(['title', 'id'])
      expect(parts[0]?.header?.rowLimit).to.equal(100)
      expect(parts[1]?.rows?.json.toString()).to.equal('[["x",1]]')
      expect(parts[3]?.end).to.deep.equal({ count: 2, truncated: false, unshownValues: [] })
    })

    it('fail plainly before the first row, and with a status after it', async () => {
      service.store.before = () => Promise.reject(new DomainError('upstream.unavailable', 'Down.', { retryAfter: 1 }))
      expect(await exported({ idleTimeoutMs: 5000 })).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
      expect(await exported({ idleTimeoutMs: 5000, fields: 'nope' })).to.include({ code: 'fields.invalid' })
    })

    it('give up after the idle time without a row', async () => {
      service.store.before = hang
      expect(await exported({ idleTimeoutMs: 30 })).to.include({ code: 'upstream.timeout' })
      await until(() => service.store.exportsOpen === 0)
    })

    it('draw no batches for a reader that does not read, and end with it', async () => {
      service.store.rows = Array.from({ length: 100 }, (_, id) => ({ id, title: 'x'.repeat(10_000) }))
      service.store.batches = 1000
      const call = service.client.export({ resource: 'things', idleTimeoutMs: 60_000, fields: 'id,title' }, metadata())
      call.on('error', () => undefined)
      // grpc-js holds a stream back from its first message on.
      await call[Symbol.asyncIterator]().next()
      let seen = -1
      await until(() => seen === (seen = service.store.batchesTaken), 100)
      expect(seen).to.be.below(100)
      call.cancel()
      await until(() => service.store.exportsOpen === 0)
    })

    const unread = async (
      values: Record<string, string>,
      times: object,
      at = service
    ): Promise<AsyncIterator<unknown>> => {
      const call = at.client.export({ resource: 'things', fields: 'id,title', ...times }, metadata(values))
      call.on('error', () => undefined)
      const parts: AsyncIterator<unknown> = call[Symbol.asyncIterator]()
      await parts.next()
      return parts
    }
    const read = async (parts: AsyncIterator<unknown>): Promise<unknown> => {
      try {
        while ((await parts.next()).done !== true);
        return 'whole'
      } catch (error) {
        // What grpc-js fails calls with.
        return fromRpcStatus(error as ServiceError)
      }
    }

    it('leave a reader the time that it asks for', async () => {
      service.store.rows = Array.from({ length: 100 }, (_, id) => ({ id, title: 'x'.repeat(10_000) }))
      service.store.batches = 10
      const patient = await unread({}, { idleTimeoutMs: 1000, readerTimeoutMs: 60_000 })
      const plain = await unread({}, { idleTimeoutMs: 1000 })
      await until(() => service.store.exportsOpen === 1)
      expect(await read(plain)).to.include({ code: 'upstream.timeout' })
      expect(await read(patient)).to.equal('whole')
    })

    it('that have had their time make room for another caller, whatever their readers do', async () => {
      await using full = await runService(undefined, exportSemaphore({ recallAfter: 0 }))
      full.store.rows = Array.from({ length: 100 }, (_, id) => ({ id, title: 'x'.repeat(10_000) }))
      full.store.batches = 4
      const times = { idleTimeoutMs: 60_000 }
      const held: AsyncIterator<unknown>[] = []
      for (const [owner, exports] of [4, 4, 4, 2, 1, 1].entries())
        for (let n = 0; n < exports; n++) held.push(await unread({ authorization: `owner ${owner}` }, times, full))
      expect(full.store.exportsOpen).to.equal(16)
      const other = await unread({ authorization: 'owner 7' }, times, full)
      expect(full.store.exportsOpen).to.equal(16)
      const [first, ...others] = await Promise.all(held.map(read))
      expect(first).to.include({ code: 'upstream.unavailable' })
      expect(new Set(others)).to.deep.equal(new Set(['whole']))
      expect(await read(other)).to.equal('whole')
    })

    it('whose readers take no batch for five minutes make room, those of the caller with the most first', async () => {
      let time = 0
      const { store } = service
      store.batches = 3
      const begin = exportHandler({
        planning: planningOf(exampleEntities),
        store,
        exports: exportSemaphore({ now: () => time }),
        shares: unboundedShares
      })
      const request = { selection: null, unplaced: null, asCsv: null, idleTimeoutMs: 0, readerTimeoutMs: 0 }
      const open = async (owner: number): Promise<AsyncIterator<unknown>> => {
        const context = {
          caller: account(`${owner}`),
          requestId: 'r',
          peerIsGateway: true,
          clientAddress: '192.0.2.1',
          signal: new AbortController().signal,
          cancellation: NEVER,
          onTaken: () => undefined,
          log: createLogger({ name: 'test', level: 'silent' })
        }
        const sent = { ...request, resource: 'things', fields: 'id,title', clientAddress: '192.0.2.1' }
        const parts = begin(context, sent)[Symbol.asyncIterator]()
        await parts.next()
        return parts
      }
      const held: AsyncIterator<unknown>[] = [await open(9)]
      for (const [owner, exports] of [4, 4, 3, 2, 1, 1].entries())
        for (let n = 0; n < exports; n++) held.push(await open(owner))
      time = 300_000
      const [, first] = held
      for (let batch = 0; batch < 2; batch++) await first?.next()
      const other = await open(7)
      expect(store.exportsOpen).to.equal(16)
      const read = async (parts: AsyncIterator<unknown>): Promise<unknown> => {
        try {
          while ((await parts.next()).done !== true);
          return 'whole'
        } catch (error) {
          return error instanceof DomainError ? error.code : error
        }
      }
      const ends = await Promise.all([...held, other].map(read))
      expect(ends.flatMap((end, at) => (end === 'whole' ? [] : [at, end]))).to.deep.equal([2, 'upstream.unavailable'])
    })

    it('of anonymous clients count by the address that a gateway tells, and nobody else', async () => {
      await using full = await runService(undefined, exportSemaphore({ timeout: 1 }))
      full.store.rows = Array.from({ length: 100 }, (_, id) => ({ id, title: 'x'.repeat(10_000) }))
      full.store.batches = 10
      const times = (clientAddress: string): object => ({ idleTimeoutMs: 60_000, clientAddress })
      const gateway = { [GATEWAY_SECRET_METADATA]: 'of a gateway' }
      const rejected = async (parts: Promise<unknown>): Promise<unknown> =>
        parts.then(
          () => 'begun',
          // What grpc-js fails calls with.
          (error: unknown) => fromRpcStatus(error as ServiceError).code
        )
      for (let n = 0; n < 4; n++) await unread(gateway, times('192.0.2.1'), full)
      expect(await rejected(unread(gateway, times('192.0.2.1'), full))).to.equal('upstream.unavailable')
      expect(await rejected(unread(gateway, times('192.0.2.2'), full))).to.equal('begun')
      // Whoever is no gateway neither uses up an address by naming it, nor is rejected for one that is used up.
      expect(await rejected(unread({}, times('192.0.2.1'), full)), 'an address that no gateway told').to.equal('begun')
      // Who makes up addresses has no more than all anonymous callers together.
      const made = []
      for (let n = 0; n < 3; n++) made.push(await rejected(unread({}, times(`192.0.2.${10 + n}`), full)))
      expect(made).to.deep.equal(['begun', 'begun', 'upstream.unavailable'])
    })

    it('of two accounts and two addresses leave places to other accounts and addresses', async () => {
      await using full = await runService(undefined, exportSemaphore({ timeout: 1 }))
      full.store.rows = Array.from({ length: 100 }, (_, id) => ({ id, title: 'x'.repeat(10_000) }))
      full.store.batches = 10
      const begun = async (owner: string, clientAddress: string): Promise<number> => {
        const gateway = { [GATEWAY_SECRET_METADATA]: 'of a gateway', ...(owner && { authorization: `owner ${owner}` }) }
        const open = full.store.exportsOpen
        for (let n = 0; n < 5; n++) {
          await unread(gateway, { idleTimeoutMs: 60_000, clientAddress }, full).catch(() => undefined)
        }
        return full.store.exportsOpen - open
      }
      const of = async (owners: readonly string[], address: string): Promise<number[]> => {
        const counts = []
        for (const owner of owners) counts.push(await begun(owner, address))
        return counts
      }
      expect(await of(['1', '2', ''], '192.0.2.1'), 'of one client').to.deep.equal([4, 4, 4])
      expect(await of(['', '3'], '192.0.2.2'), 'of its other address, and of another client').to.deep.equal([2, 1])
      expect(await of([''], '192.0.2.3'), 'of a third address').to.deep.equal([1])
    })
  })
})

describe('calls with a large body', () => {
  const HANGING = defineEntity({
    name: 'drafts',
    description: 'No create of them ends.',
    fields: { id: readOnly(int()), title: text(100) },
    label: 'title',
    filterable: [],
    sortable: [],
    access: { read: everyone, write: permission('drafts:write') },
    writes: ['create'],
    overrides: {
      create: async ({ signal }) => {
        await hang(signal)
        throw new Error('It was to end with its caller.')
      }
    }
  })
  const body = Buffer.alloc(64 * 1024, 'x')

  it('go one after the other for each caller, before they are parsed; four wait', async () => {
    await using service = await runService([HANGING])
    const { client } = service
    const first = metadata({ authorization: 'owner 1' })
    const large = { resource: 'drafts', id: '1', operation: 'none', body }
    const calls: { cancel(): void }[] = []
    const create = () => failure((done) => calls.push(client.create(large, first, soon(), done)))
    const refused = { code: 'upstream.unavailable', retryAfter: 1 }
    expect(await Promise.race(Array.from({ length: 6 }, create))).to.include(refused)
    expect(await failure((done) => client.createBatch(large, first, soon(), done)), 'CreateBatch').to.include(refused)
    expect(await failure((done) => client.update(large, first, soon(), done)), 'Update').to.include(refused)
    expect(await failure((done) => client.act(large, first, soon(), done)), 'Act').to.include(refused)
    expect(await failure((done) => client.call(large, first, soon(), done)), 'Call').to.include(refused)
    const small = { ...large, body: Buffer.from('x') }
    const other = metadata({ authorization: 'owner 2' })
    const others = [
      failure((done) => client.update(small, first, soon(), done)),
      failure((done) => client.createBatch(large, other, soon(), done))
    ]
    expect((await Promise.all(others)).map(({ code }) => code)).to.not.include('upstream.unavailable')
    for (const call of calls) call.cancel()
  })
})

describe('a call with one answer has 60 seconds, whatever deadline its caller gives', () => {
  const HOUR = 3_600_000

  /** What of a call of grpc-js is used before it is answered. */
  const opened = (): EventEmitter =>
    Object.assign(new EventEmitter(), {
      request: Buffer.alloc(0),
      metadata: new Metadata(),
      getPeer: () => '127.0.0.1:50000',
      getDeadline: () => Date.now() + HOUR,
      sendMetadata: () => undefined,
      isPaused: () => false
    })

  /** How a call with a deadline of an hour is given up, and after how many milliseconds. */
  function givenUp(begin: (handler: (call: IncomingCall) => Promise<never>) => void): Promise<unknown> {
    return new Promise((resolve) => {
      mock.timers.enable({ apis: ['Date', 'setTimeout'] })
      const begun = Date.now()
      begin(({ deadline, cancellation }) => {
        const ended = (): unknown => cancellation.aborted && cancellation.reason
        mock.timers.tick(59_999)
        const before = ended()
        mock.timers.tick(1)
        resolve({ deadline: deadline - begun, before, after: ended() })
        return new Promise(() => undefined)
      })
    }).finally(() => mock.timers.reset())
  }

  function expectTime(outcome: unknown): void {
    expect(outcome).to.deep.include({ deadline: 60_000, before: false })
    expect(outcome).to.have.nested.property('after.code', 'upstream.timeout')
  }

  it('as a call of its own', async () => {
    const outcome = await givenUp((handler) => {
      const codecs = { requestDeserialize: (bytes: Buffer) => bytes, responseSerialize: () => Buffer.alloc(0) }
      const unary = unaryCall(handler, { codecs, untaken: new PeerBytes() })
      // A call has many more members, which are not used here.
      unary(opened() as unknown as ServerUnaryCall<Buffer, Buffer>, () => undefined)
    })
    expectTime(outcome)
  })

  it('as a frame of a stream', async () => {
    const outcome = await givenUp((handler) => {
      const streams = new CallStreams({
        methods: new Map([['/a/Method', handler]]),
        untaken: new PeerBytes(),
        isGateway: () => true,
        knowsGateways: false,
        breakOff: () => undefined,
        arrived: () => undefined
      })
      const stream = opened()
      // A call has many more members, which are not used here.
      streams.open(stream as unknown as ServerDuplexStream<Buffer, Buffer>)
      stream.emit('data', encodeRequest({ call: { id: 1, method: '/a/Method', timeoutMs: HOUR } }))
      stream.emit('close')
    })
    expectTime(outcome)
  })
})
