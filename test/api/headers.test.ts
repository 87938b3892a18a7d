import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { ids } from './http-call.js'

describeApi(
  'headers',
  (store) => {
    describe('X-Request-Id', () => {
      for (const id of ['abc', 'A.b_c-9', 'x'.repeat(128)]) {
        it(`keeps ${id.slice(0, 12)}`, async () => {
          const answer = await store.call('/products/1', { headers: { 'x-request-id': id } })
          expect(answer.headers['x-request-id']).to.equal(id)
          const failed = await store.call('/products/x', { headers: { 'x-request-id': id } })
          expect(store.problem(failed, { status: 400, code: 'id.invalid' }).requestId).to.equal(id)
        })
      }
      for (const id of ['', 'a b', 'x'.repeat(129), 'a,b', 'é']) {
        it(`replaces ${JSON.stringify(id.slice(0, 12))}`, async () => {
          const answer = await store.call('/products/1', { headers: { 'x-request-id': id } })
          expect(answer.headers['x-request-id'])
            .to.match(/^[A-Za-z0-9._-]{1,128}$/)
            .and.not.equal(id)
        })
      }
      it('makes one for each request, and logs it in both processes when asked for', async () => {
        const [one, two] = [await store.call('/products/1'), await store.call('/products/1')]
        expect(one.headers['x-request-id']).not.to.equal(two.headers['x-request-id'])
      })
    })

    describe('api-version', () => {
      for (const version of ['1', '1.0']) {
        it(`takes ${version}`, async () => {
          const answer = await store.call('/products/1', { headers: { 'api-version': version } })
          expect(answer.status).to.equal(200)
          expect(answer.headers['api-supported-versions']).to.equal('1.0')
        })
      }
      for (const version of ['2', '1.1', '1.0.0', 'v1', 'latest', '']) {
        it(`rejects ${JSON.stringify(version)}`, async () => {
          for (const path of ['/products', '/products/paged', '/products/1', '/products/lookup', '/products/export']) {
            const answer = await store.call(path, { headers: { 'api-version': version } })
            store.problem(answer, {
              status: 400,
              code: 'version.unsupported',
              violations: [{ code: 'version.unsupported', header: 'api-version' }]
            })
            expect(answer.headers['api-supported-versions'], path).to.equal('1.0')
          }
        })
      }
    })

    describe('X-Ignored-Parameters', () => {
      const ignored = async (target: string): Promise<string[]> => {
        const value = (await store.call(target)).headers['x-ignored-parameters']
        return value === undefined ? [] : String(value).split(/, ?/).map(decodeURIComponent)
      }

      it('is absent when nothing was ignored', async () => {
        expect(await ignored('/products?fields=id')).to.deep.equal([])
      })
      it('names unknown parameters in any script', async () => {
        expect(await ignored('/products?foo=1&B%C3%A4r=2&a%2Cb=3&line%0D%0Abreak=4')).to.deep.equal([
          'foo',
          'Bär',
          'a,b',
          'line\r\nbreak'
        ])
      })
      it('names one of a kind once', async () => {
        expect(await ignored('/products?foo=1&foo=2')).to.deep.equal(['foo'])
      })
      it('stops at 20 names and 2 KB', async () => {
        const query = Array.from({ length: 30 }, (_, n) => `p${n}=1`).join('&')
        expect(await ignored(`/products?${query}`)).to.have.length(20)
        const long = Array.from({ length: 10 }, (_, n) => `${'x'.repeat(500)}${n}=1`).join('&')
        const answer = await store.call(`/products?${long}`)
        const value = String(answer.headers['x-ignored-parameters'])
        expect(Buffer.byteLength(value)).to.be.within(1, 2048)
      })
      for (const [path, parameter] of [
        ['/products/1?search=a', 'search'],
        ['/products/lookup?pageSize=1', 'pageSize'],
        ['/products/lookup?sortColumn=name', 'sortColumn'],
        ['/products/paged?bom=false', 'bom'],
        ['/products/export?pageSize=3&bom=false', 'pageSize'],
        ['/products?api-version=2', 'api-version']
      ] as const) {
        it(`names ${parameter} on ${path}`, async () => {
          expect(await ignored(path)).to.deep.equal([parameter])
        })
      }
    })

    describe('Prefer: handling=strict', () => {
      for (const prefer of ['handling=strict', 'Handling = "strict"', 'respond-async, handling=strict']) {
        it(`rejects what would be ignored, given ${prefer}`, async () => {
          const answer = await store.call('/products?foo=1&fields=id&bar=2', { headers: { prefer } })
          store.problem(answer, {
            status: 400,
            code: 'parameter.unknown',
            violations: [
              { code: 'parameter.unknown', parameter: 'foo' },
              { code: 'parameter.unknown', parameter: 'bar' }
            ]
          })
          expect(answer.headers).not.to.have.any.keys('x-ignored-parameters')
        })
      }
      it('rejects a dropped half together with all other faults', async () => {
        const answer = await store.call('/products/paged?filters[id].operator=eq&pageSize=0', {
          headers: { prefer: 'handling=strict' }
        })
        store.problem(answer, {
          status: 400,
          code: answer.text.includes('"code":"paging.invalid"') ? codeOf(answer.text) : 'none',
          violations: [
            { code: 'parameter.unknown', parameter: 'filters[id].operator' },
            { code: 'paging.invalid', parameter: 'pageSize' }
          ]
        })
      })
      for (const prefer of ['handling=lenient', 'strict', 'return=minimal']) {
        it(`changes nothing with ${prefer}`, async () => {
          const answer = await store.call('/products/paged?foo=1&pageSize=1', { headers: { prefer } })
          expect(ids(answer)).to.deep.equal([1])
          expect(answer.headers['x-ignored-parameters']).to.equal('foo')
        })
      }
    })

    it('stays in the trace of the caller', async () => {
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
      const answer = await store.call('/products/1', { headers: { traceparent: `00-${trace}-00f067aa0ba902b7-01` } })
      expect(String(answer.headers['traceparent'])).to.match(new RegExp(`^00-${trace}-[0-9a-f]{16}-[0-9a-f]{2}$`))
    })

    for (const traceparent of ['garbage', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, 'é']) {
      it(`survives the traceparent ${traceparent.slice(0, 10)}`, async () => {
        expect((await store.call('/products/1', { headers: { traceparent } })).status).to.equal(200)
      })
    }

    it('forbids browsers to guess the type of any answer', async () => {
      const targets = ['/products', '/products/1', '/products/export', '/products/x', '/nope', '/products/%', '/docs']
      for (const target of targets) {
        const { headers } = await store.call(target)
        expect(headers, target).to.include({ 'x-content-type-options': 'nosniff' })
      }
    })

    it('sends no header of a framework', async () => {
      const { headers } = await store.call('/products/1')
      expect(headers).not.to.have.any.keys('x-powered-by', 'server')
    })
  },
  { on: 'sqlite' }
)

