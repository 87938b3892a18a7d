import { expect } from 'chai'
import fc from 'fast-check'
import { fitsDigits, lessPercent, sumOf, times } from '../../../data-service/entity/numbers.js'

describe('amounts', () => {
  it('are multiplied and summed to the digit', () => {
    expect(times('19.90', 3)).to.equal('59.70')
    expect(times('0.10', 3)).to.equal('0.30')
    expect(times('99999999.99', 10_000)).to.equal('999999999900.00')
    expect(times('-0.05', 1)).to.equal('-0.05')
    expect(times('7', 6)).to.equal('42')
    expect(sumOf(['0.10', '0.20'], 2)).to.equal('0.30')
    expect(sumOf([], 2)).to.equal('0.00')
    expect(sumOf(['9007199254740993.01', '0.01'], 2)).to.equal('9007199254740993.02')
  })

  it('agree with whole cents', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 99_999 }), fc.integer({ min: 1, max: 1000 }))),
        (lines) => {
          const cents = (value: number): string => `${Math.floor(value / 100)}.${String(value % 100).padStart(2, '0')}`
          const total = lines.reduce((sum, [price, count]) => sum + price * count, 0)
          const amounts = lines.map(([price, count]) => times(cents(price), count))
          expect(sumOf(amounts, 2)).to.equal(cents(total))
        }
      )
    )
  })

  it('lose a percent, rounded down', () => {
    expect(lessPercent('130.87', 33)).to.equal('87.68')
    expect(lessPercent('0.01', 1)).to.equal('0.00')
    expect(lessPercent('9999999999.99', 1)).to.equal('9899999999.99')
    expect(lessPercent('19.90', 0)).to.equal('19.90')
    expect(lessPercent('19.90', 100)).to.equal('0.00')
  })

  it('fit a number of digits, the point aside', () => {
    expect(fitsDigits('9999999999.99', 12)).to.equal(true)
    expect(fitsDigits('10000000000.00', 12)).to.equal(false)
    expect(fitsDigits('-9999999999.99', 12)).to.equal(true)
  })
})
