import { expect } from 'chai'
import { isPublicAddress } from '../../shared/ip-address.js'

describe('an address', () => {
  const PUBLIC = ['93.184.216.34', '8.8.8.8', '172.32.0.1', '2606:2800:220:1::1', '::ffff:8.8.8.8']
  const SPECIAL = [
    ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
    ['loopback', '127.0.0.1', '127.8.9.10', '::1'],
    ['link-local, where clouds have their metadata', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
    ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fec0::1'],
    ['of carriers', '100.64.0.1', '100.127.255.255'],
    ['mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::127.0.0.1', '::7f00:1'],
    ['translated', '64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:1::1'],
    ['for documents and benchmarks', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '2001:db8::1'],
    ['multicast and broadcast', '224.0.0.1', '255.255.255.255', '240.0.0.1', 'ff02::1'],
    ['no address', '', 'localhost', '127.1', '0x7f.0.0.1', '2130706433']
  ] as const

  it('of the public Internet is public', () => {
    for (const one of PUBLIC) expect(isPublicAddress(one), one).to.equal(true)
  })

  for (const [what, ...addresses] of SPECIAL) {
    it(`that is ${what} is not`, () => {
      for (const one of addresses) expect(isPublicAddress(one), one).to.equal(false)
    })
  }
})
