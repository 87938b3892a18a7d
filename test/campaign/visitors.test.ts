import { expect } from 'chai'
import { createServer, type RequestListener, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { PAGE, postForm } from '../../campaign/visitors.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'
import { freePort } from '../runner/free-port.js'

describe('forms of the campaign', () => {
  const servers: Server[] = []
  const gateway = async (answer: RequestListener): Promise<string> => {
    const server = createServer(answer)
    servers.push(server)
    return `http://127.0.0.1:${await listenLocally(server)}`
  }
  afterEach(() => Promise.all(servers.splice(0).map((one) => closeLocally(one))))

  const giving: RequestListener = (_, response) => {
    response.setHeader('set-cookie', 'app_antiforgery=secret; HttpOnly').end('{"token":"mask"}')
  }

  it('are taken with the cookie and the token of another gateway, and then nothing came instead', async () => {
    const seen: unknown[] = []
    const to = await gateway((request, response) => {
      void text(request).then((body) => {
        seen.push([request.method, request.url, request.headers.cookie, body])
        response.end(PAGE)
      })
    })
    expect(await postForm(await gateway(giving), to)).to.deep.equal({ instead: undefined })
    expect(seen).to.deep.equal([['POST', '/cart', 'app_antiforgery=secret', 'product=1&_csrf=mask']])
  })

  it('tell who answered what where they are rejected, and why there was no answer', async () => {
    const refusing = await gateway((request, response) => {
      request.resume()
      response.writeHead(403).end('{"code":"antiforgery.invalid"}')
    })
    const [good, nowhere] = [await gateway(giving), `http://127.0.0.1:${await freePort()}`]
    expect(await postForm(good, refusing)).to.deep.equal({ instead: 'the form: 403 {"code":"antiforgery.invalid"}' })
    expect(await postForm(refusing, good)).to.deep.equal({ instead: 'the token: 403 {"code":"antiforgery.invalid"}' })
    expect((await postForm(nowhere, good)).instead).to.match(/^the token: TypeError: fetch failed, .*ECONNREFUSED/)
    expect((await postForm(good, nowhere)).instead).to.match(/^the form: TypeError: fetch failed, .*ECONNREFUSED/)
  })

  it('are not taken where something else than the page comes back, which is told in part', async () => {
    const other = await gateway((request, response) => {
      request.resume()
      response.end('x'.repeat(1000))
    })
    expect(await postForm(await gateway(giving), other)).to.deep.equal({ instead: `the form: 200 ${'x'.repeat(400)}` })
  })
})
