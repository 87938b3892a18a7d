import { fn, literal } from 'sequelize'
import {
  anyOfTuples,
  type ReadPlans,
  type SqlDialect,
  type TextForms,
  type TextMatch,
  type ValueForms,
  VERSION_KEY,
  type WriteErrors,
  type WriteTexts
} from '../statement.js'
import { mysqlBoundOperand, mysqlBoundText, mysqlDecoder, mysqlOperand, mysqlValue } from './mysql-values.js'
import { mysqlTotals } from './mysql-totals.js'
import { mysqlWords } from './mysql-words.js'
import { mysqlColumnWithoutCharacter } from './mysql-collations.js'
import { errnoOf, mysqlViolatedKey } from './driver/mysql-errors.js'

/** ER_KEY_DOES_NOT_EXITS, ER_FT_MATCHING_KEY_NOT_FOUND */
const NO_SUCH_INDEX: readonly unknown[] = [1176, 1191]
/** ER_BAD_FIELD_ERROR. Its message ends a column's name with a quotation mark. */
const NO_SUCH_COLUMN = 1054

const mysqlValueForms: ValueForms = {
  operand: mysqlOperand,
  bindOperand: mysqlBoundOperand,
  bind: mysqlBoundText,
  store: mysqlValue,
  decode: mysqlDecoder,
  isAnyNumber: () => false,
  hasWord: (column, operand) => fn('SIGN', fn('FIND_IN_SET', literal(operand), column))
}

const mysqlTextForms: TextForms = {
  // The server orders an enum by the places of its words. CONCAT makes it text.
  keyFunction: (type, use) => (type === 'enum' && use === 'order' ? 'CONCAT' : undefined),
  textOperand: () => undefined,
  isTextOfWords: () => false,
  // No collation equates bytes. Those of a column of any character set and those of an operand are UTF-8 then.
  exactText: (text) => `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`,
  digest: (text) => `LEFT(UNHEX(SHA2(${text}, 256)), 16)`,
  hasExactly: (match, text, part) => {
    if (match === 'endsWith') return `RIGHT(${text}, LENGTH(${part})) = ${part}`
    return `LOCATE(${part}, ${text}) ${match === 'startsWith' ? '= 1' : '> 0'}`
  },
  matchFunction: () => undefined,
  bindMatch: likePattern,
  words: mysqlWords,
  fullTextIndex: () => undefined
}

const mysqlReadPlans: ReadPlans = {
  isServer: true,
  readsRangesOfOr: true,
  joinInOrder: 'STRAIGHT_JOIN',
  isOneOfTuples: anyOfTuples,
  isIndexMissing: (error, columns = []) =>
    NO_SUCH_INDEX.includes(errnoOf(error)) ||
    (errnoOf(error) === NO_SUCH_COLUMN && columns.some((column) => String(error).includes(`.${column}'`)))
}

const mysqlWriteTexts: WriteTexts = {
  insertOrKeep: (insert, key) => `${insert} ON DUPLICATE KEY UPDATE ${key} = ${key}`,
  insertOrUpdate: (insert, _key, update) => `${insert} ON DUPLICATE KEY UPDATE ${update}`,
  // ROW_COUNT() is -1 after a statement that failed or read, and 0 after one that changed no row. MySQL 9 takes it for a
  // constant of the time at which the statement was prepared, unless the comparison has to be made anew for each row.
  insertAfterChange: (into, values) => `${into} SELECT ${values} FROM DUAL WHERE ROW_COUNT() > FLOOR(RAND())`,
  guards: {
    inTransaction: '@@in_transaction = 1',
    // ROW_COUNT() is -1 after a statement that failed or answered rows.
    afterOneRow: 'ROW_COUNT() = 1 AND @@in_transaction = 1',
    // In strict mode a text that is no number is an error in a column of numbers. An INSERT … SELECT with a condition would lock
    // the counter of the table for as long as it waits for another transaction.
    numberIf: (condition) => `IF(${condition}, NULL, 'not in its transaction')`,
    lastNumber: 'LAST_INSERT_ID()'
  },
  countsChangedRows: true,
  nextVersion,
  contentVersion,
  forUpdate: ' FOR UPDATE',
  forUpdateNow: ' FOR UPDATE NOWAIT'
}

const mysqlWriteErrors: WriteErrors = {
  columnWithoutCharacter: mysqlColumnWithoutCharacter,
  violatedKey: mysqlViolatedKey
}

/**
 * The collation of the columns compares text. Casts prevent the server from comparing bound digits as doubles. Integers are
 * bound as numbers: a condition that an index has met already is left out of the reading of each row only if its operand is
 * a plain value, and a count of many rows takes twice as long with the condition.
 */
export const mysqlDialect: SqlDialect = {
  ...mysqlValueForms,
  ...mysqlTextForms,
  ...mysqlReadPlans,
  ...mysqlWriteTexts,
  ...mysqlWriteErrors,
  totals: mysqlTotals
}

/** An unsigned number beyond the highest would be an error. The texts of statements hold no quotes, so LPAD fills with 0. */
function nextVersion(column: string): string {
  const next = `CAST(CONV(HEX(${column}), 16, 10) AS UNSIGNED) + 1`
  return `IF(${column} = 0x${'FF'.repeat(8)}, 0x${'00'.repeat(8)}, UNHEX(LPAD(HEX(${next}), 16, 0)))`
}

/**
 * SHA2 takes the bytes of a text in the character set of its column. Added to a double, a float is not rounded as its text
 * would be. All parts are of one length, so that no two lists of values make the same bytes.
 */
function contentVersion(...[values, names]: Parameters<SqlDialect['contentVersion']>): string {
  const parts = values.map(({ text, type }) => {
    const value = type === 'double' ? `${text} + 0e0` : text
    return `IFNULL(SHA2(${value}, 256), REPEAT(0, 64))`
  })
  return `UNHEX(LEFT(SHA2(CONCAT(UNHEX($${VERSION_KEY}), 0x${names}, ${parts.join(', ')}), 256), 16))`
}

/** The escape character is `!`, which unlike the backslash means the same in every sql_mode. */
function likePattern(operand: string, match: TextMatch): string {
  const plain = operand.replace(/[!%_]/g, '!$&')
  return `${match === 'startsWith' ? '' : '%'}${plain}${match === 'endsWith' ? '' : '%'}`
}
