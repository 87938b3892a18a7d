import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { call } from '../stack/http-call.js'
import { startGatewayHere } from '../stack/in-process.js'
import type { LogEntry, Server } from '../stack/server-log.js'
import { describeApi } from './api-store.js'
import { type Answer, json } from './http-call.js'
import { etagOf, send, type Write } from './writes/send.js'

const APP = 'https://app.example.com'
const SHORTENED = 16

/** As docs/trail.md says, with a shell: of the issuer, a line feed and the address. */
function accountOf(email: string): string {
  return createHash('sha256').update(`uniform-rest\n${email}`).digest('hex').slice(0, SHORTENED)
}

/** A line without what differs from run to run. */
function withoutTimes({ time, pid, hostname, durationMs, ...line }: LogEntry): LogEntry {
  expect([typeof time, typeof pid, typeof hostname]).to.deep.equal(['string', 'number', 'string'])
  expect(durationMs).to.be.a('number').and.be.greaterThan(0)
  return line
}

describeApi(
  'a request that is watched',
  (store) => {
    const lineOf = async (process: Server, msg: string, requestId: string): Promise<LogEntry> =>
      withoutTimes(await process.logged((one) => one['msg'] === msg && one['requestId'] === requestId))

    /** Sends a request with an id of its own, and answers what both processes say of it. */
    let count = 0
    const logged = async (
      line: string,
      write: Write = {}
    ): Promise<{ readonly answer: Answer; readonly http: LogEntry; readonly rpc: () => Promise<LogEntry> }> => {
      const requestId = `line-${++count}`
      const answer = await send(store, line, { ...write, headers: { ...write.headers, 'x-request-id': requestId } })
      const http = await lineOf(store.stack.gateway, 'request', requestId)
      expect(http['requestId']).to.equal(requestId)
      return { answer, http, rpc: () => lineOf(store.stack.dataService, 'call', requestId) }
    }

    const OF_GATEWAY = { level: 'info', name: 'gateway', msg: 'request' }
    const OF_DATA = { level: 'info', name: 'data-service', msg: 'call' }
    const account = accountOf('clerk@example.com')

    it('does not tell the value that a path names its row by', async () => {
      for (const line of [
        'ada GET /customers/by/email/c1%40example.com',
        'ada GET /customers/by/email/nobody%40example.com',
        'clerk PUT /products/by/sku/secret-sku',
        '- POST /products/by/sku/secret-sku',
        'clerk GET /nothing/by/email/c1%40example.com'
      ]) {
        const { http } = await logged(line)
        const [, , target = ''] = line.split(' ')
        expect(http['path'], line).to.equal(`${target.slice(0, target.lastIndexOf('/'))}/*`)
      }
    })

    it('is one line of each process, with caller, resource, status and time under the same names', async () => {
      const { http, rpc } = await logged('clerk GET /products/1?fields=name')
      const requestId = `line-${count}`
      expect(http).to.deep.equal({
        ...OF_GATEWAY,
        requestId,
        account,
        method: 'GET',
        path: '/products/1',
        route: '/:resource/:id',
        resource: 'products',
        status: 200
      })
      expect(await rpc()).to.deep.equal({
        ...OF_DATA,
        requestId,
        account,
        rpc: 'Get',
        resource: 'products',
        status: 'OK'
      })
    })

    it('that is rejected has the code of its error in both', async () => {
      const { http, rpc } = await logged('- GET /products/999999')
      const requestId = `line-${count}`
      expect(http).to.deep.equal({
        ...OF_GATEWAY,
        requestId,
        method: 'GET',
        path: '/products/999999',
        route: '/:resource/:id',
        resource: 'products',
        status: 404,
        code: 'not-found'
      })
      expect(await rpc()).to.deep.equal({
        ...OF_DATA,
        requestId,
        rpc: 'Get',
        resource: 'products',
        status: 'NOT_FOUND',
        code: 'not-found'
      })
    })

    it('that loses to another write, and one of an export, have them too', async () => {
      const row = await store.as('clerk', '/products/2')
      const { name, sku, categoryId } = json(row) as Readonly<Record<string, unknown>>
      const body = { name, sku, categoryId, price: '5.00', isActive: true }
      const change = { body, ifMatch: etagOf(row) }
      expect((await logged('clerk PUT /products/2', change)).answer.status).to.equal(200)
      const stale = await logged('clerk PUT /products/2', change)
      expect(stale.http).to.include({ account, route: '/:resource/:id', status: 412, code: 'conflict' })
      expect(await stale.rpc()).to.include({ account, rpc: 'Update', status: 'FAILED_PRECONDITION', code: 'conflict' })
      const csv = await logged('clerk GET /categories/export')
      expect(csv.http).to.include({ account, route: '/:resource/export', resource: 'categories', status: 200 })
      expect(await csv.rpc()).to.include({ account, rpc: 'Export', resource: 'categories', status: 'OK' })
      const login = { body: { email: 'ada@example.com', password: 'demo-password' } }
      const { http, rpc } = await logged('- POST /auth/login', login)
      expect(http).to.include({ route: '/auth/login', status: 200 }).and.not.to.have.any.keys('account', 'resource')
      expect(await rpc())
        .to.include({ rpc: 'Login', status: 'OK' })
        .and.not.to.have.any.keys('account', 'resource')
    })

    it('with a token that no data service has found valid names no account', async () => {
      const token = await store.stack.token('admin@example.com')
      const forged = `${token.slice(0, -10)}${token.endsWith('A') ? 'B' : 'A'.repeat(10)}`
      const headers = { authorization: `Bearer ${forged}` }
      const read = await logged('- GET /products/1', { headers })
      expect(read.http).to.include({ status: 401, code: 'auth.invalid-token' }).and.not.to.have.property('account')
      expect(await read.rpc())
        .to.include({ status: 'UNAUTHENTICATED', code: 'auth.invalid-token' })
        .and.not.to.have.property('account')
      const write = await logged('- POST /products', { headers, body: {}, key: 'no key, with blanks' })
      expect(write.http)
        .to.include({ status: 400, code: 'idempotency.key.invalid' })
        .and.not.to.have.property('account')
    })

    it('for what there is not names no resource, whoever calls', async () => {
      const { http } = await logged('clerk GET /no-such-resource/1')
      expect(http).to.include({ route: '/:resource/:id', status: 404, code: 'route.not-found' })
      expect(http).not.to.have.property('resource')
      const caller = new GrpcCaller(store.stack.dataAddress)
      await caller.unary('Get', { resource: 'no-such-resource', id: '1' }, { requestId: 'called-1' })
      caller.close()
      const line = await lineOf(store.stack.dataService, 'call', 'called-1')
      expect(line).to.include({ rpc: 'Get', code: 'route.not-found' }).and.not.to.have.property('resource')
    })

    it('A statement of a request is not logged without LOG_SQL.', async () => {
      const { rpc } = await logged('clerk GET /products/3')
      await rpc()
      expect(store.stack.dataService.logs().filter(({ msg }) => msg === 'sql')).to.deep.equal([])
    })

    const METRIC = /^(total|data|sql);dur=(\d+\.\d{3})$/
    const timesOf = ({ headers }: Answer): Readonly<Record<string, number>> => {
      const metrics = String(headers['server-timing']).split(', ')
      return Object.fromEntries(
        metrics.map((metric) => {
          const [, name = metric, milliseconds] = METRIC.exec(metric) ?? []
          return [name, Number(milliseconds)]
        })
      )
    }

    for (const [what, line, hasStatements] of [
      ['a row', 'clerk GET /products/1', true],
      ['a page', 'clerk GET /products/paged', true],
      ['an export, whose rows are read later', 'clerk GET /products/export', undefined],
      ['a row that is not there', 'clerk GET /products/999999', true],
      ['a page that is rejected', 'clerk GET /products/paged?sortColumn=nothing', false],
      ['an export that is rejected', 'clerk GET /products/export?sortColumn=nothing', false]
    ] as const) {
      it(`tells its times with the head of ${what}: in all, in the data service, in SQL`, async () => {
        const times = timesOf(await send(store, line))
        expect(Object.keys(times)).to.deep.equal(['total', 'data', 'sql'])
        const { total = 0, data = 0, sql = 0 } = times
        expect(total).to.be.greaterThan(data)
        expect(data).to.be.greaterThan(sql)
        if (hasStatements === true) expect(sql).to.be.greaterThan(0)
        if (hasStatements === false) expect(sql).to.equal(0)
      })
    }

    it('that needs no data service tells its own time alone', async () => {
      for (const line of ['- GET /health/live', 'clerk OPTIONS /products', '- GET /nothing/of/this/name']) {
        expect(Object.keys(timesOf(await send(store, line))), line).to.deep.equal(['total'])
      }
    })

    it('of several that became one statement tells its time to each', async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, n) => send(store, `clerk GET /products/${n + 1}`))
      )
      for (const answer of answers) expect(timesOf(answer)['sql']).to.be.greaterThan(0)
    })

    it('shows its times to scripts of origins that may read it, and to no others', async () => {
      const allowed = await store.call('/products/1', { headers: { origin: APP } })
      expect(allowed.headers['timing-allow-origin']).to.equal(APP)
      expect(String(allowed.headers['access-control-expose-headers']).split(', ')).to.include('Server-Timing')
      const other = await store.call('/products/1', { headers: { origin: 'https://other.example.com' } })
      expect(other.headers).not.to.have.any.keys('timing-allow-origin', 'access-control-expose-headers')
    })

    it('tells its times over unary calls too, and nowhere without the setting', async () => {
      const env = { ...store.stack.env, DATA_SERVICE_ADDRESS: store.stack.dataAddress, GATEWAY_PORT: '0' }
      const unary = await startGatewayHere({ ...env, DATA_SERVICE_CALLS: 'unary' })
      const silent = await startGatewayHere({ ...env, SERVER_TIMING: '' })
      try {
        const token = await store.stack.token('clerk@example.com')
        const url = unary.address
        for (const path of ['/products/1', '/products/export', '/products/999999', '/products/export?sortColumn=no']) {
          expect(Object.keys(timesOf(await call(url, path, { token }))), path).to.deep.equal(['total', 'data', 'sql'])
        }
        const { status, headers } = await call(silent.address, '/products/1', { token })
        expect([status, headers['server-timing']]).to.deep.equal([200, undefined])
      } finally {
        await unary.server.stop()
        await silent.server.stop()
      }
    })
  },
  // No database has a part in it.
  { rows: 'sample', on: 'sqlite', never: ['cuts'], env: () => ({ SERVER_TIMING: 'true', CORS_ORIGINS: APP }) }
)
