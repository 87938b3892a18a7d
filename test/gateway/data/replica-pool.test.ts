import { constants, createServer, type ServerHttp2Stream } from 'node:http2'
import { type sendUnaryData, Server, ServerCredentials, type ServerWritableStream, status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { HealthImplementation } from 'grpc-health-check'
import { GrpcAuthClient } from '../../../gateway/data/auth-client.js'
import type { HttpContext } from '../../../gateway/data/calls.js'
import { type DataClient, grpcDataClient } from '../../../gateway/data/data-client.js'
import { ReplicaPool, type ResolveHost } from '../../../gateway/data/replica-pool.js'
import { DomainError } from '../../../shared/errors.js'
import type { ProtoGrpcType as AuthTypes } from '../../../shared/gen/auth_service.js'
import type { ProtoGrpcType as EntityTypes } from '../../../shared/gen/entity_service.js'
import { toRpcStatus } from '../../../shared/transport/rpc-status.js'
import { loadProto } from '../../../shared/transport/wire.js'
import { listenLocally } from '../../harness/local-server.js'

type Unary = (call: unknown, answer: sendUnaryData<unknown>) => void

/** A data service in this process, whose health and answers the test decides. */
class FakeService {
  readonly health = new HealthImplementation({ 'entity.v1.EntityService': 'SERVING' })
  readonly server = new Server()
  calls = 0
  answer: Unary = (_call, done) => done(null, { record: { json: Buffer.from('{}') }, digest: 'd' })
  address = ''

  async start(address = '127.0.0.1:0'): Promise<this> {
    // The definitions loaded here are what the generated types describe.
    const { types } = loadProto('entity/v1/entity_service.proto', 'auth/v1/auth_service.proto')
    const { entity, auth } = types as unknown as EntityTypes & AuthTypes
    const unary: Unary = (call, done) => {
      this.calls += 1
      this.answer(call, done)
    }
    const stream = (call: ServerWritableStream<unknown, unknown>): void => {
      this.calls += 1
      this.answer(call, (error) => {
        if (error !== null) call.emit('error', error)
        else {
          call.write({ header: { rowLimit: 7 } })
          call.end()
        }
      })
    }
    const reads = { Describe: unary, List: unary, Page: unary, Lookup: unary, Get: unary, Read: unary, Export: stream }
    const writes = { Create: unary, Update: unary, Delete: unary, Act: unary }
    this.server.addService(entity.v1.EntityService.service, { ...reads, ...writes })
    this.server.addService(auth.v1.AuthService.service, { Login: unary, Refresh: unary, Revoke: unary, Keys: unary })
    this.health.addToServer(this.server)
    const port = await new Promise<number>((resolve, reject) => {
      this.server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error)
      )
    })
    this.address = address.replace(/\d+$/, String(port))
    return this
  }

  serve(isServing: boolean): void {
    this.health.setStatus('entity.v1.EntityService', isServing ? 'SERVING' : 'NOT_SERVING')
  }
}

const call = (): HttpContext => ({
  authorization: undefined,
  requestId: 'r',
  traceparent: undefined,
  signal: new AbortController().signal
})

