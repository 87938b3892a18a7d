import { once } from 'node:events'
import {
  type Metadata,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  status
} from '@grpc/grpc-js'
import { expect } from 'chai'
import type { HttpContext } from '../../../gateway/data/calls.js'
import { type DataClient, grpcDataClient } from '../../../gateway/data/data-client.js'
import { ReplicaPool } from '../../../gateway/data/replica-pool.js'
import { DomainError, TOO_MANY_READS } from '../../../shared/errors.js'
import type { ProtoGrpcType } from '../../../shared/gen/entity_service.js'
import { toRpcStatus } from '../../../shared/transport/rpc-status.js'
import { loadProto } from '../../../shared/transport/wire.js'

type Unary = (call: ServerUnaryCall<unknown, unknown>, answer: sendUnaryData<unknown>) => void
type Streaming = (call: ServerWritableStream<unknown, unknown>) => void

describe('the data client', () => {
  let server: Server
  let replicas: ReplicaPool
  let client: DataClient
  let port: number
  let onGet: Unary
  let onRead: Unary
  let onWrite: Unary
  let onExport: Streaming

  const serve = async (at: number): Promise<number> => {
    server = new Server()
    // The definition loaded here is what the generated types describe.
    const types = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
    server.addService(types.entity.v1.EntityService.service, {
      Describe: ((_call, answer) => answer(null, { digest: 'd' })) satisfies Unary,
      Get: ((call, answer) => onGet(call, answer)) satisfies Unary,
      Read: ((call, answer) => onRead(call, answer)) satisfies Unary,
      Create: ((call, answer) => onWrite(call, answer)) satisfies Unary,
      Update: ((call, answer) => onWrite(call, answer)) satisfies Unary,
      Delete: ((call, answer) => onWrite(call, answer)) satisfies Unary,
      Act: ((call, answer) => onWrite(call, answer)) satisfies Unary,
      Export: ((call) => onExport(call)) satisfies Streaming
    })
    return new Promise((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${at}`, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error)
      )
    })
  }
  beforeEach(async () => {
    port = await serve(0)
    replicas = new ReplicaPool({ addresses: [`127.0.0.1:${port}`] })
    client = grpcDataClient(replicas)
  })
  afterEach(() => {
    replicas.close()
    server.forceShutdown()
  })

  const call = (more: Partial<HttpContext> = {}): HttpContext => ({
    authorization: undefined,
    requestId: 'r1',
    traceparent: undefined,
    signal: new AbortController().signal,
    ...more
  })
  const codeOf = async (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no failure',
      (error: unknown) => (error instanceof DomainError ? error.code : error)
    )
  const drain = async (parts: AsyncIterable<unknown>): Promise<void> => {
    for await (const part of parts) void part
  }

  it('forwards token, request id and trace, with a deadline', async () => {
    let seen: { metadata: Metadata; deadline: number } | undefined
    onGet = (got, answer) => {
      seen = { metadata: got.metadata, deadline: Number(got.getDeadline()) }
      answer(null, { record: { json: Buffer.from('{}') } })
    }
    const before = Date.now()
    const { record } = await client.get(call({ authorization: 'Bearer a', traceparent: 't' }), {
      resource: 'x',
      id: '1'
    })
    expect(record?.json.toString()).to.equal('{}')
    expect(seen?.metadata.getMap()).to.include({ authorization: 'Bearer a', 'x-request-id': 'r1', traceparent: 't' })
    expect(seen?.deadline).to.be.within(before + 9000, Date.now() + 10_000)
  })

  it('gives back the DomainError that was thrown there', async () => {
    const thrown = new DomainError('fields.invalid', 'No such field.')
    onGet = (_got, answer) => answer(toRpcStatus(thrown))
    const error: unknown = await client.get(call(), {}).catch((caught: unknown) => caught)
    expect(error).to.be.instanceOf(DomainError).and.include({ code: 'fields.invalid', message: 'No such field.' })
  })

  it('answers a read that was refused for too much work the same for its caller, without the data service', async () => {
    let asked = 0
    onGet = (_got, answer) => {
      asked += 1
      answer(toRpcStatus(new DomainError('upstream.unavailable', TOO_MANY_READS, { retryAfter: 1 })))
    }
    onWrite = onGet
    const refused = async (context: Partial<HttpContext>, id: string): Promise<number> => {
      const error: unknown = await client.get(call(context), { resource: 'x', id }).catch((caught: unknown) => caught)
      expect(error).to.include({ code: 'upstream.unavailable', message: TOO_MANY_READS, retryAfter: 1 })
      return asked
    }
    expect([
      await refused({ authorization: 'Bearer a' }, '1'),
      await refused({ authorization: 'Bearer a' }, '1')
    ]).to.deep.equal([1, 1])
    const others = [
      await refused({ authorization: 'Bearer a' }, '2'),
      await refused({ authorization: 'Bearer b' }, '1'),
      await refused({ clientAddress: '192.0.2.1' }, '1'),
      await refused({ clientAddress: '192.0.2.2' }, '1')
    ]
    expect(others).to.deep.equal([2, 3, 4, 5])
    // A write may be let in at any time.
    for (let sent = 0; sent < 2; sent++) await codeOf(client.delete(call(), { resource: 'x', id: '1' }))
    expect(asked).to.equal(7)
  })

  it('hands the parameters of a custom read on, and asks once more as for any read', async () => {
    const seen: unknown[] = []
    onRead = (got, answer) => {
      seen.push(got.request)
      if (seen.length === 1) answer({ code: status.UNAVAILABLE, details: 'going away' })
      else answer(null, { json: Buffer.from('[1]'), rowLimit: 1000, truncated: true })
    }
    const asked = { resource: 'x', name: 'ids', parameters: { from: '1,2' }, ownerParameter: '' }
    expect(await client.read(call(), asked)).to.deep.equal({
      json: Buffer.from('[1]'),
      rowLimit: 1000,
      truncated: true
    })
    expect(seen).to.have.length(2)
    for (const [at, request] of seen.entries()) expect(request, `request ${at}`).to.deep.include(asked)
  })

  it('asks once more where the transport failed, and only then', async () => {
    let calls = 0
    onGet = (_got, answer) => {
      calls += 1
      if (calls === 1) answer({ code: status.UNAVAILABLE, details: 'going away' })
      else answer(null, { record: { json: Buffer.from('{}') } })
    }
    await client.get(call(), {})
    expect(calls).to.equal(2)

    calls = 0
    onGet = (_got, answer) => {
      calls += 1
      answer({ code: status.UNAVAILABLE, details: 'away' })
    }
    expect(await codeOf(client.get(call(), {}))).to.equal('upstream.unavailable')
    expect(calls).to.equal(2)

    calls = 0
    onGet = (_got, answer) => {
      calls += 1
      answer(toRpcStatus(new DomainError('upstream.unavailable', 'The second store is away.')))
    }
    expect(await codeOf(client.get(call(), {}))).to.equal('upstream.unavailable')
    expect(calls).to.equal(1)
  })

  it('never sends a write twice', async () => {
    const writes: readonly (() => Promise<unknown>)[] = [
      () => client.create(call(), {}),
      () => client.update(call(), {}),
      () => client.delete(call(), {}),
      () => client.act(call(), {})
    ]
    for (const [at, write] of writes.entries()) {
      let calls = 0
      onWrite = (_got, answer) => {
        calls += 1
        answer({ code: status.UNAVAILABLE, details: 'going away' })
      }
      expect(await codeOf(write()), `write ${at}`).to.equal('upstream.unavailable')
      expect(calls, `write ${at}`).to.equal(1)
    }
  })

  it('carries a write over, its deadline included, and what rejected it back', async () => {
    let deadline = 0
    onWrite = (got, answer) => {
      deadline = Number(got.getDeadline())
      answer(null, { record: { json: Buffer.from('{}'), rowVersion: Buffer.from([1]) }, replayed: true })
    }
    const before = Date.now()
    const answer = await client.act(call(), { body: Buffer.from('{}') })
    expect(answer).to.deep.include({ replayed: true, ignoredMembers: [] })
    expect(answer.record?.rowVersion).to.deep.equal(Buffer.from([1]))
    expect(deadline).to.be.within(before + 9000, Date.now() + 10_000)

    onWrite = (_got, refuse) =>
      refuse(toRpcStatus(new DomainError('conflict', 'Built.', { guarded: true, title: 'T', members: { a: 1 } })))
    const error: unknown = await client.act(call(), {}).catch((caught: unknown) => caught)
    expect(error).to.deep.include({ code: 'conflict', guarded: true, title: 'T', members: { a: 1 } })
  })

  it('cancels a call that nobody waits for', async () => {
    const abandoned = new AbortController()
    const cancelled = new Promise<void>((resolve) => {
      onGet = (got) => {
        got.on('cancelled', resolve)
        abandoned.abort()
      }
    })
    const failure = codeOf(client.get(call({ signal: abandoned.signal }), {}))
    await cancelled
    expect(await failure).to.equal('upstream.bad-gateway')
  })

  it('rejects a token that cannot be carried as an invalid one, without a call', async () => {
    let calls = 0
    onGet = () => void (calls += 1)
    for (const authorization of ['Bearer é', 'Bearer a\tb', `Bearer ${'a'.repeat(9000)}`]) {
      expect(await codeOf(client.get(call({ authorization }), {})), authorization).to.equal('auth.invalid-token')
      expect(await codeOf(drain(client.export(call({ authorization }), {}))), authorization).to.equal(
        'auth.invalid-token'
      )
    }
    const large = await client.get(call({ authorization: `Bearer ${'a'.repeat(9000)}` }), {}).catch(String)
    expect(large).to.include('The header Authorization is too large: it has at most 8192 bytes.')
    expect(calls).to.equal(0)
  })

  it('cancels an export that is left', async () => {
    const cancelled = new Promise<void>((resolve) => {
      onExport = (got) => {
        got.on('cancelled', resolve)
        got.write({ header: { rowLimit: 7 } })
        got.write({ rows: { count: 1 } })
      }
    })
    for await (const part of client.export(call(), { idleTimeoutMs: 5000 })) {
      expect(part.header?.rowLimit).to.equal(7)
      break
    }
    await cancelled
  })

  it('gives an export up when nothing comes any more', async () => {
    onExport = (got) => void got.write({ header: { rowLimit: 7 } })
    expect(await codeOf(drain(client.export(call(), { idleTimeoutMs: 50 })))).to.equal('upstream.timeout')
  })

  it('fails an export with what failed it there, after the parts before', async () => {
    onExport = (got) => {
      got.write({ header: { rowLimit: 7 } })
      got.emit('error', toRpcStatus(new DomainError('conflict', 'x')))
    }
    let parts = 0
    const reading = (async () => {
      for await (const part of client.export(call(), {})) parts += part.header ? 1 : 0
    })()
    expect(await codeOf(reading)).to.equal('conflict')
    expect(parts).to.equal(1)
  })

  it('starts an export once more of which nothing but the header has come', async () => {
    let attempts = 0
    onExport = (got) => {
      attempts += 1
      got.write({ header: { rowLimit: attempts } })
      if (attempts === 1) {
        // The status of a connection that is lost has no details.
        got.emit('error', { code: status.UNAVAILABLE, details: 'Connection dropped' })
        return
      }
      got.write({ rows: { count: 5 } })
      got.write({ end: { count: 5 } })
      got.end()
    }
    const parts: unknown[] = []
    for await (const { header, rows, end } of client.export(call(), { idleTimeoutMs: 5000 })) {
      parts.push([header?.rowLimit, rows?.count, end?.count])
    }
    expect(parts).to.deep.equal([
      [2, undefined, undefined],
      [undefined, 5, undefined],
      [undefined, undefined, 5]
    ])
    expect(attempts).to.equal(2)
  })

  it('breaks an export off of which rows have come', async () => {
    let attempts = 0
    onExport = (got) => {
      attempts += 1
      got.write({ header: { rowLimit: 7 } })
      got.write({ rows: { count: 1 } })
      got.emit('error', { code: status.UNAVAILABLE, details: 'Connection dropped' })
    }
    expect(await codeOf(drain(client.export(call(), { idleTimeoutMs: 5000 })))).to.equal('upstream.unavailable')
    expect(attempts).to.equal(1)
  })

  it('tells when a connection comes into being, and again after it was lost', async () => {
    const connections = new EventTarget()
    client.onConnected(() => connections.dispatchEvent(new Event('connected')))
    await once(connections, 'connected')
    expect(client.isReachable()).to.equal(true)
    server.forceShutdown()
    const again = once(connections, 'connected')
    await serve(port)
    await again
    expect((await client.describe(new AbortController().signal)).digest).to.equal('d')
  })
})
