import { EventEmitter, once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream
} from 'node:http2'
import { connect as connectSocket } from 'node:net'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { status } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { memoryLimit } from '../../../shared/memory-guard.js'
import { UnfinishedRequests } from '../../../data-service/rpc/transport/unfinished-requests.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { CALL_STREAM } from '../../../shared/transport/call-stream.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { encodeRequest } from '../../harness/call-stream-messages.js'
import { grpcMessage } from '../../harness/http2-frames.js'
import { answer, metadata, type RunningService, runService, soon } from './running-service.js'

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service: rpcs } = entity.v1.EntityService
const MIB = 1024 * 1024
/** Bytes that a call counts as, whatever it holds. */
const CALL = 16 * 1024
const { NGHTTP2_ENHANCE_YOUR_CALM: CALM } = constants

/** A connection of another address than that of the client of the tests. */
function another({ port }: RunningService): ClientHttp2Session {
  const socket = connectSocket({ host: '127.0.0.1', port, localAddress: '127.0.0.2' })
  const session = connect(`http://127.0.0.1:${port}`, { createConnection: () => socket })
  return session.on('error', () => undefined)
}

function begin(
  session: ClientHttp2Session,
  path: string,
  more: Readonly<Record<string, string>> = {}
): ClientHttp2Stream {
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
  const stream = session.request({ ...headers, 'grpc-timeout': '50S', ...more }, { endStream: false })
  return stream.on('error', () => undefined).resume()
}

const closed = (stream: ClientHttp2Stream): Promise<void> =>
  stream.destroyed ? Promise.resolve() : new Promise((resolve) => stream.once('close', () => resolve()))

/** Resolves when the peer has taken the chunk, or has closed the stream. */
async function write(stream: ClientHttp2Stream, chunk: Buffer): Promise<void> {
  const written = new Promise((resolve) => stream.write(chunk, resolve))
  await Promise.race([written, closed(stream)])
}

/** The code with which a call was reset; undefined where it was answered. */
async function resetOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  await closed(stream)
  return stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : stream.rstCode
}

/** The length of the bytes with those that are before them, as protobuf writes it. */
function lengthOf(bytes: Buffer, before = 0): Uint8Array {
  return protobuf.Writer.create()
    .uint32(bytes.length + before)
    .finish()
}

/** How many such frames of one stream are taken until it is reset, and with which code. */
async function taken(
  frame: Buffer,
  headers: IncomingHttpHeaders = {}
): Promise<{ code: number | undefined; frames: number }> {
  let code: number | undefined
  const close = (reset: number): void => void (code = reset)
  const stream = Object.assign(new EventEmitter(), { session: { socket: { remoteAddress: '127.0.0.2' } }, close })
  // A stream has many more members, which are not used here.
  new UnfinishedRequests(256 * MIB).bound(stream as unknown as ServerHttp2Stream, headers)
  // The frames that come in a turn are judged after it: those of this one are all that are taken.
  for (let frames = 1; frames < MIB; frames++) {
    stream.emit('data', frame)
    if (frames * (frame.length + 256) < 29 * MIB) continue
    await turn()
    if (code !== undefined) return { code, frames }
  }
  return { code, frames: MIB }
}

const lookup = async ({ client }: RunningService): Promise<void> => {
  await answer((done) => client.lookup({ resource: 'things' }, metadata(), soon(), done))
}

