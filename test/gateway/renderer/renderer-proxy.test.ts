import { connect, createServer, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { open, request } from '../../harness/http.js'
import { noSession, startProxying, type ProxyingGateway } from './proxying-gateway.js'
import { startRenderer, type FakeRenderer } from './renderer-fixture.js'
import { listenLocally } from '../../harness/local-server.js'

const HTML = { accept: 'text/html' }

describe('the renderer behind the gateway', () => {
  let renderer: FakeRenderer
  let gateway: ProxyingGateway
  before(async () => {
    renderer = await startRenderer()
    gateway = await startProxying(renderer.url, { env: { PUBLIC_BASE_URL: 'https://shop.example' } })
  })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    await renderer[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    renderer.seen.length = 0
    renderer.answer = (_request, response) => response.setHeader('content-type', 'text/html').end('<p>page</p>')
  })

  it('answers navigations to a list and a row, and the gateway the API calls to the same paths', async () => {
    for (const path of ['/products', '/products/1']) {
      const page = await request(gateway.url + path, { headers: HTML })
      const api = await request(gateway.url + path, { headers: { accept: 'application/json' } })
      expect([page.text, page.header('vary')], path).to.deep.equal(['<p>page</p>', 'Accept'])
      expect([api.text, api.header('vary')], path).to.deep.equal(['gateway', 'Accept'])
    }
  })

  it('makes 64 pages of one address at a time, and the next when one has ended or its client is gone', async () => {
    const waiting: (() => void)[] = []
    renderer.answer = (_request, response) => void waiting.push(() => response.end('<p>late</p>'))
    const sockets = Array.from({ length: 70 }, () => connect(Number(new URL(gateway.url).port), '127.0.0.1'))
    for (const socket of sockets) socket.write('GET /late HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n')
    const begun = async (count: number): Promise<void> => {
      while (renderer.seen.length < count) await turn()
    }
    await begun(64)
    // The requests that wait have come too: a connection answers nothing else before them.
    for (let turns = 0; turns < 100; turns++) await turn()
    expect(renderer.seen).to.have.length(64)
    waiting[0]?.()
    await begun(65)
    sockets.forEach((socket) => socket.destroy())
    renderer.answer = (_request, response) => void response.setHeader('content-type', 'text/html').end('<p>page</p>')
    expect((await request(`${gateway.url}/after`, { headers: HTML })).text).to.equal('<p>page</p>')
  })

  it('is not asked any longer for a page whose client is gone', async () => {
    let [open, closed] = [0, 0]
    renderer.answer = (_request, response) => {
      open += 1
      response.on('close', () => (closed += 1))
    }
    const sockets = Array.from({ length: 20 }, () => connect(Number(new URL(gateway.url).port), '127.0.0.1'))
    for (const socket of sockets) socket.write('GET /never HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n')
    while (open < 20) await turn()
    expect(closed).to.equal(0)
    for (const socket of sockets) socket.destroy()
    while (closed < 20) await turn()
  })

  it('gets no request that has come through gateways like this one three times', async () => {
    const get = (loop: string) => request(`${gateway.url}/loop`, { headers: { ...HTML, 'cdn-loop': loop } })
    expect((await get('cdn.example, uniform-rest; x=1, uniform-rest, uniform-rest')).status).to.equal(200)
    expect(renderer.seen.map(({ headers }) => headers['cdn-loop'])).to.deep.equal([
      'cdn.example, uniform-rest; x=1, uniform-rest, uniform-rest, uniform-rest'
    ])
    const refused = await get('uniform-rest, cdn.example, uniform-rest, uniform-rest')
    expect([refused.status, renderer.seen.length]).to.deep.equal([400, 1])
    expect(refused.text).to.include('RENDERER_URL must be the address of the renderer itself.')
  })

  it('gets method, path, query and body as they came', async () => {
    await request(`${gateway.url}/a%2Fb/c?x=1&x=%C3%A9&y`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: 'a=1&b=%20'
    })
    const [seen] = renderer.seen
    expect(seen).to.include({ method: 'POST', url: '/a%2Fb/c?x=1&x=%C3%A9&y', body: 'a=1&b=%20' })
    expect(seen?.headers['content-type']).to.equal('application/x-www-form-urlencoded; charset=utf-8')
  })

  it('gets neither headers of the connection nor identities that a client claims', async () => {
    await request(`${gateway.url}/cart`, {
      headers: {
        connection: 'close, X-Secret',
        'x-secret': '1',
        te: 'trailers',
        'proxy-authorization': 'Basic eA==',
        forwarded: 'for=1.2.3.4',
        'x-forwarded-for': '1.2.3.4',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-user': 'admin',
        'x-remote-user': 'admin',
        Remote_User: 'admin',
        'x-user-id': '1',
        'x-auth-request-email': 'admin@example.com',
        'x-ms-client-principal': 'e30=',
        'x-real-ip': '1.2.3.4',
        'x-request-id': 'mine',
        'x-requested-with': 'kept',
        cookie: 'a=1; app_auth_access=x'
      }
    })
    const { headers } = renderer.seen[0] ?? {}
    expect(Object.keys(headers ?? {}).toSorted()).to.deep.equal([
      'cdn-loop',
      'connection',
      'cookie',
      'host',
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-request-id',
      'x-requested-with'
    ])
    expect(headers).to.include({
      cookie: 'a=1; app_auth_access=x',
      host: renderer.host,
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'shop.example',
      'x-forwarded-proto': 'https'
    })
  })

  for (const name of [
    'X-WebAuth-User',
    'X-Authelia-User',
    'Cf-Access-Authenticated-User-Email',
    'Cf-Access-Jwt-Assertion',
    'Tailscale-User-Login',
    'X-Consumer-Username',
    'X-Pomerium-Jwt-Assertion',
    'OIDC_CLAIM_sub',
    'X-Userinfo',
    'Impersonate-User',
    'X-Groups',
    'X-Email',
    'X-Claims',
    'X-Tenant',
    'Client-Cert',
    'X-Client-IP',
    'X-Original-URL',
    'X-Rewrite-URL',
    'X-HTTP-Method-Override',
    'X-Access-Token',
    'X-MS-TOKEN-AAD-ID-TOKEN',
    'X-SSL-Client-S-DN',
    'X-SSL-Client-DN',
    'X-SSL-Client-Verify',
    'X-SSL-Client-Serial',
    'X-SSL-Client-Fingerprint',
    'X-Client-DN',
    'X-Client-Verify',
    'X-ARR-ClientCert',
    'ClientCert',
    'X-UPN',
    'Eppn',
    'X-Eppn',
    'X-Shib-Session-Id',
    'X-Display-Name',
    'X-Employee-Id',
    'X-Actor',
    'X-On-Behalf-Of',
    'X-Session-Id',
    'X-Is-Admin',
    'X-Entitlements',
    'X-Privileges',
    'Fastly-Client-IP',
    'X-Remote-Addr',
    'X-ProxyUser-Ip',
    'X-Host',
    'X-Gateway-Secret',
    'X-Middleware-Subrequest',
    'HX_Remote_User',
    'From',
    'Anything-Else'
  ]) {
    it(`never gets a client's ${name}`, async () => {
      await request(`${gateway.url}/cart`, { headers: { [name]: 'EVIL' } })
      expect(JSON.stringify(renderer.seen)).to.not.contain('EVIL')
    })
  }

  it('gets the headers of browsers and of scripts', async () => {
    const sent = {
      accept: '*/*',
      'accept-language': 'de',
      authorization: 'Bearer x',
      'content-language': 'de',
      'content-type': 'text/plain',
      dnt: '1',
      'hx-request': 'true',
      'if-none-match': '"1"',
      'last-event-id': '7',
      'next-action': 'x',
      origin: 'https://shop.example',
      priority: 'u=1',
      range: 'bytes=0-1',
      referer: 'https://shop.example/',
      'script-cart': '3',
      'sec-ch-ua': '"x"',
      'sec-fetch-user': '?1',
      tracestate: 'a=1',
      'turbo-frame': 'cart',
      'upgrade-insecure-requests': '1',
      'user-agent': 'x',
      'x-csrf-token': 'x',
      'x-inertia': 'true',
      'x-requested-with': 'fetch'
    }
    await request(`${gateway.url}/cart`, { headers: sent })
    expect(renderer.seen[0]?.headers).to.include(sent)
  })

  it('cannot set the cookies of the session, nor hide the id of the request', async () => {
    renderer.answer = (_request, response) =>
      response
        .setHeader('set-cookie', [
          'own=1',
          'app_auth_access=forged',
          ' app_auth_refresh=forged',
          'app_antiforgery=x',
          'app_auth_sign_in=planted; Path=/auth',
          '=app_auth_access=nameless'
        ])
        .setHeader('x-request-id', 'theirs')
        .setHeader('keep-alive', 'timeout=99')
        .end('x')
    const answer = await request(`${gateway.url}/cart`, { headers: HTML })
    expect(answer.header('set-cookie')).to.equal('own=1')
    expect(answer.header('x-request-id')).to.match(/^[0-9a-f-]{36}$/)
    expect(answer.header('keep-alive')).to.not.equal('timeout=99')
  })

  it('a header that the renderer names in Connection does not reach the client', async () => {
    renderer.answer = (_request, response) =>
      response.setHeader('connection', 'keep-alive, X-Hop').setHeader('x-hop', '1').setHeader('x-kept', '2').end('x')
    const answer = await request(`${gateway.url}/cart`, { headers: HTML })
    expect([answer.header('x-hop'), answer.header('x-kept')]).to.deep.equal([undefined, '2'])
  })

  it('a page for a session that is over is kept out of caches as one that lasts is', async () => {
    const over = await startProxying(renderer.url, { session: { ...noSession, cookiesOf: () => undefined } })
    try {
      const answer = await request(`${over.url}/cart`, { headers: { cookie: 'app_auth_refresh=x' } })
      expect(renderer.seen[0]?.headers).to.not.have.property('cookie')
      expect([answer.header('cache-control'), answer.header('vary')]).to.deep.equal(['private, no-store', 'Cookie'])
    } finally {
      await over[Symbol.asyncDispose]()
    }
  })

  it('never gets a TRACE', async () => {
    const answer = await request(`${gateway.url}/cart`, { method: 'TRACE' })
    expect([answer.status, renderer.seen.length]).to.deep.equal([404, 0])
  })

  it('a page for someone signed in is kept out of caches unless it says otherwise', async () => {
    const cookie = 'app_auth_access=x'
    const said = await request(`${gateway.url}/cart`, { headers: { cookie } })
    expect([said.header('cache-control'), said.header('vary')]).to.deep.equal(['private, no-store', 'Cookie'])
    const anonymous = await request(`${gateway.url}/cart`)
    expect([anonymous.header('cache-control'), anonymous.header('vary')]).to.deep.equal([undefined, undefined])
    renderer.answer = (_request, response) => response.setHeader('cache-control', 'max-age=60').end('x')
    const asset = await request(`${gateway.url}/assets/a.css`, { headers: { cookie } })
    expect([asset.header('cache-control'), asset.header('vary')]).to.deep.equal(['max-age=60', undefined])
  })

  it('streams pages as they come', async () => {
    let finish = (): void => undefined
    renderer.answer = (_request, response) => {
      response.write('first')
      finish = () => response.end('last')
    }
    const response = await open(`${gateway.url}/cart`)
    expect(await nextPiece(response)).to.equal('first')
    finish()
    expect(await nextPiece(response)).to.equal('last')
  })

  it('streams bodies however long they are', async () => {
    const body = Buffer.alloc(3 * 1024 * 1024, 'x')
    const answer = await request(`${gateway.url}/upload`, { method: 'PUT', body })
    expect([answer.status, renderer.seen[0]?.body.length]).to.deep.equal([200, body.length])
  })

  it('is asked once, whatever it answers', async () => {
    renderer.answer = (_request, response) => response.writeHead(503, { 'retry-after': '0' }).end('busy')
    const answer = await request(`${gateway.url}/cart`, { headers: HTML })
    expect([answer.status, answer.text, renderer.seen.length]).to.deep.equal([503, 'busy', 1])
  })

  it('redirects and errors of its own pass as they are', async () => {
    renderer.answer = (_request, response) => response.writeHead(302, { location: '/login?next=%2Fcart' }).end()
    const answer = await request(`${gateway.url}/cart`, { headers: HTML })
    expect([answer.status, answer.header('location')]).to.deep.equal([302, '/login?next=%2Fcart'])
  })

  it('shows a page that says 404 to whom HTML is good for, and a program gets a problem document', async () => {
    renderer.answer = (_request, response) =>
      response
        .writeHead(404, { 'content-type': 'text/html', etag: '"x"', 'set-cookie': 'seen=1' })
        .end('<p>nothing</p>')
    for (const accept of ['text/html', '*/*', undefined]) {
      const page = await request(`${gateway.url}/nothing`, { headers: accept === undefined ? {} : { accept } })
      expect([page.status, page.text, page.header('etag'), page.header('vary')]).to.deep.equal([
        404,
        '<p>nothing</p>',
        '"x"',
        'Accept'
      ])
    }
    const problem = await request(`${gateway.url}/nothing`, { headers: { accept: 'application/json' } })
    expect(problem.status).to.equal(404)
    expect(problem.json()).to.include({ code: 'route.not-found', instance: '/nothing' })
    expect(problem.header('content-type')).to.equal('application/problem+json')
    expect(problem.header('vary')).to.equal('Accept')
    expect([problem.header('etag'), problem.header('set-cookie')]).to.deep.equal([undefined, undefined])
    const head = await request(`${gateway.url}/nothing`, { method: 'HEAD', headers: { accept: 'application/json' } })
    expect([head.status, head.text, head.header('content-type')]).to.deep.equal([404, '', 'application/problem+json'])
  })

  it('may say 404 in a form of its own, and anything else as HTML, to programs too', async () => {
    for (const [status, type] of [
      [404, 'application/json'],
      [410, 'text/html']
    ] as const) {
      renderer.answer = (_request, response) => response.writeHead(status, { 'content-type': type }).end('{}')
      const answer = await request(`${gateway.url}/nothing`, { headers: { accept: 'application/json' } })
      expect([answer.status, answer.text, answer.header('content-type')]).to.deep.equal([status, '{}', type])
    }
  })

  for (const path of [
    '/../etc',
    '/a/%2e%2e/b',
    '/a/..%5cb',
    '/..x',
    '/...',
    '/a/..;/b',
    '/./auth/login',
    '/%2e/products',
    '/a/.',
    '/\\evil',
    '/auth\\login',
    '/%5cx',
    '/\\[::1'
  ]) {
    it(`${path} is rejected`, async () => {
      const answer = await request(gateway.url + path, { headers: { accept: 'application/json' } })
      expect(answer.status).to.equal(400)
      expect(answer.json()).to.include({ code: 'request.malformed' })
      expect(renderer.seen).to.deep.equal([])
    })
  }

  for (const path of ['/a../b', '/a../', '/x/a..', '/a..%2Fb/c', '/a..b/c', '/x:y/z:1', '/z:1', '/é../b?c=../d']) {
    it(`${path}, whose dots are part of a name, is the renderer's to answer`, async () => {
      const sent = path.replace('é', '%C3%A9')
      const answer = await request(gateway.url + sent, { headers: HTML })
      expect([answer.status, renderer.seen.map(({ url }) => url)]).to.deep.equal([200, [sent]])
    })
  }

  it('/a..%2Fb is nothing', async () => {
    const answer = await request(`${gateway.url}/a..%2Fb`)
    expect([answer.status, renderer.seen.length]).to.deep.equal([404, 0])
  })

  it('a client that goes away before the page comes ends nothing', async () => {
    let answer = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      renderer.answer = (_request, response) => {
        answer = () => void response.end('late')
        resolve()
      }
    })
    const closed = new Promise((resolve) => {
      gateway.app.server.once('connection', (socket: Socket) => socket.once('close', resolve))
    })
    const client = connect({ host: '127.0.0.1', port: Number(new URL(gateway.url).port) })
    client.write('GET /cart HTTP/1.1\r\nHost: x\r\n\r\n')
    await asked
    client.resetAndDestroy()
    await closed
    answer()
    renderer.answer = (_request, response) => response.end('page')
    for (let count = 0; count < 10; count++)
      expect((await request(`${gateway.url}/cart`)).text, `count ${count}`).to.equal('page')
  })

  it('`//host` is a path, and no other host', async () => {
    const answer = await request(`${gateway.url}//evil.example/x`, { headers: HTML })
    expect(answer.status).to.be.oneOf([200, 400])
    for (const [at, { headers }] of renderer.seen.entries()) expect(headers.host, `case ${at}`).to.equal(renderer.host)
  })

  it('never gets an upgrade, which the gateway rejects', async () => {
    const answer = await request(`${gateway.url}/live`, {
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x', 'sec-websocket-version': '13' }
    })
    expect(answer.json()).to.include({
      code: 'request.malformed',
      detail: 'An upgrade to websocket is not served here; send a plain request.'
    })
    expect(renderer.seen).to.deep.equal([])
  })

  it('sees the refreshed cookies, and the browser gets them with the page', async () => {
    const refreshing = await startProxying(renderer.url, {
      session: {
        ...noSession,
        refresh: (_request, reply) => {
          reply.header('set-cookie', 'app_auth_access=new; HttpOnly')
          return Promise.resolve()
        },
        cookiesOf: () => 'app_auth_access=new'
      }
    })
    try {
      renderer.answer = (_request, response) =>
        response.setHeader('set-cookie', 'own=1').setHeader('cache-control', 'max-age=60').end('x')
      const answer = await request(`${refreshing.url}/products`, { headers: HTML })
      expect(renderer.seen[0]?.headers.cookie).to.equal('app_auth_access=new')
      const cookies = answer.headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value)
      expect(cookies).to.deep.equal(['app_auth_access=new; HttpOnly', 'own=1'])
      expect(answer.header('cache-control')).to.equal('private, no-store')
      expect(answer.header('vary')).to.equal('Accept, Cookie')
    } finally {
      await refreshing[Symbol.asyncDispose]()
    }
  })
})

