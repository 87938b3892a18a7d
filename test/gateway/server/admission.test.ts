import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect } from 'chai'
import { readGatewayConfig } from '../../../gateway/config.js'
import { LoopDelay } from '../../../gateway/server/loop-delay.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

describe('the limit of requests of an address', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway({ RATE_LIMIT: '3/3600', TRUSTED_PROXIES: '127.0.0.1' })
  })
  after(() => gateway.close())

  const get = async (url: string, address: string): Promise<Awaited<ReturnType<typeof gateway.app.inject>>> =>
    gateway.app.inject({ url, headers: { 'x-forwarded-for': address } })

  it('counts each request, says what is left, and answers 429 beyond', async () => {
    const codes: [number, unknown, unknown][] = []
    for (const url of ['/products/1', '/nope', '/products/paged', '/products/1', '/docs']) {
      const { statusCode, headers } = await get(url, '192.0.2.1')
      codes.push([statusCode, String(headers['ratelimit']).replace(/t=\d+$/, 't='), headers['ratelimit-remaining']])
      expect(headers).to.include({ 'ratelimit-policy': '"address";q=3;w=3600', 'ratelimit-limit': '3' })
      expect(Number(headers['ratelimit-reset'])).to.be.within(3500, 3600)
    }
    expect(codes).to.deep.equal([
      [200, '"address";r=2;t=', '2'],
      [404, '"address";r=1;t=', '1'],
      [200, '"address";r=0;t=', '0'],
      [429, '"address";r=0;t=', '0'],
      [429, '"address";r=0;t=', '0']
    ])
    const calls = gateway.data.calls.length
    const refused = await get('/products/1', '192.0.2.1')
    expect(refused.headers['content-type']).to.equal('application/problem+json')
    expect(refused.headers['retry-after']).to.equal(refused.headers['ratelimit-reset'])
    expect(refused.json()).to.include({ status: 429, code: 'quota-exceeded' })
    expect(refused.json<{ detail: string }>().detail).to.match(
      /^More than 3 requests in 3600 seconds came from this address\. Retry in \d+ seconds\.$/
    )
    expect(gateway.data.calls.length).to.equal(calls)
  })

  it('counts each address by itself, and a network of IPv6 as one', async () => {
    for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:f::3']) {
      expect((await get('/products/1', address)).statusCode).to.equal(200)
    }
    expect((await get('/products/1', '2001:db8::4')).statusCode).to.equal(429)
    expect((await get('/products/1', '2001:db8:0:1::1')).statusCode).to.equal(200)
    expect((await get('/products/1', '192.0.2.2')).statusCode).to.equal(200)
  })

  it('never refuses health', async () => {
    for (let count = 0; count < 5; count++) {
      for (const url of ['/health', '/health/live', '/health/ready']) {
        const { statusCode, headers } = await get(url, '192.0.2.3')
        expect(statusCode).to.equal(200)
        expect(headers).not.to.have.any.keys('ratelimit', 'ratelimit-policy')
      }
    }
  })

  it('does not count preflights, whatever their origin, and counts what is not served below /health', async () => {
    const preflight = { 'access-control-request-method': 'PUT', 'x-forwarded-for': '192.0.2.4' }
    for (const origin of ['https://listed.example', 'https://unlisted.example', 'null']) {
      for (let count = 0; count < 2; count++) {
        const headers = { ...preflight, origin }
        const answer = await gateway.app.inject({ url: '/products/1', method: 'OPTIONS', headers })
        expect(answer.statusCode).to.equal(204)
        expect(answer.headers).not.to.have.any.keys('ratelimit', 'ratelimit-policy')
      }
    }
    const unlike = { 'x-forwarded-for': '192.0.2.4', origin: 'https://unlisted.example' }
    const options = await gateway.app.inject({ url: '/products/1', method: 'OPTIONS', headers: unlike })
    expect(options.headers['ratelimit-remaining']).to.equal('2')
    const nothing = await get('/health/nothing', '192.0.2.4')
    expect([nothing.statusCode, nothing.headers['ratelimit-remaining']]).to.deep.equal([404, '1'])
  })

  it('tells the versions served with a refusal where the request is for a resource', async () => {
    for (let count = 0; count < 3; count++) await get('/nope', '192.0.2.5')
    for (const [url, versions] of [
      ['/products/1', '1.0'],
      ['/products', '1.0'],
      ['/nope', undefined],
      ['/docs/resources/products', undefined],
      ['/products/1/2/3/4', undefined]
    ] as const) {
      const { statusCode, headers } = await get(url, '192.0.2.5')
      expect([url, statusCode, headers['api-supported-versions']]).to.deep.equal([url, 429, versions])
    }
  })

  it('is off by default', async () => {
    const open = await startGateway()
    try {
      const { headers } = await open.app.inject('/products/1')
      expect(headers).not.to.have.any.keys('ratelimit', 'ratelimit-policy', 'ratelimit-limit')
    } finally {
      await open.close()
    }
  })

  for (const value of ['100', '0/60', '100/0', '1.5/60', '-1/60', '100/1m', 'x/y']) {
    it(`cannot be ${value}`, () => {
      expect(() => readGatewayConfig({ RATE_LIMIT: value })).to.throw(
        'RATE_LIMIT must be <count>/<seconds>, such as 600/60 for 600 requests a minute'
      )
    })
  }
})

