import { expect } from 'chai'
import { parseOrders } from '../../cli/sample.js'

const RESOURCES = ['products', 'orders']

describe('flags of npm run sample', () => {
  it('are loaded in the order in which rows refer to each other', () => {
    expect(parseOrders(['--orders', '5', '--products=1000000'], RESOURCES)).to.deep.equal([
      { resource: 'products', count: 1_000_000 },
      { resource: 'orders', count: 5 }
    ])
    expect(parseOrders([], RESOURCES)).to.deep.equal([])
  })

  for (const flags of [
    ['--product', '1'],
    ['--products'],
    ['--products', '1e3'],
    ['--products', '0'],
    ['--products', '-1'],
    ['5']
  ]) {
    it(`reject ${flags.join(' ')} and say what would be right`, () => {
      expect(() => parseOrders(flags, RESOURCES)).to.throw(/Usage: .*\[--products <count>\]/)
    })
  }
})
