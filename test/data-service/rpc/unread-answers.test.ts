import { EventEmitter, once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  type ClientDuplexStream,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  status,
  type StatusObject
} from '@grpc/grpc-js'
import { expect } from 'chai'
import { exportSemaphore } from '../../../data-service/operations/export.js'
import { ReadShares } from '../../../data-service/operations/fair-shares.js'
import { Connections } from '../../../data-service/rpc/transport/connections.js'
import { http2ServersOf } from '../../../data-service/rpc/transport/grpc-inner.js'
import { PeerBytes } from '../../../data-service/rpc/transport/peer-bytes.js'
import { MemoryGuard } from '../../../shared/memory-guard.js'
import { createLogger } from '../../../shared/logger.js'
import { CALL_STREAM } from '../../../shared/transport/call-stream.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { GATEWAY_SECRET_METADATA } from '../../../shared/tls.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { encodeRequest, type WireCall } from '../../harness/call-stream-messages.js'
import { grpcMessage } from '../../harness/http2-frames.js'
import { exampleEntities } from '../plan/example-entities.js'
import { answer, failure, metadata, type RunningService, runService, soon } from './running-service.js'
import type { ReadDeps } from '../../../data-service/operations/reads.js'
import { unboundedShares } from './unbounded-shares.js'

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service: rpcs } = entity.v1.EntityService

const MIB = 1024 * 1024

/** An answer of 2 MB. */
const large = Array.from({ length: 400 }, (_, id) => ({ id, title: 'x'.repeat(5_000), rowVersion: Buffer.alloc(8) }))

const list = (id: number): WireCall => ({
  id,
  method: rpcs.List.path,
  timeoutMs: 100_000,
  request: rpcs.List.requestSerialize({ resource: 'things' })
})

/** A stream of calls that reads nothing. */
class UnreadStream {
  readonly stream: ClientDuplexStream<Buffer, Buffer>
  readonly opened: Promise<void>
  readonly ended: Promise<StatusObject>

  constructor({ client }: RunningService) {
    const { path, requestSerialize, responseDeserialize } = CALL_STREAM
    this.stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata())
    this.opened = new Promise((resolve) => this.stream.once('metadata', () => resolve()))
    this.ended = new Promise((resolve) => this.stream.once('status', resolve))
    this.stream.on('error', () => undefined)
    this.stream.pause()
  }

  send(...calls: readonly WireCall[]): void {
    this.stream.write(encodeRequest(...calls.map((call) => ({ call }))))
  }
}

/** A gRPC client that opens no window for answers, from an address of the loopback. */
class UnreadClient {
  readonly session: ClientHttp2Session

  constructor({ port }: RunningService, localAddress: string) {
    this.session = connect(`http://127.0.0.1:${port}`, {
      settings: { initialWindowSize: 0 },
      createConnection: () => connectSocket({ host: '127.0.0.1', port, localAddress })
    })
    this.session.on('error', () => undefined)
  }

  list(): ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': rpcs.List.path,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-timeout': '50S'
    })
    stream.on('error', () => undefined)
    stream.end(grpcMessage(rpcs.List.requestSerialize({ resource: 'things' })))
    return stream
  }
}

/** Calls that are answered meanwhile, on another connection: what is not read fills the window of its own. */
async function listSmall({ port }: RunningService, count: number, of = new Metadata()): Promise<void> {
  const own = { 'grpc.use_local_subchannel_pool': 1 }
  const client = new entity.v1.EntityService(`127.0.0.1:${port}`, credentials.createInsecure(), own)
  for (let n = 0; n < count; n++) {
    await answer((done) => client.lookup({ resource: 'things' }, of, soon(), done))
  }
  client.close()
}

function destroy(this: { destroyed: boolean }): void {
  this.destroyed = true
}

