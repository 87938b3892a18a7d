import { expect } from 'chai'
import { request, type HttpAnswer } from '../../harness/http.js'
import { created } from '../fake-data-client.js'
import { listen, startGateway, type GatewayFixture } from '../gateway-fixture.js'

describe('headers of an answer whose request is long', () => {
  let gateway: GatewayFixture
  let url: string
  before(async () => {
    gateway = await startGateway()
    url = await listen(gateway)
    gateway.data.answerList = () => ({
      records: [],
      rowLimit: 1000,
      truncated: true,
      continuationPageSize: 500,
      json: Buffer.alloc(0)
    })
  })
  after(() => gateway.close())

  const bytesOf = ({ headers }: HttpAnswer): number =>
    headers.reduce((sum, [name, value]) => sum + name.length + value.length + ': \r\n'.length, 0)
  const long = (length: number): string => `includeReferences=category&filters[name].value=${'x'.repeat(length)}`

  for (const length of [500, 1500, 2500, 5000, 6000, 7000, 9000, 30_000, 64_000]) {
    it(`stay within 8 KiB for a query of ${length} bytes, on pages and on lists`, async () => {
      const ignored = Array.from({ length: 20 }, (_, n) => `unknown${n}${'y'.repeat(100)}=1`).join('&')
      for (const query of [long(length), `${ignored}&${long(Math.min(length, 60_000))}`]) {
        const page = await request(`${url}/products/paged?${query}`)
        expect(page.status, `a query of ${query.length} characters`).to.equal(200)
        expect(bytesOf(page), `a query of ${query.length} characters`).to.be.below(8 * 1024)
        expect(page.header('x-pagination'), `a query of ${query.length} characters`).to.include('"totalCount":25')
        const list = await request(`${url}/products?${query.replaceAll('filters[name].value', 'fields')}`)
        expect([list.status, list.header('x-truncated')], `a query of ${query.length} characters`).to.deep.equal([
          200,
          'true'
        ])
        expect(bytesOf(list), `a query of ${query.length} characters`).to.be.below(8 * 1024)
      }
    })
  }

  it('keep the links that fit, next and prev first', async () => {
    const relations = async (length: number): Promise<string[]> => {
      const link = (await request(`${url}/products/paged?${long(length)}`)).header('link') ?? ''
      return Array.from(link.matchAll(/rel="(\w+)"/g), ([, rel = '']) => rel)
    }
    expect(await relations(500)).to.deep.equal(['first', 'prev', 'next', 'last'])
    expect(await relations(2500)).to.deep.equal(['prev', 'next'])
    expect(await relations(5000)).to.deep.equal(['next'])
    expect(await relations(8000)).to.deep.equal([])
    expect((await request(`${url}/products?fields=${'x'.repeat(500)}`)).header('link')).to.include('rel="next"')
    expect((await request(`${url}/products?fields=${'x'.repeat(8000)}`)).header('link')).to.equal(undefined)
  })

  it('leave a Location out that is longer', async () => {
    const create = async (length: number): Promise<HttpAnswer> => {
      gateway.data.answerCreate = () => created({ location: `${url}/products/${'x'.repeat(length)}` })
      return request(`${url}/products`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
    }
    expect((await create(5000)).header('location')).to.match(/x$/)
    const answer = await create(9000)
    expect([answer.status, answer.header('location')]).to.deep.equal([201, undefined])
  })
})
