import { once } from 'node:events'
import { type ClientHttp2Stream, connect as connectHttp2, constants, type Settings } from 'node:http2'
import { connect as connectSocket, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { loadProto } from '../../../shared/transport/wire.js'
import {
  DATA,
  frame,
  grpcHead,
  grpcMessage,
  HEADERS,
  PREFACE,
  RST_STREAM,
  SETTINGS
} from '../../harness/http2-frames.js'
import { answer, metadata, type RunningService, runService, soon } from './running-service.js'

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service: rpcs } = entity.v1.EntityService

describe('calls that are reset', () => {
  const { path, requestSerialize } = rpcs.Lookup
  const head = grpcHead(path)
  const body = grpcMessage(requestSerialize({ resource: 'things' }))
  const callOf = (id: number): Buffer => Buffer.concat([frame(HEADERS, 4, id, head), frame(DATA, 1, id, body)])

  /** Sends the bytes on a connection of its own, and answers it. */
  const send = ({ port }: RunningService, ...frames: readonly Buffer[]): Socket => {
    const socket = connectSocket({ host: '127.0.0.1', port })
    socket.on('error', () => undefined).resume()
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0)), ...frames]))
    return socket
  }
  const begun = ({ logs }: RunningService): number =>
    logs.filter(({ msg, rpc }) => msg === 'call' && rpc === 'Lookup').length

  for (const code of [0, 8]) {
    it(`with code ${code} in the same bytes never begin, and many of them end their connection`, async () => {
      await using service = await runService()
      const whole = send(service, callOf(1))
      while (begun(service) === 0) await delay(5)
      const reset = (id: number): Buffer => frame(RST_STREAM, 0, id, Buffer.from([0, 0, 0, code]))
      const ids = Array.from({ length: 300 }, (_, n) => 2 * n + 1)
      const flood = send(service, ...ids.flatMap((id) => [callOf(id), reset(id)]))
      await new Promise((resolve) => flood.once('close', resolve))
      await answer((done) => service.client.lookup({ resource: 'things' }, metadata(), soon(), done))
      expect(begun(service)).to.equal(2)
      expect(whole.destroyed).to.equal(false)
      whole.destroy()
    })
  }

  it('after they have begun end no connection', async () => {
    await using service = await runService()
    const session = connectHttp2(`http://127.0.0.1:${service.port}`)
    session.on('error', () => undefined)
    const call = (): ClientHttp2Stream => {
      const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
      const stream = session.request({ ...headers, 'grpc-timeout': '50S' })
      stream.on('error', () => undefined).end(body)
      return stream
    }
    let begun = 0
    service.store.before = (signal) => {
      begun += 1
      return begun > 300 ? Promise.resolve() : once(signal, 'abort').then(() => undefined)
    }
    for (let reset = 0; reset < 300; reset++) {
      const stream = call()
      while (begun === reset) await delay(1)
      stream.close(constants.NGHTTP2_CANCEL)
    }
    expect(await Promise.race([once(call(), 'response').then(() => 'answered'), once(session, 'close')])).to.equal(
      'answered'
    )
    session.destroy()
  })

  it('are 100 at a time on a connection at most', async () => {
    await using service = await runService()
    const session = connectHttp2(`http://127.0.0.1:${service.port}`)
    const [settings] = (await once(session, 'remoteSettings')) as [Settings]
    expect(settings.maxConcurrentStreams).to.equal(100)
    session.destroy()
  })
})