describe('a gateway that has too much to do', () => {
  it('refuses requests until it is in time again, but health', async () => {
    // Far more than what other programs of the machine make a process late by.
    const gateway = await startGateway({ MAX_EVENT_LOOP_DELAY: '200ms' })
    try {
      expect((await gateway.app.inject('/products/1')).statusCode).to.equal(200)
      const calls = gateway.data.calls.length
      let refused = await gateway.app.inject('/products/1')
      while (refused.statusCode === 200) {
        // Less than half of the second of a measurement, which needs two turns of the event loop.
        const late = performance.now() + 400
        while (performance.now() < late);
        await new Promise(setImmediate)
        refused = await gateway.app.inject('/products/1')
      }
      expect(refused.statusCode).to.equal(503)
      expect(refused.headers).to.include({
        'retry-after': '1',
        'content-type': 'application/problem+json',
        'api-supported-versions': '1.0'
      })
      expect(refused.json()).to.include({
        code: 'upstream.unavailable',
        title: 'The gateway is too busy',
        detail: 'The gateway has too much to do at the moment.'
      })
      const served = gateway.data.calls.length
      expect(served).to.be.at.least(calls)
      for (const url of ['/health', '/health/live', '/health/ready']) {
        expect((await gateway.app.inject(url)).statusCode, url).to.equal(200)
      }
      await gateway.app.inject('/products/1')
      expect(gateway.data.calls.length).to.equal(served)
      const warnings = gateway.lines.filter(({ level }) => level === 'warn')
      expect(warnings.map(({ msg, reason }) => [msg, reason])).to.deep.equal([
        ['requests are refused: this process has too much to do', 'eventLoopDelay']
      ])
      while ((await gateway.app.inject('/products/1')).statusCode !== 200) await new Promise((go) => setTimeout(go, 50))
    } finally {
      await gateway.close()
    }
  })

  it('is one whose every turn takes longer than it may be late', async () => {
    let now = 0
    const delay = new LoopDelay({ now: () => now, every: 3_600_000 })
    const gateway = await startGateway({ MAX_EVENT_LOOP_DELAY: '2s' }, undefined, { load: { delay } })
    const status = async (): Promise<number> => (await gateway.app.inject('/products/1')).statusCode
    const turn = (late: number): void => {
      now += 3_600_000 + late
      delay.look()
    }
    try {
      expect(await status()).to.equal(200)
      turn(4000)
      // One long turn by itself is over.
      expect(await status()).to.equal(200)
      turn(2)
      expect([await status(), delay.mean]).to.deep.equal([503, 2001])
      expect((await gateway.app.inject('/health')).statusCode).to.equal(200)
      turn(2000)
      turn(2000)
      expect(await status()).to.equal(200)
    } finally {
      await gateway.close()
    }
  })

  it('is late by the mean of the looks of a second', () => {
    let now = 0
    const delay = new LoopDelay({ now: () => now, every: 50 })
    const look = (after: number): void => {
      now += after
      delay.look()
    }
    for (let count = 0; count < 19; count++) look(50)
    look(50 + 3000)
    expect(delay.mean).to.equal(3000 / 20)
    look(1000)
    expect(delay.mean).to.equal(3000 / 20)
    look(50)
    expect(delay.mean).to.equal(950 / 2)
    for (let count = 0; count < 20; count++) look(50)
    expect(delay.mean).to.equal(0)
  })

  it('is one whose memory is nearly full of Buffers', async () => {
    let used = 79
    let now = 0
    const memory = { read: () => ({ used, limit: 100 }), collect: () => undefined, now: () => (now += 1000) }
    const gateway = await startGateway({ MAX_EVENT_LOOP_DELAY: '3600s' }, undefined, { load: { memory } })
    const ask = async (url: string): Promise<number> => (await gateway.app.inject(url)).statusCode
    try {
      expect(await ask('/products/1')).to.equal(200)
      used = 81
      expect([await ask('/products/1'), await ask('/health')]).to.deep.equal([503, 200])
      used = 79
      expect(await ask('/products/1')).to.equal(200)
    } finally {
      await gateway.close()
    }
  })

  it('closes the connections with half a head while its memory is nearly full, and no others', async () => {
    let used = 50
    let now = 0
    const memory = { read: () => ({ used, limit: 100 }), collect: () => undefined, now: () => (now += 1000) }
    const timeouts = { head: 300_000, body: 300_000, response: 300_000 }
    const gateway = await startGateway({ MAX_EVENT_LOOP_DELAY: '0s' }, undefined, { load: { memory }, timeouts })
    const port = Number(new URL(await listen(gateway)).port)
    const open = (): Socket => connect({ host: '127.0.0.1', port }).on('error', () => {})
    try {
      const idle = open()
      idle.write('GET /products/1 HTTP/1.1\r\nHost: x\r\n\r\n')
      await once(idle, 'data')
      idle.resume()
      const half = open().resume()
      const closed = once(half, 'close')
      half.write(`GET /products/1 HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(4000)}`)
      used = 81
      await closed
      expect(idle.destroyed).to.equal(false)
      idle.destroy()
    } finally {
      await gateway.close()
    }
  })

  it('may be as late as it likes with 0s, and refuses requests all the same while its memory is nearly full', async () => {
    expect(readGatewayConfig({ MAX_EVENT_LOOP_DELAY: '0s' }).config.maxEventLoopDelay).to.equal(0)
    expect(() => readGatewayConfig({ MAX_EVENT_LOOP_DELAY: 'soon' })).to.throw('MAX_EVENT_LOOP_DELAY')
    const delay = new LoopDelay()
    delay.mean = 60_000
    let used = 79
    let now = 0
    const memory = { read: () => ({ used, limit: 100 }), collect: () => undefined, now: () => (now += 1000) }
    const gateway = await startGateway({ MAX_EVENT_LOOP_DELAY: '0s' }, undefined, { load: { memory, delay } })
    const ask = async (url: string): Promise<number> => (await gateway.app.inject(url)).statusCode
    try {
      expect(await ask('/products/1')).to.equal(200)
      used = 81
      expect([await ask('/products/1'), await ask('/health')]).to.deep.equal([503, 200])
    } finally {
      await gateway.close()
    }
  })
})
