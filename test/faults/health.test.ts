import { randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { exchange, request, type HttpAnswer } from '../harness/http.js'
import type { Server } from '../stack/server-log.js'
import { GATEWAY, listening, startProcess } from '../stack/service-process.js'
import { listenLocally } from '../harness/local-server.js'
import { type Stack, startStack } from '../harness/stack.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { startPrivateServer, type PrivateServer } from '../runner/database-server.js'
import { freePort } from '../runner/free-port.js'

describe('health', () => {
  let server: PrivateServer
  let databaseUrl: string
  let stack: Stack
  /** Bases of the admin ports of both processes, and the gateway's public one. */
  let data: string
  let admin: string
  let everywhere: readonly string[]

  const adminOf = async (service: Server): Promise<string> => {
    const { port } = await service.logged(({ msg }) => msg === 'health is told on the admin port')
    return `http://127.0.0.1:${String(port)}`
  }
  before(async () => {
    // The server of TEST_MYSQL_URL is others' as well: this one has to be our own.
    server = await startPrivateServer()
    const name = `health_${randomBytes(4).toString('hex')}`
    await withTestDatabase(`${server.url}/mysql`, async (database) => {
      for (const one of [name, `${name}_reviews`]) await database.run(`CREATE DATABASE ${one} CHARACTER SET utf8mb4`)
    })
    databaseUrl = `${server.url}/${name}`
    const database = { url: databaseUrl, reviewsUrl: `${server.url}/${name}_reviews` }
    stack = await startStack({ database, env: { SAMPLE_DATA: 'false', ADMIN_PORT: '0' } })
    data = await adminOf(stack.dataService)
    admin = await adminOf(stack.gateway)
    everywhere = [data, admin, stack.url]
  })
  after(async () => {
    await server?.thaw()
    await stack?.stop()
    await server?.stop()
  })

  const settled = async (status: number): Promise<void> => {
    for (const base of everywhere) {
      let answer: HttpAnswer
      do answer = await request(`${base}/health/ready`)
      while (answer.status !== status && (await sleep(20, true)))
    }
  }
  const rejected = async (base: string): Promise<void> => {
    for (const path of ['/health', '/health/ready']) {
      const answer = await request(base + path)
      expect(answer.header('content-type'), base).to.equal('application/problem+json')
      expect(answer.header('retry-after'), base).to.match(/^[1-9]\d*$/)
      const members = { status: 503, code: 'upstream.unavailable', instance: path }
      expect(answer.json(), base)
        .to.include(members)
        .and.have.keys('type', 'title', 'detail', 'requestId', ...Object.keys(members))
      const head = await request(base + path, { method: 'HEAD' })
      expect([head.status, head.bytes.length], base).to.deep.equal([503, 0])
    }
  }
  const alive = async (): Promise<void> => {
    for (const base of everywhere) expect((await request(`${base}/health/live`)).status, base).to.equal(200)
  }

  it('is well while requests can be served, and costs no statement', async () => {
    await settled(200)
    await alive()
    const questions = (): Promise<number> =>
      withTestDatabase(databaseUrl, async (database) => {
        const [row] = await database.run("SHOW GLOBAL STATUS LIKE 'Questions'")
        return Number(row?.['Value'])
      })
    const before = await questions()
    for (let n = 0; n < 100; n++) {
      for (const base of everywhere)
        expect((await request(`${base}/health/ready`)).json(), `time ${n}, ${base}`).to.deep.equal({ status: 'ok' })
    }
    expect((await questions()) - before).to.be.lessThan(100)
  })

  it('tells of a frozen database and of a killed one, and of their return', async () => {
    await server.freeze()
    await settled(503)
    for (const base of everywhere) await rejected(base)
    await alive()
    await server.thaw()
    await settled(200)
    await server.kill()
    await settled(503)
    for (const base of everywhere) await rejected(base)
    await alive()
    await server.restart()
    await settled(200)
  })

  it('has nothing else on the admin port', async () => {
    for (const base of [data, admin]) {
      const nothing = await request(`${base}/products`)
      expect([nothing.status, nothing.json()], base).to.deep.include.members([404])
      const wrong = await request(`${base}/health/ready`, { method: 'DELETE' })
      expect([wrong.status, wrong.header('allow')], base).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
      for (const head of [
        'CONNECT x:1 HTTP/1.1\r\nHost: x',
        'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: a\r\nConnection: upgrade'
      ]) {
        for (let n = 0; n < 50; n++) {
          const socket = connect({ port: Number(new URL(base).port), host: '127.0.0.1' })
          await once(socket, 'connect')
          socket.write(`${head}\r\n\r\n`)
          socket.resetAndDestroy()
        }
      }
    }
    await alive()
  })

  it('answers on the admin port as on the public one', async () => {
    for (const base of [data, admin]) {
      for (const path of ['/health', '/health/live', '/health/ready', '/metrics']) {
        const options = await request(base + path, { method: 'OPTIONS', headers: { 'x-request-id': 'asked-1' } })
        expect([options.status, options.text, options.header('allow')]).to.deep.equal([204, '', 'GET, HEAD, OPTIONS'])
        expect(options.header('x-request-id')).to.equal('asked-1')
        for (const method of ['GET', 'DELETE']) {
          const answer = await request(base + path, { method, headers: { 'x-request-id': 'asked-2' } })
          expect(answer.status, path).to.equal(method === 'GET' ? 200 : 405)
          expect(answer.header('x-content-type-options')).to.equal('nosniff')
          expect(answer.header('x-request-id')).to.equal('asked-2')
        }
      }
      const nothing = await request(`${base}/nothing`)
      const { requestId, ...problem } = nothing.json() as Record<string, unknown>
      expect(requestId).to.equal(nothing.header('x-request-id'))
      expect(problem).to.deep.equal({
        type: 'about:blank',
        title: 'No such route',
        status: 404,
        detail: 'There is nothing at this path.',
        instance: '/nothing',
        code: 'route.not-found'
      })
    }
  })

  it('rejects requests for other hosts on an admin port of the loopback', async () => {
    for (const base of [data, admin]) {
      const { port } = new URL(base)
      for (const [host, status] of [
        [`evil.example:${port}`, 400],
        ['evil.example', 400],
        ['localhost.evil.example', 400],
        ['127.0.0.1.evil.example', 400],
        ['192.0.2.1', 400],
        [`localhost:${port}`, 200],
        ['LOCALHOST', 200],
        ['127.0.0.1', 200],
        [`[::1]:${port}`, 200]
      ] as const) {
        for (const path of ['/metrics', '/health/live']) {
          const answer = await exchange(base, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
          const [head = '', body = ''] = answer.split('\r\n\r\n')
          expect(head.split(' ')[1], host).to.equal(String(status))
          if (status === 400) expect(JSON.parse(body)).to.include({ code: 'request.malformed', instance: path })
        }
      }
    }
  })

  it('is told by a gateway that starts before its data service, which serves nothing else until then', async () => {
    const port = await freePort()
    const gateway = startProcess(GATEWAY, {
      GATEWAY_PORT: '0',
      ADMIN_PORT: '0',
      DATA_SERVICE_ADDRESS: `127.0.0.1:${port}`
    })
    const target = new URL(`tcp://${stack.dataAddress}`)
    const way = createServer((client) => {
      const upstream = connect({ host: target.hostname, port: Number(target.port) })
      for (const [from, to] of [
        [client, upstream],
        [upstream, client]
      ] as const) {
        from.on('error', () => to.destroy())
        from.pipe(to)
      }
    })
    try {
      const { url: told } = await gateway.logged(({ msg }) =>
        String(msg).startsWith('health is told on the public port')
      )
      const url = String(told).replace(/\/$/, '')
      for (const base of [url, await adminOf(gateway)]) {
        expect((await request(`${base}/health/live`)).json(), base).to.deep.equal({ status: 'ok' })
        await rejected(base)
      }
      for (const [method, path] of [
        ['GET', '/products'],
        ['GET', '/products/1'],
        ['GET', '/no/such/path/at/all'],
        ['GET', '/openapi.json'],
        ['POST', '/auth/login'],
        ['OPTIONS', '/products']
      ] as const) {
        const answer = await request(url + path, { method })
        expect([answer.status, answer.header('retry-after')], path).to.deep.equal([503, '1'])
        expect(answer.header('content-type'), path).to.equal('application/problem+json')
        const { requestId, ...problem } = answer.json() as Record<string, unknown>
        expect(requestId).to.equal(answer.header('x-request-id'))
        expect(problem).to.deep.equal({
          type: `${url}/problems/upstream.unavailable`,
          title: 'The data service is unavailable',
          status: 503,
          detail: 'The gateway has just started, and waits for the data service.',
          instance: path,
          code: 'upstream.unavailable'
        })
      }
      expect(gateway.logs().map(({ msg }) => msg)).not.to.include('listening')
      await listenLocally(way, port)
      expect(await listening(gateway, 'url')).to.equal(url)
      for (const [path, status] of [
        ['/products', 200],
        ['/health/ready', 200],
        ['/no/such/path/at/all', 404]
      ] as const) {
        expect((await request(url + path)).status, path).to.equal(status)
      }
    } finally {
      way.close()
      expect(await gateway.stop()).to.equal(0)
    }
  })

  it('ends a gateway that still waits for its data service, and one whose port is taken', async () => {
    const waiting = startProcess(GATEWAY, {
      GATEWAY_PORT: '0',
      DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`
    })
    const { url } = await waiting.logged(({ msg }) => String(msg).startsWith('health is told on the public port'))
    const taken = startProcess(GATEWAY, {
      GATEWAY_PORT: new URL(String(url)).port,
      DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}`
    })
    expect(await taken.ended).to.equal(1)
    expect(await waiting.stop()).to.equal(0)
  })

  it('says that a process is ending while it finishes what is under way', async () => {
    const gateway = startProcess(GATEWAY, {
      GATEWAY_PORT: '0',
      ADMIN_PORT: '0',
      DATA_SERVICE_ADDRESS: stack.dataAddress
    })
    const [own, url] = [await adminOf(gateway), new URL(await listening(gateway, 'url'))]
    expect((await request(`${own}/health/ready`)).status).to.equal(200)
    // Half a body keeps the request under way.
    const socket = connect({ port: Number(url.port), host: '127.0.0.1' })
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write('POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{')
    await request(`${url.origin}/health/live`)
    const ended = gateway.stop()
    await gateway.logged(({ msg }) => msg === 'closing')
    await rejected(own)
    expect((await request(`${own}/health/live`)).status).to.equal(200)
    socket.destroy()
    expect(await ended).to.equal(0)
  })
})