describe('answers that a peer does not read', function () {
  // A machine that does much else at the same time is no reason to fail.
  let time = 0
  let service: RunningService
  const shares = new ReadShares(new MemoryGuard(createLogger({ name: 'test', level: 'silent' })))
  const run = async (own: ReadDeps['shares']): Promise<void> => {
    service = await runService(exampleEntities, exportSemaphore(), own, {
      streamClock: { now: () => time, lookEvery: 5 }
    })
    service.store.rows = large
  }
  afterEach(() => service.stop())
  const untilTaken = async (): Promise<void> => {
    while (service.untakenBytes > 0) await delay(5)
  }

  it('end their stream when nothing is taken for 30 seconds, and not before', async () => {
    await run(unboundedShares)
    const unread = new UnreadStream(service)
    await unread.opened
    for (let id = 1; id <= 7; id++) unread.send(list(id))
    while (service.untakenBytes < 8 * MIB) await delay(5)
    time += 29_000
    await listSmall(service, 5)
    expect(service.streams).to.equal(1)
    // A message may have been taken meanwhile, and the next one have its own 30 seconds.
    while (service.streams > 0) {
      time += 31_000
      await delay(20)
    }
    await untilTaken()
    unread.stream.resume()
    expect((await unread.ended).code).to.not.equal(status.OK)
  })

  it('of small calls keep further ones from being begun', async () => {
    await run(unboundedShares)
    service.store.rows = [{ id: 1, title: 'x'.repeat(20_000), rowVersion: Buffer.alloc(8) }]
    const unread = new UnreadStream(service)
    await unread.opened
    let most = 0
    service.store.before = () => {
      most = Math.max(most, service.untakenBytes)
      return Promise.resolve()
    }
    for (let id = 1; id <= 3000; id += 100) {
      unread.send(...Array.from({ length: 100 }, (_, at) => list(id + at)))
      await listSmall(service, 1)
    }
    while (service.untakenBytes < 16 * MIB) await delay(5)
    await listSmall(service, 20)
    // Of it each call that is not answered counts 8 KiB beside its request.
    expect(most).to.be.below(24 * MIB)
    unread.stream.cancel()
    await untilTaken()
  })

  it('of refused calls end their stream', async () => {
    await run(unboundedShares)
    const unread = new UnreadStream(service)
    await unread.opened
    unread.send(...Array.from({ length: 5000 }, (_, at) => ({ ...list(at + 1), method: '/none' })))
    unread.stream.resume()
    expect((await unread.ended).code).to.equal(status.INVALID_ARGUMENT)
    await untilTaken()
  })

  it('of unary calls keep further calls of the loopback from being begun, and none of a gateway', async () => {
    await run(unboundedShares)
    const unread = new UnreadClient(service, '127.0.0.2')
    const streams = Array.from({ length: 18 }, () => unread.list())
    while (service.untakenBytes < 32 * MIB) await delay(5)
    const [refused] = (await once(unread.list(), 'response')) as [Record<string, unknown>]
    expect(Number(refused['grpc-status'])).to.equal(status.UNAVAILABLE)
    const neighbour = await failure((done) => service.client.lookup({ resource: 'things' }, metadata(), soon(), done))
    expect(neighbour).to.include({ code: 'upstream.unavailable' })
    await listSmall(service, 1, metadata({ [GATEWAY_SECRET_METADATA]: 'of a gateway' }))
    for (const stream of streams) stream.close()
    await untilTaken()
    unread.session.destroy()
  })

  it('hold the places of their reads until they are read', async () => {
    await run(shares)
    const unread = new UnreadClient(service, '127.0.0.2')
    const stream = unread.list()
    while (service.untakenBytes < MIB) await delay(5)
    expect(shares.places.taken).to.equal(100)
    stream.close()
    while (shares.places.taken > 0) await delay(5)
    // One that is read gives them back.
    await answer((done) => service.client.list({ resource: 'things' }, new Metadata(), soon(), done))
    while (shares.places.taken > 0) await delay(5)
    unread.session.destroy()
  })

  it('an address has 128 connections at most', async () => {
    await run(unboundedShares)
    const open = async (): Promise<Socket> => {
      const socket = connectSocket({ host: '127.0.0.1', port: service.port, localAddress: '127.0.0.2' })
      socket.on('error', () => undefined).resume()
      await once(socket, 'connect')
      return socket
    }
    const sockets = await Promise.all(Array.from({ length: 128 }, open))
    const beyond = await open()
    if (!beyond.closed) await once(beyond, 'close')
    expect(sockets.filter(({ closed }) => closed)).to.deep.equal([])
    await listSmall(service, 1)
    for (const socket of sockets) socket.destroy()
    // Once the others are gone one may come again.
    for (;;) {
      const client = new UnreadClient(service, '127.0.0.2')
      const isServed = await Promise.race([
        once(client.session, 'remoteSettings').then(() => true),
        once(client.session, 'close').then(() => false)
      ])
      client.session.destroy()
      if (isServed) break
    }
  })
})

describe('bytes and connections that are counted together', () => {
  it('are those of a /64 network, and all of the loopback, and there are 1024 connections in all', async () => {
    const peers = new PeerBytes()
    const peerOf = (peerAddress: string): string =>
      peers.peerOf({ peerAddress, gatewaySecrets: [], peerCertificate: () => undefined })
    expect(peerOf('2001:db8::1')).to.equal(peerOf('2001:db8::2:1')).and.not.equal(peerOf('2001:db8:0:1::1'))
    expect(peerOf('127.0.0.1')).to.equal(peerOf('127.3.4.5')).and.not.equal(peerOf('192.0.2.1'))
    const server = new Server()
    await promisify(server.bindAsync.bind(server))('127.0.0.1:0', ServerCredentials.createInsecure())
    new Connections(() => true).watch(server)
    const [http2Server] = http2ServersOf(server)
    expect(http2Server?.maxConnections).to.equal(1024)
    // The one before it is of the streams.
    const [, count] = http2Server?.listeners('connection') ?? []
    const sockets = Array.from({ length: 129 }, (_, at) =>
      Object.assign(new EventEmitter(), { remoteAddress: `2001:db8::${at}`, destroyed: false, destroy })
    )
    for (const socket of sockets) Reflect.apply(count ?? expect.fail, undefined, [socket])
    await delay(0)
    expect(sockets.map(({ destroyed }) => destroyed).lastIndexOf(false)).to.equal(127)
    server.forceShutdown()
  })
})
