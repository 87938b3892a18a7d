import { expect } from 'chai'
import { exchange } from '../harness/http.js'
import { describeApi } from './api-store.js'
import { expectProblem } from './expect-problem.js'
import type { Answer } from './http-call.js'

const LIMIT = 64 * 1024

describeApi(
  'malformed HTTP',
  (store) => {
    const send = async (bytes: string | Buffer, path: string): Promise<Answer> =>
      parse(await exchange(store.url, bytes), path)

    const BROKEN: readonly (readonly [why: string, bytes: string])[] = [
      ['no HTTP at all', 'hello\r\n\r\n'],
      ['a bad method', 'G@T /products HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a bad version', 'GET /products HTTP/9.9\r\nHost: x\r\n\r\n'],
      ['a space within a header name', 'GET /products HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n'],
      ['a NUL in a header', 'GET /products HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n'],
      ['two lengths', 'GET /products HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
      [
        'length and chunks',
        'POST /products HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
      ],
      ['no Host', 'GET /products HTTP/1.1\r\n\r\n']
    ]
    for (const [why, bytes] of BROKEN) {
      it(`answers ${why} with a problem document and closes`, async () => {
        const answer = await send(bytes, '')
        expect(answer.status, answer.text).to.equal(400)
        const problem: unknown = JSON.parse(answer.text)
        expect(answer.headers['content-type']).to.match(/^application\/problem\+json/)
        expect(answer.headers['connection']).to.equal('close')
        expect(problem).to.include({ status: 400, code: 'request.malformed' })
        expect(problem).to.have.all.keys('type', 'title', 'status', 'detail', 'instance', 'code', 'requestId')
        expect(answer.headers['x-request-id']).to.match(/^[A-Za-z0-9._-]{1,128}$/)
      })
    }

    it('names the path of the request in whose head or body the fault is', async () => {
      const instance = async (bytes: string): Promise<unknown> => {
        const body: unknown = JSON.parse((await send(bytes, '')).text)
        return typeof body === 'object' && body !== null && 'instance' in body ? body.instance : undefined
      }
      expect(await instance('GET /products/1?x=1 HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n')).to.equal('/products/1')
      const chunked = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
      expect(await instance(`POST /products HTTP/1.1\r\nHost: x\r\n${chunked}zz\r\n`)).to.equal('/products')
      expect(await instance('hello\r\n\r\n')).to.equal('/')
    })

    for (const target of [
      '/products/%',
      '/products/%zz',
      '/products/%ff',
      '/products/1%00',
      '/products?x=%',
      '/products/paged?%ff=1'
    ]) {
      it(`answers the undecodable target ${target}`, async () => {
        const answer = await store.call(target)
        expect(answer.status).to.equal(400)
        const { code } = store.problem(answer, {
          status: 400,
          code: target.endsWith('%00') ? 'id.invalid' : codeOf(answer)
        })
        expect(['request.malformed', 'id.invalid']).to.include(code)
      })
    }

    it('answers a target over 64 KiB with 414', async () => {
      const answer = await send(`GET /products?x=${'a'.repeat(LIMIT)} HTTP/1.1\r\nHost: x\r\n\r\n`, '/products')
      expect(answer.status, answer.text).to.equal(414)
      expect(JSON.parse(answer.text)).to.include({ status: 414, code: 'uri.too-long' })
    })

    it('answers headers over 64 KiB with 431', async () => {
      const answer = await send(`GET /products HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(LIMIT)}\r\n\r\n`, '/products')
      expect(answer.status, answer.text).to.equal(431)
      expect(JSON.parse(answer.text)).to.include({ status: 431, code: 'headers.too-large' })
    })

    it('serves a target of 60,000 characters', async () => {
      const answer = await store.call(`/products?fields=id&x=${'a'.repeat(60_000)}`)
      expect(answer.status).to.equal(200)
    })

    it('serves headers of 60,000 characters', async () => {
      const answer = await store.call('/products?fields=id', { headers: { 'x-a': 'a'.repeat(60_000) } })
      expect(answer.status).to.equal(200)
    })

    it('answers an overlong id as a malformed one', async () => {
      store.problem(await store.call(`/products/${'1'.repeat(5000)}`), { status: 400, code: 'id.invalid' })
    })

    it('the gateway serves on after every malformed request of these tests', async () => {
      expect((await store.call('/products/1')).status).to.equal(200)
    })

    it('answers an absolute-form target as the path it names', async () => {
      const answer = await send(
        'GET http://x/products/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
        '/products/1'
      )
      expect([200, 400, 404]).to.include(answer.status)
      if (answer.status !== 200) expectProblem(answer, { status: answer.status, code: codeOf(answer), base: store.url })
    })
  },
  { on: 'sqlite' }
)

function parse(text: string, path: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = Object.fromEntries(
    lines.map((one) => [one.slice(0, one.indexOf(':')).toLowerCase(), one.slice(one.indexOf(':') + 1).trim()])
  )
  const bytes = Buffer.from(rest.join('\r\n\r\n'), 'latin1')
  return {
    status: Number(line.split(' ')[1]),
    headers,
    rawHeaders: lines,
    bytes,
    text: bytes.toString('utf8'),
    path
  }
}

function codeOf(answer: Answer): string {
  const body: unknown = JSON.parse(answer.text)
  return typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : ''
}