describe('the replicas of the data service', () => {
  const ending: (() => void)[] = []
  afterEach(() => {
    for (const end of ending.splice(0)) end()
  })
  const started = async (address?: string): Promise<FakeService> => {
    const service = await new FakeService().start(address)
    ending.push(() => service.server.forceShutdown())
    return service
  }
  const connected = (
    addresses: readonly string[],
    resolve?: ResolveHost
  ): { data: DataClient; auth: GrpcAuthClient } => {
    const replicas = new ReplicaPool({ addresses, ...(resolve === undefined ? {} : { resolve }) })
    ending.push(() => replicas.close())
    return { data: grpcDataClient(replicas), auth: new GrpcAuthClient(replicas) }
  }
  const get = (data: DataClient): Promise<unknown> => data.get(call(), {})
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no failure',
      (error: unknown) => (error instanceof DomainError ? error.code : error)
    )
  /** Calls until the condition holds; the suite's time-out is what fails it. */
  const until = async (condition: () => boolean, work: () => Promise<unknown>): Promise<void> => {
    while (!condition()) await work()
  }
  const both =
    (...services: readonly FakeService[]) =>
    () =>
      services.every(({ calls }) => calls > 0)
  const reset = (...services: readonly FakeService[]): void => {
    for (const service of services) service.calls = 0
  }

  it('share the calls of both clients where several are listed', async () => {
    const [a, b] = [await started(), await started()]
    const { data, auth } = connected([a.address, b.address])
    await until(both(a, b), () => get(data))
    reset(a, b)
    for (let n = 0; n < 20; n++) {
      await get(data)
      await data.create(call(), {})
      await auth.keys(call()).catch(() => undefined)
    }
    expect([a.calls, b.calls]).to.deep.equal([30, 30])
  })

  it('get the reads by id of one tick together, and the next ones where fewer are in flight', async () => {
    const [a, b] = [await started(), await started()]
    const { data } = connected([a.address, b.address])
    await until(both(a, b), () => get(data))
    const waiting: (() => void)[] = []
    for (const service of [a, b]) {
      service.answer = (_call, done) => void waiting.push(() => done(null, { record: { json: Buffer.from('{}') } }))
    }
    const counts = (): number[] => [a.calls, b.calls].toSorted((one, other) => one - other)
    const arrived = async (calls: number): Promise<void> => {
      while (a.calls + b.calls < calls) await new Promise((resolve) => setImmediate(resolve))
    }
    reset(a, b)
    const reading = [1, 2, 3, 4, 5, 6].map(() => get(data))
    await arrived(6)
    expect(counts()).to.deep.equal([0, 6])
    reading.push(...[1, 2, 3, 4, 5, 6].map(() => get(data)))
    await arrived(12)
    expect(counts()).to.deep.equal([6, 6])
    // Other reads are no cheaper together.
    reading.push(...[1, 2, 3, 4, 5, 6].map(() => data.list(call(), {})))
    await arrived(18)
    expect(counts()).to.deep.equal([9, 9])
    // Nor do so many wait for one while the other has nothing to do.
    reading.push(...Array.from({ length: 130 }, () => get(data)))
    await arrived(148)
    expect(counts()[0]).to.be.at.least(9 + 64)
    for (const answer of waiting) answer()
    await Promise.all(reading)
  })

  it('share the calls where a name stands for several', async () => {
    const a = await started()
    const port = a.address.split(':')[1] ?? ''
    const b = await started(`127.0.0.2:${port}`)
    const { data } = connected([`data.example:${port}`], (host) =>
      Promise.resolve(host === 'data.example' ? ['127.0.0.1', '127.0.0.2'] : [])
    )
    await until(both(a, b), () => get(data))
    reset(a, b)
    for (let n = 0; n < 20; n++) await get(data)
    expect([a.calls, b.calls]).to.deep.equal([10, 10])
  })

  it('are found where the name has moved to, and the old ones are left', async () => {
    const a = await started()
    const port = a.address.split(':')[1] ?? ''
    const b = await started(`127.0.0.2:${port}`)
    let current = '127.0.0.1'
    const { data } = connected([`data.example:${port}`], () => Promise.resolve([current]))
    await get(data)
    current = '127.0.0.2'
    a.serve(false)
    await until(both(a, b), () => get(data))
    reset(a, b)
    for (let n = 0; n < 5; n++) await get(data)
    expect([a.calls, b.calls]).to.deep.equal([0, 5])
  })

  it('keep what a name stood for while it cannot be resolved', async () => {
    const a = await started()
    let looks = 0
    const { data } = connected([`data.example:${a.address.split(':')[1]}`], () => {
      looks += 1
      return looks === 1 ? Promise.resolve(['127.0.0.1']) : Promise.reject(new Error('SERVFAIL'))
    })
    await get(data)
    a.serve(false)
    await until(
      () => looks > 1,
      () => get(data)
    )
    const { calls } = a
    await get(data)
    expect(a.calls, 'calls to the address that the name stood for').to.equal(calls + 1)
  })

  it('are all tried where a name has an address that nobody listens on', async () => {
    const a = await started()
    const { data } = connected([`localhost:${a.address.split(':')[1]}`])
    for (let n = 0; n < 10; n++) await get(data)
    expect(a.calls).to.equal(10)
  })

  it('get no call while their health is not serving, and get them again after', async () => {
    const [a, b] = [await started(), await started()]
    b.serve(false)
    const { data } = connected([a.address, b.address])
    let served = 0
    data.onConnected(() => (served += 1))
    for (let n = 0; n < 10; n++) await get(data)
    expect([a.calls, b.calls]).to.deep.equal([10, 0])
    b.serve(true)
    await until(both(b), () => get(data))
    expect(served).to.equal(2)
    a.serve(false)
    await until(
      () => b.calls - a.calls > 30,
      () => get(data)
    )
    const known = a.calls
    for (let n = 0; n < 10; n++) await get(data)
    expect(a.calls).to.equal(known)
  })

  it('are chosen by the fewest calls in flight', async () => {
    const [a, b] = [await started(), await started()]
    const { data } = connected([a.address, b.address])
    await until(both(a, b), () => get(data))
    reset(a, b)
    const held: (() => void)[] = []
    a.answer = (_call, done) => held.push(() => done(null, {}))
    // One of two calls is held at the first, and none of those after it.
    const first = [data.list(call(), {}), data.list(call(), {})]
    await Promise.race(first)
    for (let n = 0; n < 10; n++) await get(data)
    expect([a.calls, b.calls]).to.deep.equal([1, 11])
    for (const release of held) release()
    await Promise.all(first)
  })

  it('give their own rejection where none is serving, and 503 at once where none is there', async () => {
    const a = await started()
    a.answer = (_call, done) => done(toRpcStatus(new DomainError('upstream.unavailable', 'The database is away.')))
    a.serve(false)
    const { data } = connected([a.address, '127.0.0.1:9'])
    expect(await get(data).catch((error: unknown) => error)).to.include({ message: 'The database is away.' })
    expect(data.isReachable()).to.equal(false)
    const { data: nowhere } = connected(['127.0.0.1:9'])
    expect(await codeOf(get(nowhere))).to.equal('upstream.unavailable')
    const { data: nameless } = connected(['nowhere.example:1'], () => Promise.reject(new Error('ENOTFOUND')))
    expect(await codeOf(get(nameless))).to.equal('upstream.unavailable')
  })

  it('get a read or an export that another one failed before it answered', async () => {
    const [a, b] = [await started(), await started()]
    a.answer = (_call, done) => done({ code: status.UNAVAILABLE, details: 'going away' })
    const { data } = connected([a.address, b.address])
    await until(both(a, b), () => get(data))
    reset(a, b)
    for (let n = 0; n < 10; n++) {
      await get(data)
      const parts: unknown[] = []
      for await (const part of data.export(call(), { idleTimeoutMs: 5000 })) parts.push(part)
      expect(parts, `time ${n}`).to.have.length(1)
    }
    expect(b.calls).to.equal(20)
    expect(a.calls).to.be.greaterThan(5)
  })

  /** An HTTP/2 server without health and streams of calls that ends every other call by a reset with this code. */
  const resetting = async (code: number): Promise<{ address: string; calls: () => number }> => {
    let calls = 0
    const server = createServer()
    const sessions = new Set<{ destroy(): void }>()
    server.on('session', (session) => sessions.add(session))
    server.on('stream', (stream: ServerHttp2Stream, headers) => {
      stream.on('error', () => undefined)
      if (/^\/(?:grpc\.health|transport)\./.test(String(headers[':path']))) {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true })
        return
      }
      calls += 1
      stream.close(code)
    })
    const port = await listenLocally(server)
    ending.push(() => {
      for (const session of sessions) session.destroy()
      server.close()
    })
    return { address: `127.0.0.1:${port}`, calls: () => calls }
  }

  it('get a write that another one has rejected to begin', async () => {
    const a = await resetting(constants.NGHTTP2_REFUSED_STREAM)
    const b = await started()
    const { data } = connected([a.address, b.address])
    await until(
      () => a.calls() > 0 && b.calls > 0,
      () => data.create(call(), {})
    )
    const known = b.calls
    for (let n = 0; n < 10; n++) await data.create(call(), {})
    expect(b.calls).to.equal(known + 10)
  })

  it('never get a write that another one may have begun', async () => {
    const a = await resetting(constants.NGHTTP2_INTERNAL_ERROR)
    const b = await started()
    const { data } = connected([a.address, b.address])
    await until(
      () => a.calls() > 0 && b.calls > 0,
      () => get(data).catch(() => undefined)
    )
    const known = [a.calls(), b.calls] as const
    const outcomes = new Map<unknown, number>()
    for (let n = 0; n < 10; n++) {
      const code = await codeOf(data.create(call(), {}))
      outcomes.set(code, (outcomes.get(code) ?? 0) + 1)
    }
    expect([a.calls() - known[0], b.calls - known[1]]).to.deep.equal([5, 5])
    expect(outcomes.get('no failure')).to.equal(5)
  })

  it('cost no read and double no write when one is torn off', async () => {
    const [a, b] = [await started(), await started()]
    const { data } = connected([a.address, b.address])
    await until(both(a, b), () => get(data))
    reset(a, b)
    const reads = Array.from({ length: 20 }, () => get(data))
    const writes = Array.from({ length: 20 }, () => codeOf(data.create(call(), {})))
    a.server.forceShutdown()
    await Promise.all(reads)
    const codes = new Set(await Promise.all(writes))
    for (const code of codes) expect(code, 'what a call ended with').to.be.oneOf(['no failure', 'upstream.unavailable'])
    // Whatever is sent from now on arrives.
    for (let n = 0; n < 10; n++) await data.create(call(), {})
  })
})
