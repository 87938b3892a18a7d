import { once } from 'node:events'
import { constants, createServer, type Http2ServerRequest } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { expect } from 'chai'
import { upstreamBody } from '../../../gateway/renderer/forward.js'
import { DomainError } from '../../../shared/errors.js'
import { request } from '../../harness/http.js'
import { DATA, frame, HEADERS, PREFACE, RST_STREAM, SETTINGS } from '../../harness/http2-frames.js'
import { noSession, type ProxyingGateway, startProxying } from './proxying-gateway.js'
import { type FakeRenderer, startRenderer } from './renderer-fixture.js'

/** POST / of an authority (RFC 7541). */
const POST = Buffer.of(0x83, 0x86, 0x84, 0x41, 1, 0x61)

describe('a body for the renderer', () => {
  /** How it ends where its request comes over HTTP/2 in part, and this frame of its stream follows. */
  async function endOf(last: Buffer): Promise<string> {
    const server = createServer()
    const ended = new Promise<string>((resolve) => {
      server.on('request', (received: Http2ServerRequest) => {
        const body = upstreamBody(received).resume()
        body.once('error', () => resolve('broken off'))
        body.once('end', () => resolve('whole'))
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    // What listens on a port has an address of this kind. A client of Node would end the stream before it resets it.
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    const begun = once(server, 'request')
    client.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0)), frame(HEADERS, 4, 1, POST)]))
    client.write(frame(DATA, 0, 1, Buffer.from('amount=10')))
    await begun
    client.write(last)
    const end = await ended
    client.destroy()
    server.close()
    return end
  }

  for (const [name, code] of [
    ['NO_ERROR', constants.NGHTTP2_NO_ERROR],
    ['CANCEL', constants.NGHTTP2_CANCEL]
  ] as const) {
    it(`breaks off where its client resets the stream with ${name}`, async () => {
      expect(await endOf(frame(RST_STREAM, 0, 1, Buffer.of(0, 0, 0, code)))).to.equal('broken off')
    })
  }

  it('is whole where its client has ended it', async () => {
    expect(await endOf(frame(DATA, 1, 1, Buffer.from('00')))).to.equal('whole')
  })
})

describe('the renderer behind the gateway, for requests that change something', () => {
  let renderer: FakeRenderer
  let gateway: ProxyingGateway
  before(async () => {
    renderer = await startRenderer()
    gateway = await startProxying(renderer.url)
  })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    await renderer[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    renderer.seen.length = 0
  })

  describe('behind a check of antiforgery tokens that rejects', () => {
    let strict: ProxyingGateway
    before(async () => {
      strict = await startProxying(renderer.url, {
        session: {
          ...noSession,
          checkAntiforgery: () => Promise.reject(new DomainError('antiforgery.invalid', 'No token.'))
        }
      })
    })
    after(() => strict[Symbol.asyncDispose]())

    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const [kind, sent] of [
        [
          'with a form',
          { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '3' } }
        ],
        ['without a body', {}]
      ] as const) {
        it(`never gets a ${method} ${kind}`, async () => {
          const answer = await request(`${strict.url}/cart`, { method, ...sent })
          expect([answer.status, renderer.seen.length]).to.deep.equal([403, 0])
          expect(answer.json()).to.include({ code: 'antiforgery.invalid' })
        })
      }
    }

    it('leaves a client of the API, which has a token and no cookie, a path that does not exist', async () => {
      const headers = { authorization: 'Bearer x' }
      const answers = [
        await request(`${strict.url}/cart`, { method: 'POST', headers }),
        await request(`${strict.url}/cart`, { method: 'POST', headers: { ...headers, cookie: 'app_antiforgery=x' } }),
        await request(`${strict.url}/cart`, { method: 'POST', headers: { ...headers, 'sec-fetch-site': 'same-site' } })
      ]
      expect(answers.map((answer) => [answer.status, (answer.json() as { readonly code: string }).code])).to.deep.equal(
        [
          [404, 'route.not-found'],
          [403, 'antiforgery.invalid'],
          [403, 'request.cross-site']
        ]
      )
      expect(renderer.seen).to.deep.equal([])
    })

    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      it(`gets a ${method}, which needs no token`, async () => {
        const answer = await request(`${strict.url}/cart`, { method })
        expect([answer.status, renderer.seen.map((seen) => seen.method)]).to.deep.equal([200, [method]])
      })
    }
  })

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`never gets a ${method} that a page of another origin sent`, async () => {
      const answer = await request(`${gateway.url}/cart`, { method, headers: { 'sec-fetch-site': 'cross-site' } })
      expect([answer.status, renderer.seen.length]).to.deep.equal([403, 0])
      expect(answer.json()).to.include({ code: 'request.cross-site' })
    })
  }
})
