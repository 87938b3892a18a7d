import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import type { Answer, CallOptions } from '../http-call.js'
import { changesNothing } from '../writes/stored.js'
import { Agent } from './agent.js'

const MCP = '/mcp'
const METADATA = '/.well-known/oauth-protected-resource/mcp'
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const message = (method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const LIST = message('tools/list')
const QUERY = message('tools/call', { name: 'query_rows', arguments: { resource: 'products' } })

describeApi(
  'messages of agents, with tools that read',
  (store) => {
    const post = (body: string, options: CallOptions = {}): Promise<Answer> =>
      store.call(MCP, { method: 'POST', ...options, headers: { ...JSON_HEADERS, ...options.headers }, body })
    const asClerk = async (body: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
      post(body, { token: await store.stack.token('clerk@example.com'), headers })

    it('need a token that is good, and the challenge names the metadata of RFC 9728', async () => {
      const metadata = `resource_metadata="${store.url}${METADATA}"`
      const wrong = message('tools/call', { name: 'query_rows', arguments: { resource: 7 } })
      const nowhere = QUERY.replace('products', 'nothing')
      const unknown = QUERY.replace('query_rows', 'nothing')
      for (const body of [
        LIST,
        QUERY,
        wrong,
        nowhere,
        unknown,
        message('initialize'),
        message('ping'),
        message('notifications/initialized')
      ]) {
        const none = await post(body)
        store.problem(none, { status: 401, code: 'auth.required' })
        expect(none.headers['www-authenticate']).to.equal(`Bearer ${metadata}`)
        const bad = await post(body, { token: 'eyJhbGciOiJub25lIn0.e30.' })
        store.problem(bad, { status: 401, code: 'auth.invalid-token' })
        expect(bad.headers['www-authenticate']).to.equal(`Bearer error="invalid_token", ${metadata}`)
      }
      // What takes long to judge is not judged for who has no good token.
      for (const body of [`{"${'x'.repeat(5000)}`, `[${LIST}${' '.repeat(5000)}]`]) {
        const answer = await post(body, { token: 'eyJhbGciOiJub25lIn0.e30.' })
        store.problem(answer, { status: 401, code: 'auth.invalid-token' })
        expect((await asClerk(body)).status).to.equal(400)
      }
      const { status, text } = await store.call(METADATA)
      expect([status, JSON.parse(text)]).to.deep.equal([
        200,
        { resource: `${store.url}${MCP}`, bearer_methods_supported: ['header'], resource_name: 'uniform-rest' }
      ])
    })

    it('take no session of a browser, and none of a page of another origin', async () => {
      const token = await store.stack.token('clerk@example.com')
      const cookie = `app_auth_access=${token}`
      store.problem(await post(LIST, { headers: { cookie } }), { status: 401, code: 'auth.required' })
      for (const origin of ['https://evil.example', 'null', store.url.replace('127.0.0.1', 'rebound.example')]) {
        store.problem(await asClerk(LIST, { origin }), { status: 403, code: 'request.cross-site' })
      }
      for (const origin of [store.url, 'https://agents.example']) {
        expect((await asClerk(LIST, { origin })).status, origin).to.equal(200)
      }
    })

    it('are posted, as JSON of at most what every body may have', async () => {
      const token = await store.stack.token('clerk@example.com')
      for (const method of ['GET', 'DELETE', 'PUT']) {
        const answer = await store.call(MCP, { method, token })
        store.problem(answer, { status: 405, code: 'method.not-allowed' })
        expect(String(answer.headers['allow']).split(', ')).to.include('POST')
      }
      const plain = await asClerk(LIST, { 'content-type': 'text/plain' })
      store.problem(plain, { status: 415, code: 'media-type.unsupported' })
      store.problem(await asClerk('{'), { status: 400, code: 'body.malformed' })
      store.problem(await asClerk(`"${'x'.repeat(1024 * 1024)}"`), { status: 413, code: 'body.too-large' })
    })

    it('that a reader of JSON would change are refused', async () => {
      const withNumber = (number: string): Promise<Answer> =>
        asClerk(
          QUERY.replace('"products"', `"products","filters":[{"property":"id","operator":"eq","value":${number}}]`)
        )
      for (const number of ['9007199254740993', '0.1234567890123456789', '12345678901234567890', '1e400', '1e-400']) {
        store.problem(await withNumber(number), { status: 400, code: 'body.invalid' })
      }
      const member = (text: string): Promise<Answer> => asClerk(QUERY.replace('"products"', `"products",${text}`))
      for (const text of [
        '"limit":1,"limit":2',
        '"limit":1,"l\\u0069mit":2',
        '"search":"\\ud800"',
        '"search":"\\udfff a"'
      ]) {
        store.problem(await member(text), { status: 400, code: 'body.invalid' })
      }
      expect((await member('"search":"\\ud83c\\udf88 \\" \\\\","fields":["id"]')).status).to.equal(200)
      for (const number of ['1', '9007199254740991', '1.0000000000000000000', '1e2']) {
        expect((await withNumber(number)).status, number).to.equal(200)
      }
    })

    it('reach no tool that writes', async () => {
      const agent = await Agent.connect(store, 'clerk')
      try {
        const { tools } = await agent.client.listTools()
        expect(tools.map(({ name }) => name)).to.deep.equal([
          'describe_resources',
          'query_rows',
          'get_row',
          'total_rows'
        ])
        const { row } = (await agent.call('get_row', { resource: 'products', id: 1 })).json as {
          row: { rowVersion: string }
        }
        const sent = {
          resource: 'products',
          id: 1,
          rowVersion: row.rowVersion,
          values: { price: '1.00' },
          action: 'unpublish'
        }
        for (const name of ['create_row', 'update_row', 'delete_row', 'run_action', 'nope']) {
          const failed = await changesNothing(store, () => agent.call(name, sent).catch((error: unknown) => error))
          expect(failed, name).to.include({ code: -32_602 })
        }
      } finally {
        await agent.close()
      }
    })

    it('keep no stream open', async () => {
      const listen = await asClerk(message('subscriptions/listen', { notifications: { toolsListChanged: true } }))
      expect(listen.text).to.include('"error"')
    })

    it('of a revision that nobody knows, or without one, are answered within the protocol', async () => {
      const initialize = message('initialize', {
        protocolVersion: '2031-01-01',
        capabilities: {},
        clientInfo: { name: 'x', version: '1' }
      })
      expect((await asClerk(initialize)).text).to.match(/"protocolVersion":"2025-11-25"/)
      for (const several of ['[]', `[${LIST}]`, `[${QUERY},${QUERY}]`]) {
        store.problem(await asClerk(several), { status: 400, code: 'body.invalid' })
      }
      expect((await asClerk('{"method":7}')).status).to.equal(400)
    })
  },
  { on: 'sqlite', env: () => ({ MCP: 'read', CORS_ORIGINS: 'https://agents.example' }) }
)

describeApi(
  'a gateway without MCP',
  (store) => {
    it('has nothing at /mcp', async () => {
      const token = await store.stack.token('clerk@example.com')
      for (const [target, method] of [
        [MCP, 'POST'],
        [METADATA, 'GET']
      ] as const) {
        const answer = await store.call(target, {
          method,
          token,
          headers: JSON_HEADERS,
          ...(method === 'POST' && { body: LIST })
        })
        store.problem(answer, { status: 404, code: 'route.not-found' })
      }
    })
  },
  { on: 'sqlite' }
)