describe('requests that are not sent to their end', () => {
  const { path, requestSerialize } = rpcs.Lookup
  const whole = grpcMessage(requestSerialize({ resource: 'things' }))
  const large = grpcMessage(requestSerialize({ resource: 'things', search: 'x'.repeat(1.9 * MIB) }))

  it('hold an eighth of the memory for an address at most, 128 MiB, and nothing of others', async () => {
    const bound = Math.max(64 * MIB, Math.min(256 * MIB, memoryLimit() / 4)) / 2
    await using service = await runService()
    const session = another(service)
    const calls: ClientHttp2Stream[] = []
    while (calls.every(({ closed }) => !closed)) {
      const call = begin(session, path)
      calls.push(call)
      await write(call, large.subarray(0, -1))
      expect(calls.length * 1.9 * MIB).to.be.below(bound + 8 * MIB)
    }
    expect(calls.length * 1.9 * MIB).to.be.above(bound - 8 * MIB)
    expect(calls.map(({ rstCode }) => rstCode)).to.include(CALM)
    await lookup(service)
    session.destroy()
    // What was held has been let go.
    const again = another(service)
    const call = begin(again, path)
    await write(call, large)
    call.end()
    expect(await resetOf(call)).to.equal(undefined)
    again.destroy()
  })

  it('hold what Node takes for each frame, however little is in it', async () => {
    const { code, frames } = await taken(Buffer.of(0))
    expect({ code, frames }).to.deep.equal({ code: CALM, frames: Math.floor((32 * MIB - CALL) / 257) + 1 })
  })

  it('hold their header lines too', async () => {
    const { frames } = await taken(Buffer.alloc(1000), { 'x-long': 'x'.repeat(MIB) })
    expect(frames).to.equal(Math.floor((30 * MIB - 12 - CALL) / 1256) + 1)
  })

  it('are as many as an eighth of the memory holds, each with 16 KiB and twice its header lines', async () => {
    const bound = Math.max(64 * MIB, Math.min(256 * MIB, memoryLimit() / 4)) / 2
    const lines = 24 * 1024
    const most = Math.ceil(bound / (CALL + 2 * lines))
    await using service = await runService()
    const sessions: ClientHttp2Session[] = []
    const calls: ClientHttp2Stream[] = []
    while (calls.length < most + 3) {
      const session = another(service)
      sessions.push(session)
      for (let ofSession = 0; ofSession < 90 && calls.length < most + 3; ofSession++) {
        calls.push(begin(session, path, { 'x-long': 'x'.repeat(lines) }))
      }
    }
    const refused = (): ClientHttp2Stream[] => calls.filter(({ closed }) => closed)
    while (refused().length < 2) await delay(20)
    expect(refused().map(({ rstCode }) => rstCode)).to.deep.equal(refused().map(() => CALM))
    expect(refused().length).to.be.at.most(12)
    await lookup(service)
    for (const session of sessions) session.destroy()
  })

  it('are not taken compressed', async () => {
    await using service = await runService()
    const session = another(service)
    const call = begin(session, path, { 'grpc-encoding': 'gzip' })
    const [head] = (await once(call, 'response')) as [Readonly<Record<string, string>>]
    expect(head).to.include({ 'grpc-status': String(status.UNIMPLEMENTED), 'grpc-accept-encoding': 'identity' })
    expect(await resetOf(call)).to.equal(undefined)
    session.destroy()
  })

  it('hold nothing of the messages of a stream that are whole', async () => {
    await using service = await runService()
    const session = another(service)
    const stream = begin(session, CALL_STREAM.path)
    const call = { method: '/of/nothing', timeoutMs: 1000, request: Buffer.alloc(MIB) }
    stream.setMaxListeners(100)
    for (let id = 1; id <= 50; id++) await write(stream, grpcMessage(encodeRequest({ call: { ...call, id } })))
    expect(stream.closed).to.equal(false)
    session.destroy()
  })

  it('hold the messages of a stream that have come and are not read, as those of a paused one', async () => {
    const unfinished = new UnfinishedRequests(256 * MIB)
    const opened = (): ServerHttp2Stream => {
      const more = { session: { socket: { remoteAddress: '192.0.2.1' } }, close: () => undefined }
      // A stream has many more members, which are not used here.
      const stream = Object.assign(new EventEmitter(), more) as unknown as ServerHttp2Stream
      unfinished.bound(stream, { ':path': CALL_STREAM.path })
      return stream
    }
    const message = Buffer.alloc(2 * MIB)
    const come = (stream: ServerHttp2Stream): void => {
      const whole = grpcMessage(message)
      for (let at = 0; at < whole.length; at += 16_384) stream.emit('data', whole.subarray(at, at + 16_384))
    }
    const streams = [opened(), opened()]
    for (const stream of streams) {
      for (let messages = 0; messages < 9; messages++) come(stream)
      unfinished.arrived(stream, message.length)
      // Nothing more comes of it, and what is there is still to be read.
      stream.emit('end')
    }
    const [one] = streams
    if (one === undefined) throw new TypeError('There are two.')
    expect(unfinished.admits(one)).to.equal(false)
    for (let messages = 0; messages < 8; messages++) unfinished.arrived(one, message.length)
    expect(unfinished.admits(one)).to.equal(true)
    // Nothing adds up: a message that is handed over before its last frame is counted is let go with that frame.
    for (let messages = 0; messages < 100; messages++) {
      unfinished.arrived(one, message.length)
      come(one)
    }
    expect(unfinished.admits(one)).to.equal(true)
  })

  it('are refused with more binary metadata than any needs', async () => {
    await using service = await runService()
    const session = another(service)
    const few = begin(session, path, { 'x-few-bin': 'YQ,'.repeat(10) })
    few.end(whole)
    const many = begin(session, path, { 'x-many-bin': ','.repeat(100) })
    many.end(whole)
    expect([await resetOf(few), await resetOf(many)]).to.deep.equal([undefined, CALM])
    session.destroy()
  })
})