describeApi(
  'headers with STRICT_HANDLING',
  (store) => {
    const target = '/products/paged?foo=1&pageSize=1'

    it('rejects unknown parameters where a request says nothing of it', async () => {
      for (const prefer of [undefined, 'handling=strict', 'return=minimal', 'handling=other']) {
        const answer = await store.call(target, prefer === undefined ? {} : { headers: { prefer } })
        store.problem(answer, {
          status: 400,
          code: 'parameter.unknown',
          violations: [{ code: 'parameter.unknown', parameter: 'foo' }]
        })
        const applied = prefer === 'handling=strict' ? prefer : undefined
        expect(answer.headers['preference-applied'], prefer).to.equal(applied)
      }
    })

    it('rejects half a filter', async () => {
      const answer = await store.call('/products/paged?filters[nmae].operator=contains')
      store.problem(answer, { status: 400, code: 'parameter.unknown' })
    })

    it('says what half a filter lacks, and nothing of a property that the caller may not know', async () => {
      const detailOf = async (half: string): Promise<unknown> => {
        const answer = await store.call(`/products/paged?${half}`)
        return store.problem(answer, { status: 400, code: 'parameter.unknown' }).detail
      }
      expect(await detailOf('Filters[Name].Value=saw')).to.equal(
        'Each "filters[Name].value" needs a "filters[Name].operator" of its own.'
      )
      expect(await detailOf('filters[nmae].operator=contains')).to.equal(
        'Each "filters[nmae].operator" needs a "filters[nmae].value" of its own. "nmae" is not a property that can be ' +
          'filtered. Did you mean "name"?'
      )
      expect(await detailOf('filters[costPrice].value=1')).to.equal(
        'Each "filters[costPrice].value" needs a "filters[costPrice].operator" of its own. "costPrice" is not a ' +
          'property that can be filtered.'
      )
      expect((await store.call('/products/export?filters[name].value=saw')).text).to.include('needs a')
      expect((await store.call('/products?filters[name].value=saw')).text).to.include('is no parameter of this request')
    })

    it('ignores and names them with Prefer: handling=lenient', async () => {
      const answer = await store.call(target, { headers: { prefer: 'handling=lenient' } })
      expect(ids(answer)).to.deep.equal([1])
      expect(answer.headers['x-ignored-parameters']).to.equal('foo')
    })
  },
  { on: 'sqlite', env: () => ({ STRICT_HANDLING: 'true' }) }
)

function codeOf(text: string): string {
  const body: unknown = JSON.parse(text)
  return typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : ''
}
