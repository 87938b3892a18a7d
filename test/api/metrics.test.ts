import { Metadata } from '@grpc/grpc-js'
import { expect } from 'chai'
import application from '../../examples/store/uniform-rest.config.js'
import { adminOf, growth, type Scrape, scrape, scrapedWhen } from '../harness/metrics.js'
import { request } from '../harness/http.js'
import { type Message, TypedClient } from '../harness/typed-client.js'
import { describeApi } from './api-store.js'
import { etagOf, send } from './writes/send.js'

const ROWS_OF_EXPORT = 5

describeApi(
  '/metrics',
  (store) => {
    let gateway: string
    let data: string
    let products: TypedClient
    before(async () => {
      products = new TypedClient(application, 'ProductService', store.stack.dataAddress)
      gateway = await adminOf(store.stack.gateway)
      data = await adminOf(store.stack.dataService)
    })
    after(() => products?.close())

    /** What grows on both sides while the work runs, of which the last request is the only one of its path. */
    const grown = async (
      names: readonly string[],
      work: () => Promise<unknown>
    ): Promise<Readonly<Record<string, number>>> => {
      const before = [await scrape(gateway), await scrape(data)] as const
      await work()
      const requests = (from: Scrape): number =>
        [...from].reduce((sum, [key, value]) => (key.startsWith('http_requests_total') ? sum + value : sum), 0)
      const after = await scrapedWhen(gateway, (one) => one.get('http_requests_in_flight') === 0)
      expect(requests(after)).to.be.greaterThan(requests(before[0]))
      return { ...growth(before[0], after, names), ...growth(before[1], await scrape(data), names) }
    }

    it('counts requests by route, resource, method and status, and calls by method and code', async () => {
      const counted = await grown(
        ['http_requests_total', 'http_request_duration_seconds_count', 'grpc_server_handled_total'],
        async () => {
          for (const id of [1, 2, 999_999]) await store.call(`/products/${id}`)
          await store.call('/products/1', { method: 'HEAD' })
          await store.call('/products/paged?sortColumn=nothing')
          await store.call('/nothing-of-this-name')
          await store.call('/nothing/of/this/name')
          await store.call('/%zz')
          await store.call('/products', { method: 'DELETE' })
          await send(store, 'clerk POST /products/lookup', { body: {} })
        }
      )
      expect(counted).to.deep.equal({
        'http_requests_total{method="GET",resource="products",route="/:resource/:id",status="200"}': 2,
        'http_requests_total{method="GET",resource="products",route="/:resource/:id",status="404"}': 1,
        'http_requests_total{method="HEAD",resource="products",route="/:resource/:id",status="200"}': 1,
        'http_requests_total{method="GET",resource="products",route="/:resource/paged",status="400"}': 1,
        'http_requests_total{method="GET",resource="",route="/:resource",status="404"}': 1,
        'http_requests_total{method="GET",resource="",route="none",status="404"}': 1,
        'http_requests_total{method="GET",resource="",route="none",status="400"}': 1,
        'http_requests_total{method="DELETE",resource="products",route="/:resource",status="405"}': 1,
        'http_requests_total{method="POST",resource="products",route="/:resource/lookup",status="405"}': 1,
        'http_request_duration_seconds_count{method="GET",route="/:resource/:id"}': 3,
        'http_request_duration_seconds_count{method="HEAD",route="/:resource/:id"}': 1,
        'http_request_duration_seconds_count{method="GET",route="/:resource/paged"}': 1,
        'http_request_duration_seconds_count{method="GET",route="/:resource"}': 1,
        'http_request_duration_seconds_count{method="GET",route="none"}': 2,
        'http_request_duration_seconds_count{method="DELETE",route="/:resource"}': 1,
        'http_request_duration_seconds_count{method="POST",route="/:resource/lookup"}': 1,
        'grpc_server_handled_total{grpc_code="OK",grpc_method="Get"}': 3,
        'grpc_server_handled_total{grpc_code="NotFound",grpc_method="Get"}': 1,
        'grpc_server_handled_total{grpc_code="InvalidArgument",grpc_method="Page"}': 1
      })
    })

    it('counts version conflicts and replays by resource', async () => {
      const names = ['uniform_rest_version_conflicts_total', 'uniform_rest_idempotent_replays_total']
      const counted = await grown(names, async () => {
        const body = { name: 'Counted', sku: 'COUNTED-1', categoryId: 1, price: '1.00' }
        const made = await send(store, 'clerk POST /products', { body, key: 'counted-1' })
        expect(made.status, made.text).to.equal(201)
        for (let n = 0; n < 2; n++) {
          const again = await send(store, 'clerk POST /products', { body, key: 'counted-1' })
          expect(again.headers['idempotent-replayed']).to.equal('true')
        }
        const typed = {
          product: { name: 'Counted', sku: 'COUNTED-2', category_id: 1, price: '1.00' },
          idempotency_key: 'counted-2'
        }
        const token = await store.stack.token('clerk@example.com')
        const replays: unknown[] = []
        for (let n = 0; n < 2; n++) replays.push((await products.call('CreateProduct', typed, token))['replayed'])
        expect(replays).to.deep.equal([false, true])
        const path = String(made.headers.location).replace(store.url, '')
        const change = { body: { ...body, isActive: true }, ifMatch: etagOf(made) }
        expect((await send(store, `clerk PUT ${path}`, change)).status).to.equal(200)
        expect((await send(store, `clerk PUT ${path}`, change)).status).to.equal(412)
      })
      expect(counted).to.deep.equal({
        'uniform_rest_version_conflicts_total{resource="products"}': 1,
        'uniform_rest_idempotent_replays_total{resource="products"}': 3
      })
    })

    it('counts log-ins by outcome', async () => {
      const login = (password: string): Promise<unknown> =>
        send(store, '- POST /auth/login', { body: { email: 'ada@example.com', password } })
      const counted = await grown(['uniform_rest_logins_total'], async () => {
        await login('demo-password')
        await login('another password')
        await login('')
      })
      expect(counted).to.deep.equal({
        'uniform_rest_logins_total{outcome="ok",way="password"}': 1,
        'uniform_rest_logins_total{outcome="failed",way="password"}': 2
      })
    })

    it('counts rows of exports, and exports that leave rows out', async () => {
      const names = [
        'uniform_rest_export_rows_total',
        'uniform_rest_exports_truncated_total',
        'grpc_server_handled_total'
      ]
      const counted = await grown(names, async () => {
        await store.call('/products/export')
        await store.call('/products/export?filters[id].operator=equals&filters[id].value=1')
        await store.call('/products/export?sortColumn=nothing')
        const parts: Message[] = []
        const options = { deadline: Date.now() + 20_000 }
        for await (const part of products.methods['ExportProducts']?.({}, new Metadata(), options) ?? [])
          parts.push(part)
        expect(parts.at(-1)).to.deep.equal({ end: { count: ROWS_OF_EXPORT, truncated: true } })
      })
      expect(counted).to.deep.equal({
        'uniform_rest_export_rows_total{resource="products"}': 2 * ROWS_OF_EXPORT + 1,
        'uniform_rest_exports_truncated_total{resource="products"}': 2,
        'grpc_server_handled_total{grpc_code="OK",grpc_method="Export"}': 3,
        'grpc_server_handled_total{grpc_code="InvalidArgument",grpc_method="Export"}': 1
      })
    })

    it('counts texts of statements that were kept, and those that were written', async () => {
      const names = ['uniform_rest_statement_cache_hits_total', 'uniform_rest_statement_cache_misses_total']
      const [hits = '', misses = ''] = names
      const page = (): Promise<unknown> =>
        store.call('/products/paged?includeTotal=false&sortColumn=price&fields=name,barcode')
      expect(await grown(names, page)).to.deep.equal({ [misses]: 1 })
      expect(await grown(names, page)).to.deep.equal({ [hits]: 1 })
    })

    // SQLite has no pools.
    const itOfPools = store.kind === 'mysql' ? it : () => undefined
    itOfPools('tells what is open, and forgets nothing of what has ended', async () => {
      await store.call('/products/1')
      const inUse = 'uniform_rest_database_connections{pool="primary",state="in_use"}'
      const [http, rpc] = [
        await scrapedWhen(gateway, (one) => one.get('http_requests_in_flight') === 0),
        // A purge may have a connection at this moment.
        await scrapedWhen(data, (one) => one.get(inUse) === 0)
      ]
      const address = store.stack.dataAddress
      expect(http.get(`uniform_rest_data_service_serving{address="${address}"}`)).to.equal(1)
      expect(http.get(`uniform_rest_data_service_calls_in_flight{address="${address}"}`)).to.equal(0)
      expect(http.get(`uniform_rest_data_service_calls_waiting{address="${address}"}`)).to.equal(0)
      const streams = http.get(`uniform_rest_data_service_streams_open{address="${address}"}`)
      expect(rpc.get('uniform_rest_call_streams_open')).to.equal(streams)
      expect(http.get('http_connections_open')).to.be.within(1, 8)
      expect(rpc.get('uniform_rest_database_serving')).to.equal(1)
      expect(rpc.get('uniform_rest_exports_running')).to.equal(0)
      expect(rpc.get('uniform_rest_calls_in_flight{grpc_method="Get"}')).to.equal(0)
      const pools = [...rpc].filter(([key]) => key.startsWith('uniform_rest_database_connections_max'))
      const expected = { primary: 10, second: 10, logins: 5 }
      expect(Object.fromEntries(pools)).to.deep.equal(
        Object.fromEntries(
          Object.entries(expected).map(([pool, max]) => [`uniform_rest_database_connections_max{pool="${pool}"}`, max])
        )
      )
      expect(rpc.get(inUse)).to.equal(0)
    })

    it('is of the admin port alone, and as its other pages', async () => {
      expect((await store.call('/metrics')).status).to.equal(404)
      const head = await request(`${gateway}/metrics`, { method: 'HEAD' })
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0])
      const post = await request(`${data}/metrics`, { method: 'POST' })
      expect([post.status, post.header('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
    })

    it('has no label that a client could choose', async () => {
      const chosen = 'x'.repeat(30)
      await store.call(`/${chosen}/${chosen}?${chosen}=${chosen}`, { headers: { 'x-request-id': chosen } })
      await store.call(`/products/${chosen}`, { token: chosen })
      for (const admin of [gateway, data]) {
        expect((await request(`${admin}/metrics`)).text).not.to.include(chosen)
      }
    })
  },
  {
    never: ['cuts', 'document'],
    rows: 'sample',
    on: 'mysql',
    env: () => ({ ADMIN_PORT: '0', MAX_EXPORT_ROWS: String(ROWS_OF_EXPORT) })
  }
)
