import { expect } from 'chai'
import { throttledAddress } from '../../shared/ip-address.js'

describe('the address that failures are counted under', () => {
  const CASES: readonly (readonly [address: string, counted: string])[] = [
    ['198.51.100.64', '198.51.100.64'],
    ['::ffff:198.51.100.64', '198.51.100.64'],
    ['::FFFF:198.51.100.64', '198.51.100.64'],
    ['::ffff:c633:6440', '198.51.100.64'],
    ['0:0:0:0:0:FFFF:C633:6440', '198.51.100.64'],
    ['::ffff:c633:6441', '198.51.100.65'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:0DB8:0:0:ffff:c633:6440:1', '2001:db8:0:0::/64'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', '']
  ]
  for (const [address, counted] of CASES) {
    it(`of ${JSON.stringify(address)} is ${JSON.stringify(counted)}`, () => {
      expect(throttledAddress(address)).to.equal(counted)
    })
  }
})
