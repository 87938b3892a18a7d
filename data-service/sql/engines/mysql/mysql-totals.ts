import { parseDecimal, unscaledAt } from '../../../entity/fields/numbers.js'
import { decimal } from '../../../entity/fields/words.js'
import { AVERAGE_DIGITS } from '../../../entity/totals.js'
import type { TotalsDialect } from '../statement.js'

/** The most digits of a DECIMAL, which a SUM of exact numbers is. */
const MAX_PRECISION = 65

export const mysqlTotals: TotalsDialect = {
  // No collation equates bytes. Those of a column of bytes may be no UTF-8, which a conversion would answer as question marks.
  leastText: (text, { type }) => {
    const converted = `CONVERT(${text} USING utf8mb4)`
    if (type !== 'string') return `CONVERT(MIN(CAST(${converted} AS BINARY)) USING utf8mb4)`
    return `MIN(CAST(IF(CHARSET(${text}) = 'binary', ${text}, ${converted}) AS BINARY))`
  },
  sum: {
    parts: (column, { scale }) => [{ text: `SUM(${column})`, field: decimal(MAX_PRECISION, scale) }],
    value: ([sum], { scale }) => {
      const parsed = parseDecimal(String(sum))
      if (parsed === undefined) throw new TypeError('A sum is no decimal number')
      return unscaledAt(parsed, scale)
    },
    order: (column) => `SUM(${column})`,
    // A quotient of DECIMALs is rounded. The dividend without its remainder is a multiple of the divisor, so that it is exact.
    averageOrder: (column, { scale }) => {
      const [sum, divisor] = [`SUM(${column})`, `(2 * COUNT(${column}))`]
      const dividend = `(ABS(${sum}) * 2${'0'.repeat(scale + AVERAGE_DIGITS)} + COUNT(${column}))`
      return `SIGN(${sum}) * (${dividend} - ${dividend} % ${divisor}) / ${divisor}`
    }
  },
  // The server stops statements itself.
  look: undefined
}
