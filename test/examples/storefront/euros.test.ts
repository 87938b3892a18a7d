import { expect } from 'chai'
import { euros, sumOf, times } from '../../../examples/store/storefront/client/euros.js'

describe('amounts of the storefront', () => {
  it('are exact to the cent', () => {
    expect(times('0.10', 3)).to.equal('0.30')
    expect(times('99999999.99', 10_000)).to.equal('999999999900.00')
    expect(sumOf(['0.10', '0.20', '19.9', '5'])).to.equal('25.20')
    expect(sumOf([])).to.equal('0.00')
  })

  it('are written for people', () => {
    expect(euros('1234.5')).to.equal('€1,234.50')
  })
})
