import { expect } from 'chai'
import fc from 'fast-check'
import {
  compareDecimals,
  fitDecimal,
  fitDouble,
  fitsDigits,
  formatDecimal,
  INT32_RANGE,
  INT64_RANGE,
  lessPercent,
  parseDecimal,
  parseDouble,
  parseInteger,
  shortestFloat,
  sumOf,
  times
} from '../../../data-service/entity/fields/numbers.js'

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

describe('integers', () => {
  it('are digits after an optional minus, within their range', () => {
    expect(parseInteger('-2147483648', INT32_RANGE)).to.equal(-2147483648n)
    expect(parseInteger('2147483648', INT32_RANGE)).to.equal(undefined)
    expect(parseInteger('-9223372036854775808', INT64_RANGE)).to.equal(INT64_RANGE.min)
    expect(parseInteger('9223372036854775807', INT64_RANGE)).to.equal(INT64_RANGE.max)
    expect(parseInteger('9223372036854775808', INT64_RANGE)).to.equal(undefined)
    expect(parseInteger('99999999999999999999')).to.equal(99999999999999999999n)
    for (const text of ['', '-', '+1', '1.0', '1e3', ' 1', '0x1', '--1']) {
      expect(parseInteger(text), text).to.equal(undefined)
      expect(parseInteger(text, INT64_RANGE), text).to.equal(undefined)
    }
  })

  it('may have any number of leading zeros', () => {
    expect(parseInteger(`${'0'.repeat(50)}42`, INT64_RANGE)).to.equal(42n)
    expect(parseInteger(`-${'0'.repeat(50)}42`, INT32_RANGE)).to.equal(-42n)
    expect(parseInteger('0'.repeat(50), INT64_RANGE)).to.equal(0n)
    expect(parseInteger(`1${'0'.repeat(50)}`, INT64_RANGE)).to.equal(undefined)
  })
})

describe('decimals', () => {
  const digits = fc.bigInt({ min: -(10n ** 65n), max: 10n ** 65n })

  it('come back from their text, of up to 65 digits', () => {
    fc.assert(
      fc.property(digits, fc.nat({ max: 30 }), (unscaled, scale) => {
        expect(parseDecimal(formatDecimal(unscaled, scale))).to.deep.equal({ unscaled, scale })
      })
    )
  })

  it('are compared by value and not by scale', () => {
    expect(compareDecimals('1.10', '1.1')).to.equal(0)
    expect(compareDecimals('-0.05', '0')).to.be.lessThan(0)
    expect(compareDecimals('9007199254740993.01', '9007199254740993.001')).to.be.greaterThan(0)
  })

  it('are fitted to the scale of a column toward the side that a comparison needs', () => {
    const column = { precision: 4, scale: 2 }
    const fitted = (text: string, rounding: 'floor' | 'ceiling' | 'exact'): string =>
      fitDecimal(parseDecimal(text) ?? { unscaled: 0n, scale: 0 }, column, rounding)
    expect(fitted('1.005', 'floor')).to.equal('1.00')
    expect(fitted('1.005', 'ceiling')).to.equal('1.01')
    expect(fitted('-1.005', 'floor')).to.equal('-1.01')
    expect(fitted('-1.005', 'ceiling')).to.equal('-1.00')
    expect(fitted('1.005', 'exact')).to.equal('100.00')
    expect(fitted('1.5', 'exact')).to.equal('1.50')
    expect(fitted('12345', 'floor')).to.equal('100.00')
    expect(fitted('-12345', 'ceiling')).to.equal('-100.00')
  })
})

describe('doubles', () => {
  it('are taken in every spelling that is one, and never rounded', () => {
    const taken: readonly (readonly [string, number])[] = [
      ['1.50', 1.5],
      ['+1e2', 100],
      ['0.10000000000000001', 0.1],
      ['9007199254740992', 9_007_199_254_740_992],
      ['5e-324', 5e-324],
      ['1005924519499337.2', 1_005_924_519_499_337.25],
      ['1005924519499337.3', 1_005_924_519_499_337.25],
      ['562949953421312.12', 562_949_953_421_312.125],
      ['1623352107049394.8', 1_623_352_107_049_394.75],
      ['-1.7976931348623157e308', -1.797_693_134_862_315_7e308]
    ]
    for (const [text, value] of taken) expect(parseDouble(text), text).to.equal(value)
    expect(Object.is(parseDouble('-0.0'), 0), 'a negative zero is 0').to.equal(true)
    const rejected = [
      '9007199254740993',
      '4e-324',
      '1e400',
      '1e-400',
      '0.1000000000000000055',
      '1005924519499337.21',
      '1623352107049394.7',
      'NaN',
      '.5',
      '1.',
      ''
    ]
    for (const text of [...rejected, 'Infinity', '0x10', '1e', '--1', ' 1', '1'.repeat(400)]) {
      expect(parseDouble(text), text).to.equal(undefined)
    }
  })

  it('come back from their shortest digits and from 17', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parseDouble(String(value))).to.equal(value + 0)
        expect(parseDouble(value.toExponential(16))).to.equal(value + 0)
      }),
      { numRuns: 10_000 }
    )
  })

  it('of 32 bits have the fewest digits that come back', () => {
    const shown = [1.1, 0.1, 16_777_216, 123_456.789, 1e-45, 3.402_823_466_385_288_6e38, -0.3]
    expect(shown.map((one) => shortestFloat(Math.fround(one)))).to.deep.equal([
      1.1, 0.1, 16_777_216, 123_456.79, 1e-45, 3.402_823_5e38, -0.3
    ])
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const shortest = shortestFloat(value)
        expect(Math.fround(shortest)).to.equal(value)
        expect(parseDouble(String(shortest), 'float')).to.equal(shortest + 0)
        expect(String(shortest).length).to.be.at.most(String(value).length)
      })
    )
    for (const text of ['16777217', '0.123456789123', '3.5e38', '1e-46']) {
      expect(parseDouble(text, 'float'), text).to.equal(undefined)
    }
  })

  it('are compared with numbers of 32 bits as these are shown', () => {
    const holds = {
      floor: (value: number, fitted: number) => value > fitted,
      ceiling: (value: number, fitted: number) => value >= fitted
    }
    const float = fc.float({ noNaN: true, noDefaultInfinity: true })
    const operand = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), float)
    fc.assert(
      fc.property(float, operand, (stored, value) => {
        const shown = shortestFloat(stored)
        const fitted = (rounding: 'floor' | 'ceiling' | 'exact') => fitDouble(value, { storage: 'float' }, rounding)
        const exact = fitDouble(value, { storage: 'float' }, 'exact')
        // Numbers that are digits of the same 32 bits are one.
        const compared = exact === value ? value : exact
        expect(holds.floor(shown, fitted('floor')), 'above').to.equal(shown > compared)
        expect(holds.ceiling(shown, fitted('ceiling')), 'at least').to.equal(shown >= compared)
        expect(shown === exact, 'equal').to.equal(shown === compared)
      }),
      {
        examples: [
          [Math.fround(1.1), 1.100_000_001],
          [Math.fround(0.1), 0.100_000_001_490_116_12]
        ]
      }
    )
  })
})