describe('requests of many fields', () => {
  const page = (filters: number): Parameters<RunningService['client']['page']>[0] => ({
    resource: 'things',
    selection: { filters: Array.from({ length: filters }, () => ({})) }
  })

  it('end their connection with a head that is larger than any needs', async () => {
    await using service = await runService()
    const session = another(service)
    const ended = new Promise((resolve) => session.once('close', resolve))
    await lookup(service)
    begin(session, rpcs.Lookup.path, { 'x-a': 'x'.repeat(32 * 1024) })
    await ended
    await lookup(service)
  })

  it('are refused before they are decoded', async () => {
    await using service = await runService()
    const { client } = service
    const failed = (filters: number): Promise<unknown> =>
      answer((done) => client.page(page(filters), metadata(), soon(), done)).then(
        () => undefined,
        (error: unknown) => error
      )
    expect(await failed(4000)).to.have.property('details', 'At most 50 filters are taken, not 4000.')
    expect(await failed(5000)).to.have.property('details', 'The request has more than 5000 fields.')
  })

  // Each is a request that a strict parser and protobufjs read differently.
  const filters = Buffer.alloc(1_000_000, Buffer.of(0x0a, 0x00))
  const versions = Buffer.alloc(1_000_000, Buffer.of(0x12, 0x00))
  const odd: readonly (readonly [how: string, rpc: 'Page' | 'Update', request: Buffer])[] = [
    // `as_array` is a bool; a strict parser skips what its length covers.
    ['claim another wire type', 'Page', Buffer.concat([Buffer.of(0x5a), lengthOf(filters), filters])],
    // protobufjs takes ten bytes for a number of 32 bits that is longer than five.
    [
      'have numbers of six bytes',
      'Update',
      Buffer.concat([
        Buffer.of(0x30, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0x0a),
        lengthOf(versions, 4),
        Buffer.of(0x22),
        lengthOf(versions),
        versions
      ])
    ]
  ]
  for (const [how, rpc, request] of odd) {
    it(`are refused where they ${how}`, async () => {
      await using service = await runService()
      const session = another(service)
      const call = begin(session, rpcs[rpc].path)
      call.end(grpcMessage(request))
      const [head] = (await once(call, 'response')) as [Readonly<Record<string, string>>]
      const said = decodeURIComponent(head['grpc-message'] ?? '')
      expect(said).to.equal('The request has more than 5000 fields.')
      session.destroy()
    })
  }

  // Two bytes may stand for a row.
  for (const size of [300, 40 * 1024]) {
    it(`begin in turns, so that a small one after them is answered before the last of them, each of ${size} bytes`, async () => {
      await using service = await runService()
      const session = another(service)
      const order: string[] = []
      // The last bytes of all come together, those of the small one behind the others.
      const requests = await Promise.all(
        Array.from({ length: 41 }, async (_, at) => {
          const search = at === 40 ? '' : 'x'.repeat(size)
          const message = grpcMessage(rpcs.Lookup.requestSerialize({ resource: 'things', search }))
          const call = begin(session, rpcs.Lookup.path)
          call.once('response', () => order.push(at === 40 ? 'small' : 'large'))
          await write(call, message.subarray(0, -1))
          return { call, last: message.subarray(-1) }
        })
      )
      for (const { call, last } of requests) call.end(last)
      await Promise.all(requests.map(({ call }) => resetOf(call)))
      expect(order.indexOf('small')).to.be.below(40)
      session.destroy()
    })
  }

  it('do not begin if their callers go before their turn', async () => {
    await using service = await runService()
    const session = another(service)
    const message = grpcMessage(rpcs.Lookup.requestSerialize({ resource: 'things', search: 'x'.repeat(1000) }))
    const calls = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const call = begin(session, rpcs.Lookup.path)
        await write(call, message.subarray(0, -1))
        return call
      })
    )
    const closed = calls.map((call) => resetOf(call))
    const begun = (): number => service.logs.filter(({ rpc, msg }) => rpc === 'Lookup' && msg === 'call').length
    for (const call of calls) call.end(message.subarray(-1))
    while (begun() === 0) await turn()
    for (const call of calls) call.close(constants.NGHTTP2_CANCEL)
    await Promise.all(closed)
    const last = begin(session, rpcs.Lookup.path)
    last.end(message)
    await resetOf(last)
    expect(begun()).to.be.below(50)
    session.destroy()
  })

  it('are decoded when their call begins, and not while it is not sent to its end', async () => {
    await using service = await runService()
    const session = another(service)
    const call = begin(session, rpcs.Page.path)
    // No message of the rpc.
    await write(call, grpcMessage(Buffer.of(0x0a, 0x05)))
    await delay(50)
    expect(service.logs.filter(({ rpc }) => rpc === 'Page')).to.deep.equal([])
    call.end()
    await resetOf(call)
    expect(service.logs.find(({ rpc, msg }) => rpc === 'Page' && msg === 'call')).to.include({
      status: status[status.INVALID_ARGUMENT]
    })
    session.destroy()
  })
})
