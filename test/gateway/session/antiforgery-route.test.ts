import { expect } from 'chai'
import { startGateway, type GatewayFixture } from '../gateway-fixture.js'

const COOKIE = /^app_antiforgery=([\w.-]+); Path=\/; HttpOnly; Secure; SameSite=Lax$/

describe('GET /auth/antiforgery', () => {
  let gateway: GatewayFixture

  before(async () => {
    gateway = await startGateway()
  })

  after(() => gateway.close())

  const url = '/auth/antiforgery'

  it('hands out a token and its cookie, which no cache keeps', async () => {
    const answer = await gateway.app.inject({ url })
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8')
    expect(answer.json()).to.have.all.keys('token')
    expect(answer.headers['set-cookie']).to.match(COOKIE)
    expect(answer.headers).to.include({ 'cache-control': 'private, no-store', vary: 'Cookie' })
  })

  it('leaves out Secure where cookies go over plain HTTP', async () => {
    const plain = await startGateway({ COOKIE_SECURE: 'false', PUBLIC_BASE_URL: 'http://shop.test/api' })
    try {
      const answer = await plain.app.inject({ url: `/api${url}` })
      expect(answer.headers['set-cookie']).to.match(/^app_antiforgery=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax$/)
    } finally {
      await plain.close()
    }
  })

  it('keeps the secret of a cookie that it knows, and ignores one that it does not', async () => {
    const secretOf = async (cookie: string): Promise<string | undefined> => {
      const { headers } = await gateway.app.inject({ url, headers: { cookie } })
      return COOKIE.exec(String(headers['set-cookie']))?.[1]?.slice(17, 17 + 42)
    }
    const first = await gateway.app.inject({ url })
    const [, value = ''] = COOKIE.exec(String(first.headers['set-cookie'])) ?? []
    expect(await secretOf(`app_antiforgery=${value}`)).to.equal(value.slice(17, 17 + 42))
    expect(await secretOf(`app_antiforgery=${value.slice(0, -1)}_`)).to.not.equal(value.slice(17, 17 + 42))
  })

  it('answers no other site, and sets it no cookie', async () => {
    for (const method of ['GET', 'OPTIONS', 'POST'] as const) {
      const answer = await gateway.app.inject({ method, url, headers: { 'sec-fetch-site': 'cross-site' } })
      expect(answer.statusCode, method).to.equal(403)
      expect(answer.json(), method).to.include({ code: 'request.cross-site' })
      expect(answer.headers, method).to.not.have.property('set-cookie')
    }
  })

  it('takes no other method', async () => {
    const answer = await gateway.app.inject({ method: 'POST', url })
    expect(answer.statusCode).to.equal(405)
    expect(answer.headers).to.include({ allow: 'GET, HEAD, OPTIONS' })
    expect(answer.headers).to.not.have.property('set-cookie')
  })
})
