import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import type { HttpContext } from '../../gateway/data/calls.js'
import { grpcDataClient } from '../../gateway/data/data-client.js'
import { ReplicaPool } from '../../gateway/data/replica-pool.js'
import { NEVER } from '../../shared/transport/cancellation.js'
import { Collector, type ExportedSpan } from '../harness/collector.js'
import { gatewayPool } from '../harness/gateway-pool.js'
import { eachDatabase } from '../harness/database.js'
import { ApiStore, describeApi } from './api-store.js'
import { filter } from './http-call.js'
import { send } from './writes/send.js'

const [SERVER, CLIENT] = [2, 3]
const VALUE = 'valueofafilter'
const HEADER = 'valueofaheader'
const SECRET = 'secret-of-the-gateway-in-this-test'

const hex = (bytes: number): string => randomBytes(bytes).toString('hex')

eachDatabase((kind) => {
  describe(`traces on ${kind}`, () => {
    const store = new ApiStore(kind)
    let collector: Collector
    before(async () => {
      collector = await Collector.start()
      await store.start({
        rows: 'sample',
        env: () => ({
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
          OTEL_EXPORTER_OTLP_HEADERS: `authorization=${HEADER}`,
          OTEL_BSP_SCHEDULE_DELAY: '20',
          // Whose decision to keep a trace holds.
          TRUSTED_PROXIES: '127.0.0.1',
          GATEWAY_SECRET: SECRET
        })
      })
    })
    after(async () => {
      await store.stop()
      await collector?.[Symbol.asyncDispose]()
    })

    /** A request within a trace of its own: its answer, and all spans of the trace, the gateway's first. */
    const traced = async (
      line: string,
      rpc: string,
      write: Parameters<typeof send>[2] = {}
    ): Promise<{ readonly span: string; readonly spans: readonly ExportedSpan[]; readonly echoed: unknown }> => {
      const [trace, span] = [hex(16), hex(8)]
      const headers = { ...write.headers, traceparent: `00-${trace}-${span}-01` }
      const answer = await send(store, line, { ...write, headers })
      const names = ['gateway', 'data-service']
      // The statements of a call end before the call, so an export that has the call has them.
      const spans = await collector.trace(trace, (found) =>
        names.every((name) => found.some(({ service, kind: of }) => service === name && of === SERVER))
      )
      expect(spans.filter(({ kind: of }) => of === SERVER).map(({ name }) => name)).to.include(rpc)
      return { span, spans, echoed: answer.headers['traceparent'] }
    }

    const pathOfPage = `/products/paged?pageSize=2&sortColumn=name&${filter('name', 'contains', VALUE)}`

    it('of a page are a span of the gateway, one of the data service and one of each statement', async () => {
      const { span, spans, echoed } = await traced(`clerk GET ${pathOfPage}`, 'Page', {
        headers: { 'x-request-id': 'traced-1' }
      })
      const [gateway, ...otherGateways] = spans.filter(({ service }) => service === 'gateway')
      const [data, ...otherData] = spans.filter((one) => one.service === 'data-service' && one.kind === SERVER)
      const statements = spans.filter((one) => one.service === 'data-service' && one.kind === CLIENT)
      if (gateway === undefined || data === undefined) throw new Error('a span is missing')
      expect([otherGateways, otherData]).to.deep.equal([[], []])
      expect(echoed).to.equal(`00-${gateway.traceId}-${gateway.spanId}-01`)
      expect(gateway).to.deep.include({
        parentSpanId: span,
        name: 'GET /:resource/paged',
        kind: SERVER,
        links: [],
        status: 0
      })
      expect(gateway.attributes).to.deep.equal({
        'http.request.method': 'GET',
        'http.route': '/:resource/paged',
        'http.response.status_code': 200,
        'uniform_rest.resource': 'products',
        'uniform_rest.request_id': 'traced-1'
      })
      expect(data).to.deep.include({ parentSpanId: gateway.spanId, name: 'Page', links: [], status: 0 })
      expect(data.attributes).to.deep.equal({
        'rpc.system': 'grpc',
        'rpc.method': 'Page',
        'rpc.grpc.status_code': 0,
        'uniform_rest.request_id': 'traced-1'
      })
      // Rows and total are one statement.
      expect(statements).to.have.length(1)
      for (const one of statements) {
        expect(one).to.deep.include({ parentSpanId: data.spanId, name: 'SELECT products', links: [], status: 0 })
        const { 'db.query.text': text, ...others } = one.attributes
        expect(others).to.deep.equal({
          'db.system.name': kind === 'sqlite' ? 'sqlite' : 'mariadb',
          'db.operation.name': 'SELECT',
          'db.collection.name': 'products'
        })
        expect(text).to.match(/^SELECT .* FROM `products` .*\?/s)
      }
    })

    it('of a write are a span of each statement of its transaction, in the call', async () => {
      const body = { name: VALUE, sku: `T-${hex(4)}`, categoryId: 1, price: '1.00' }
      const { spans } = await traced('clerk POST /products', 'Create', { body, key: VALUE })
      const [call] = spans.filter(({ name }) => name === 'Create')
      const statements = spans.filter((one) => one.kind === CLIENT)
      expect(statements.map(({ name }) => name)).to.include('INSERT products')
      expect(new Set(statements.map(({ parentSpanId }) => parentSpanId))).to.deep.equal(new Set([call?.spanId]))
    })

    it('of an export are a span of each statement, in the call', async () => {
      const { spans } = await traced('clerk GET /categories/export', 'Export')
      const [call] = spans.filter(({ name }) => name === 'Export')
      const selects = spans.filter((one) => one.kind === CLIENT && one.name === 'SELECT categories')
      expect(selects).to.not.be.empty
      expect(new Set(selects.map(({ parentSpanId }) => parentSpanId))).to.deep.equal(new Set([call?.spanId]))
    })

    it('tell what failed by a word, and not what was rejected', async () => {
      const { spans } = await traced('clerk GET /products/999999', 'Get')
      const statuses = spans.filter((one) => one.kind === SERVER).map(({ service, status }) => [service, status])
      expect(Object.fromEntries(statuses)).to.deep.equal({ gateway: 0, 'data-service': 0 })
      const [gateway] = spans.filter(({ service }) => service === 'gateway')
      expect(gateway?.attributes['http.response.status_code']).to.equal(404)
    })

    it('of reads that became one statement are each the parent of it, or linked', async () => {
      const calls = await Promise.all(
        Array.from({ length: 16 }, (_, n) => traced(`clerk GET /products/${n + 1}`, 'Get'))
      )
      const statements = collector.spans.filter(({ kind: of }) => of === CLIENT)
      for (const { spans } of calls) {
        const [call] = spans.filter(({ name }) => name === 'Get')
        const of = statements.filter(
          ({ parentSpanId, links }) => parentSpanId === call?.spanId || links.includes(String(call?.spanId))
        )
        expect(of.map(({ name }) => name)).to.deep.equal(['SELECT products'])
      }
    })

    it('of reads that became one statement are a span of the first one, with a link to each other', async () => {
      // Past the gateway: what is asked for in one tick goes in one message, and is one statement.
      const pool = await gatewayPool(store.stack.dataAddress, SECRET)
      const data = grpcDataClient(pool)
      const contextIn = (trace: string): HttpContext => ({
        authorization: undefined,
        requestId: `in-${trace}`,
        traceparent: `00-${trace}-${hex(8)}-01`,
        signal: NEVER
      })
      // Until the stream is open calls go one by one.
      while (!pool.states().some(({ hasStream }) => hasStream)) {
        await data.get(contextIn(hex(16)), { resource: 'products', id: '1' })
      }
      const traces = Array.from({ length: 16 }, () => hex(16))
      await Promise.all(
        traces.map((trace, n) => data.get(contextIn(trace), { resource: 'products', id: String(n + 1) }))
      )
      pool.close()
      const calls: ExportedSpan[] = []
      for (const trace of traces) {
        const spans = await collector.trace(trace, (found) => found.some(({ kind: of }) => of === SERVER))
        calls.push(...spans.filter(({ kind: of }) => of === SERVER))
      }
      const statements = collector.spans.filter(({ kind: of, traceId }) => of === CLIENT && traces.includes(traceId))
      const [first, ...others] = calls.map(({ spanId }) => spanId)
      expect(statements.map(({ name, parentSpanId, links }) => ({ name, parentSpanId, links }))).to.deep.equal([
        { name: 'SELECT products', parentSpanId: first, links: others }
      ])
    })

    it('begin here without a caller who says so, and are not made where the caller keeps none', async () => {
      const first = await store.call('/products/1', { headers: { 'x-request-id': 'begun-here' } })
      expect(first.headers).not.to.have.property('traceparent')
      const unkept = hex(16)
      const second = await store.call('/products/2', { headers: { traceparent: `00-${unkept}-${hex(8)}-00` } })
      expect(second.headers['traceparent']).to.match(new RegExp(`^00-${unkept}-[0-9a-f]{16}-00$`))
      // What is exported after them shows that they have been, or never will be.
      await traced('clerk GET /products/3', 'Get')
      const begun = collector.spans.filter(({ attributes }) => attributes['uniform_rest.request_id'] === 'begun-here')
      expect(begun.map(({ service }) => service)).to.have.members(['gateway', 'data-service'])
      const [gateway, data] = begun.toSorted((one, other) => (String(one.service) < String(other.service) ? 1 : -1))
      expect(data).to.include({ traceId: gateway?.traceId, parentSpanId: gateway?.spanId })
      expect(gateway?.parentSpanId).to.equal('')
      expect(collector.spans.filter(({ traceId }) => traceId === unkept)).to.deep.equal([])
    })

    it('of calls that no gateway makes are kept by the share of the data service, whatever their callers say', async () => {
      const pool = new ReplicaPool({ addresses: [store.stack.dataAddress] })
      const trace = hex(16)
      const traceparent = `00-${trace}-${hex(8)}-00`
      const call: HttpContext = { authorization: undefined, requestId: 'direct', traceparent, signal: NEVER }
      await grpcDataClient(pool).get(call, { resource: 'products', id: '1' })
      pool.close()
      const spans = await collector.trace(trace, (found) => found.some(({ kind: of }) => of === SERVER))
      expect(spans.map(({ service }) => service)).to.include('data-service')
    })

    it('hold no value, token, body or path', async () => {
      const token = await store.stack.token('clerk@example.com')
      await traced(`clerk GET ${pathOfPage}`, 'Page')
      const all = collector.texts.join('\n')
      expect(all).to.include('SELECT')
      for (const secret of [VALUE, HEADER, token, token.split('.')[2] ?? token, 'clerk', 'products/3']) {
        expect(all).not.to.include(secret)
      }
      expect(new Set(collector.headers.map(({ authorization }) => authorization))).to.deep.equal(new Set([HEADER]))
    })
  })
})

for (const [share, kept] of [
  ['0', '00'],
  ['1', '01']
] as const) {
  describeApi(
    `traces of clients that are no trusted proxy, of which ${share} are kept`,
    (store) => {
      it('stay in the trace of the client, and are kept by the share of the gateway', async () => {
        for (const flags of ['00', '01']) {
          const trace = hex(16)
          const headers = { traceparent: `00-${trace}-${hex(8)}-${flags}` }
          const answer = await store.call('/products/1', { headers })
          expect(answer.headers['traceparent'], flags).to.match(new RegExp(`^00-${trace}-[0-9a-f]{16}-${kept}$`))
        }
      })
    },
    {
      on: 'sqlite',
      env: () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_TRACES_SAMPLER_ARG: share })
    }
  )
}
