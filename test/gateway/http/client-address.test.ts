import { expect } from 'chai'
import { forwardedAddress } from '../../../gateway/http/client-address.js'
import { request } from '../../harness/http.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const CREDENTIALS = JSON.stringify({ email: 'a@example.com', password: 'b' })

describe('the address of a client', () => {
  let gateway: GatewayFixture
  afterEach(() => gateway.close())

  /** The address that the data service is told for an `X-Forwarded-For`. */
  async function told(origin: string, forwarded: string): Promise<unknown> {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwarded }
    await request(`${origin}/auth/login`, { method: 'POST', headers, body: CREDENTIALS })
    return gateway.auth.made('login').at(-1)
  }

  it('comes without the port that a trusted proxy writes behind it', async () => {
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8,fd00::/8' })
    const origin = await listen(gateway)
    const CASES = [
      ['203.0.113.9', '203.0.113.9'],
      ['203.0.113.9:4711', '203.0.113.9'],
      ['[2001:db8::1]:4711', '2001:db8::1'],
      ['"[2001:db8::1]:4711"', '2001:db8::1'],
      ['[2001:db8::1]', '2001:db8::1'],
      ['2001:db8::1', '2001:db8::1'],
      ['198.51.100.7, 203.0.113.9:4711, 10.1.2.3:80', '203.0.113.9'],
      ['198.51.100.7, 203.0.113.9, "[fd00::7]:80"', '203.0.113.9'],
      // What names no address leaves the peer's own.
      ['unknown', '127.0.0.1'],
      ['203.0.113.9:port', '127.0.0.1'],
      ['[203.0.113.9', '127.0.0.1']
    ] as const
    for (const [forwarded, address] of CASES) {
      expect(await told(origin, forwarded), forwarded).to.include({ clientAddress: address })
    }
  })

  it('is none where an entry holds more than an address and a port', () => {
    for (const entry of ['', '"', '""', '1.2.3', '1.2.3.4:', '1.2.3.4:123456', '[::1]x', '::1]:1', '1.2.3.4 ', 'a:1']) {
      expect(forwardedAddress(entry), entry).to.equal(undefined)
    }
  })

  it('is warned of once, where X-Forwarded-For comes from a peer that is not trusted', async () => {
    gateway = await startGateway({ TRUSTED_PROXIES: '10.0.0.0/8' })
    const origin = await listen(gateway)
    const warnings = (): unknown[] => gateway.lines.filter(({ msg }) => String(msg).includes('TRUSTED_PROXIES'))
    await request(`${origin}/health`)
    expect(warnings()).to.deep.equal([])
    for (const forwarded of ['203.0.113.9', '203.0.113.10']) {
      expect(await told(origin, forwarded), forwarded).to.include({ clientAddress: '127.0.0.1' })
    }
    const [warning, ...others] = warnings()
    expect(warning).to.include({ level: 'warn', peer: '127.0.0.1' })
    expect(others).to.deep.equal([])
    expect(JSON.stringify(warning)).not.to.contain('203.0.113')
  })

  it('is no warning where the peer is trusted', async () => {
    gateway = await startGateway({ TRUSTED_PROXIES: '127.0.0.1' })
    const origin = await listen(gateway)
    await told(origin, '203.0.113.9')
    expect(gateway.lines.filter(({ msg }) => String(msg).includes('TRUSTED_PROXIES'))).to.deep.equal([])
  })
})