function nextPiece(response: Readable): Promise<string> {
  return new Promise((resolve) => {
    response.once('data', (piece: Buffer) => {
      response.pause()
      resolve(piece.toString())
    })
    response.resume()
  })
}

describe('a renderer that fails', () => {
  it('is 502 when it cannot be reached: a page for people, a problem for programs', async () => {
    const gone = await startRenderer()
    await gone[Symbol.asyncDispose]()
    const gateway = await startProxying(gone.url)
    try {
      const page = await request(`${gateway.url}/cart`, { headers: HTML })
      expect([page.status, page.header('content-type')]).to.deep.equal([502, 'text/html; charset=utf-8'])
      expect(page.header('vary')).to.equal('Accept')
      expect(page.text).to.contain('<h1>The page is not available at the moment</h1>')
      const problem = await request(`${gateway.url}/cart`, { headers: { accept: '*/*' } })
      expect([problem.status, problem.header('content-type')]).to.deep.equal([502, 'application/problem+json'])
      expect(problem.json()).to.include({ code: 'upstream.bad-gateway', instance: '/cart' })
    } finally {
      await gateway[Symbol.asyncDispose]()
    }
  })

  it('is 504 when it says nothing', async () => {
    const slow = await startRenderer()
    slow.answer = () => undefined
    const gateway = await startProxying(slow.url, { timeouts: { connect: 1000, headers: 50, body: 50 } })
    try {
      const page = await request(`${gateway.url}/cart`, { headers: HTML })
      expect([page.status, page.text.includes('<h1>The page took too long</h1>')]).to.deep.equal([504, true])
      const problem = await request(`${gateway.url}/cart`)
      expect([problem.status, (problem.json() as { code: string }).code]).to.deep.equal([504, 'upstream.timeout'])
    } finally {
      await gateway[Symbol.asyncDispose]()
      await slow[Symbol.asyncDispose]()
    }
  })

  it('is 502 when it hangs up in the middle of an upload, whose sender gets to finish and to read it', async () => {
    const rude = createServer((socket) => void socket.once('data', () => socket.destroy()))
    const gateway = await startProxying(`http://127.0.0.1:${await listenLocally(rude)}`)
    try {
      const body = Buffer.alloc(20 * 1024 * 1024, 'x')
      const answer = await request(`${gateway.url}/upload`, { method: 'PUT', body })
      expect([answer.status, (answer.json() as { code: string }).code]).to.deep.equal([502, 'upstream.bad-gateway'])
    } finally {
      await gateway[Symbol.asyncDispose]()
      rude.close()
    }
  })

  it('is 502 when it hangs up instead of answering', async () => {
    const rude = await startRenderer()
    rude.answer = ({ socket }) => socket.destroy()
    const gateway = await startProxying(rude.url)
    try {
      const page = await request(`${gateway.url}/cart`, { headers: HTML })
      expect(page.status).to.equal(502)
    } finally {
      await gateway[Symbol.asyncDispose]()
      await rude[Symbol.asyncDispose]()
    }
  })
})
