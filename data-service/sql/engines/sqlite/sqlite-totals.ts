import type { Field } from '../../../entity/fields/field.js'
import { long } from '../../../entity/fields/words.js'
import type { TotalsDialect } from '../statement.js'
import { PART } from './exact-sums.js'

/** Digits of PART, and those before them of an unsigned integer of 64 bits, which is stored as 20 digits of text. */
const LOW_DIGITS = 9
const HIGH_DIGITS = 11

/** The sums of the two parts of the values (exact-sums.ts). */
function partsOf(column: string, { type, unsigned }: Field): readonly [high: string, low: string] {
  const [high, low] = [`${column} / ${PART}`, `${column} % ${PART}`]
  if (type !== 'long' || !unsigned) {
    const ofNumber = (part: string): string => `SUM(CASE typeof(${column}) WHEN 'integer' THEN ${part} END)`
    return [ofNumber(high), ofNumber(low)]
  }
  // A key that the database numbers is a number.
  const ofText = (number: string, from: number, length: number): string =>
    `SUM(CASE typeof(${column}) WHEN 'text' THEN CAST(substr(${column}, ${from}, ${length}) AS INTEGER) WHEN 'integer' THEN ${number} END)`
  return [ofText(high, 1, HIGH_DIGITS), ofText(low, HIGH_DIGITS + 1, LOW_DIGITS)]
}

/** How many values are none of the column's type: other programs wrote them. A sum without them would be a wrong one. */
function oddValues(column: string, { type, unsigned }: Field): string {
  const isOdd = `typeof(${column}) NOT IN ('integer', 'null')`
  if (type !== 'long' || !unsigned) return `TOTAL(${isOdd})`
  const isDigits = `typeof(${column}) = 'text' AND length(${column}) = 20 AND ${column} NOT GLOB '*[^0-9]*'`
  return `TOTAL(${isOdd} AND NOT (${isDigits}))`
}

export const sqliteTotals: TotalsDialect = {
  leastText: (text) => `MIN(${text} COLLATE BINARY)`,
  isPart: (text, length) =>
    `${text} IS NULL OR ${text} GLOB '${'0000-00-00'.slice(0, length).replaceAll('0', '[0-9]')}'`,
  sum: {
    parts: (column, field) => {
      const [high, low] = partsOf(column, field)
      // A text is no part of a sum, so that it is not shown.
      const checked = `CASE WHEN ${oddValues(column, field)} = 0 THEN ${high} ELSE 'none' END`
      return [checked, low].map((text) => ({ text, field: long() }))
    },
    value: ([high, low]) => BigInt(String(high)) * PART + BigInt(String(low)),
    order: (column, field) => `quotient_key(${partsOf(column, field).join(', ')}, 1)`,
    averageOrder: (column, field) => `quotient_key(${partsOf(column, field).join(', ')}, COUNT(${column}))`
  },
  // sqlite-connection.ts defines the function, and says why: it is called for few of the rows, since a call takes as long as
  // a sum of ten. It is a condition of rows and no aggregate: rows are sorted before they are grouped, and an aggregate would be
  // called first when all of them have been read.
  look: '(random() & 15 <> 0 OR go_on() = 1)'
}
