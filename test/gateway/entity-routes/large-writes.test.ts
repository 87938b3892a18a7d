import { expect } from 'chai'
import type { LightMyRequestResponse } from 'fastify'
import type { CreateResponse } from '../../../gateway/data/data-client.js'
import { record } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

const JSON_TYPE = 'application/json'
const LARGE = JSON.stringify({ name: 'x'.repeat(64 * 1024) })

describe('large writes', () => {
  let gateway: GatewayFixture
  /** Ends the oldest create that is under way. */
  let underWay: (() => void)[]
  beforeEach(async () => {
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' })
    underWay = []
    gateway.data.answerCreate = () =>
      new Promise<CreateResponse>((resolve) => {
        const answer = { id: '7', record: record('{"id":7}'), location: '/products/7', ignoredMembers: [] }
        underWay.push(() => resolve({ ...answer, replayed: false, rolledBack: false }))
      })
  })
  afterEach(() => gateway.close())

  const post = (authorization: string | undefined, payload: string, address: string): Promise<LightMyRequestResponse> =>
    gateway.app.inject({
      method: 'POST',
      url: '/products',
      headers: {
        'content-type': JSON_TYPE,
        'x-forwarded-for': address,
        ...(authorization === undefined ? {} : { authorization })
      },
      payload
    })
  async function until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise(setImmediate)
  }

  it('of a caller go one after the other, and a few may wait', async () => {
    const answers = Array.from({ length: 6 }, () => post('Bearer a', LARGE, '192.0.2.1'))
    const refused = await Promise.race(answers)
    expect([refused.statusCode, refused.headers['retry-after']]).to.deep.equal([503, '1'])
    expect(refused.json()).to.include({ code: 'upstream.unavailable' })
    // A flood does not fill the log.
    const warned = gateway.lines.filter(({ level, msg }) => level === 'warn' && msg === 'data service failure')
    expect(warned).to.deep.equal([])
    // What is small goes between, and what others write.
    const small = post('Bearer a', '{}', '192.0.2.1')
    await until(() => underWay.length === 2)
    const ofOther = post('Bearer b', LARGE, '192.0.2.2')
    await until(() => underWay.length === 3)
    for (const end of underWay.splice(0)) end()
    expect((await Promise.all([small, ofOther])).map(({ statusCode }) => statusCode)).to.deep.equal([201, 201])
    for (let left = 4; left > 0; left--) {
      await until(() => underWay.length > 0)
      expect(underWay.length, `${left} left`).to.equal(1)
      underWay.pop()?.()
    }
    const codes = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
    expect(codes.toSorted((one, other) => one - other)).to.deep.equal([201, 201, 201, 201, 201, 503])
  })

  it('of an address are two at a time, whatever tokens its callers have, and one without a token', async () => {
    const several = ['a', 'b', 'c'].map((token) => post(`Bearer ${token}`, LARGE, '192.0.2.1'))
    await until(() => underWay.length === 2)
    // Another address comes after them: if the third had a place, it would have been taken by now.
    const anonymous = [1, 2].map(() => post(undefined, LARGE, '192.0.2.3'))
    await until(() => underWay.length === 3)
    const last = post('Bearer d', LARGE, '192.0.2.4')
    await until(() => underWay.length === 4)
    for (const end of underWay.splice(0)) end()
    await until(() => underWay.length === 2)
    for (const end of underWay.splice(0)) end()
    const codes = (await Promise.all([...several, ...anonymous, last])).map(({ statusCode }) => statusCode)
    expect(codes).to.deep.equal([201, 201, 201, 201, 201, 201])
  })

  it('of a token that is the text of an address take no turn of that address', async () => {
    const forged = post('address 192.0.2.3', LARGE, '192.0.2.1')
    await until(() => underWay.length === 1)
    const ofAddress = post(undefined, LARGE, '192.0.2.3')
    await until(() => underWay.length === 2)
    for (const end of underWay) end()
    expect((await Promise.all([forged, ofAddress])).map(({ statusCode }) => statusCode)).to.deep.equal([201, 201])
  })
})
