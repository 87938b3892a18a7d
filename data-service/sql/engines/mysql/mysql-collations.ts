import type { TextOperand } from '../statement.js'
import { errnoOf } from './driver/mysql-errors.js'

/** The character set of bound values, which is that of the session (`SET NAMES`). */
const SESSION_CHARACTERS = 'utf8mb4'

/**
 * How the operands of a text column are written so that the collation of the column compares them, which is also the one
 * that sorts it. A column of a table in the session's character set needs nothing: a server takes the collation of a column
 * before that of a value. It rejects the comparison (ER_CANT_AGGREGATE_2COLLATIONS) in two cases:
 * - A column of a view may be an expression of literals, `IF(active, 'yes', 'no')`, whose collation counts no more than that
 *   of the value. Nothing tells such a column from others, so all operands of a view name its collation. A column whose own
 *   collation is named keeps the use of its index.
 * - A column of another character set cannot be compared with a text that this character set does not have. NULL in place of
 *   such a text is equal to no value.
 */
export function mysqlTextOperand(
  { kind }: { readonly kind: 'table' | 'view' },
  { collation }: { readonly collation: string | undefined }
): TextOperand | undefined {
  // Bytes are compared with those of the operand.
  if (collation === undefined || collation === 'binary') return undefined
  const [characters = ''] = collation.split('_', 1)
  if (characters === SESSION_CHARACTERS) {
    return kind === 'view' ? (operand) => `(${operand} COLLATE ${collation})` : undefined
  }
  return (operand) => {
    const converted = `CONVERT(${operand} USING ${characters})`
    const isSame = `CONVERT(${converted} USING ${SESSION_CHARACTERS}) = ${operand} COLLATE ${SESSION_CHARACTERS}_bin`
    return `(IF(${isSame}, ${converted}, NULL) COLLATE ${collation})`
  }
}

/** ER_TRUNCATED_WRONG_VALUE_FOR_FIELD. MariaDB names the column with its database and table, MySQL alone. */
const WRONG_VALUE = 1366
const WRONG_TEXT = /^Incorrect string value: .* for column (?:(?:`.*?`\.)*`(.+)`|'(.+)') at row \d+$/s

export function mysqlColumnWithoutCharacter(error: unknown): string | undefined {
  if (errnoOf(error) !== WRONG_VALUE || !(error instanceof Error)) return undefined
  const [, name, plainName] = WRONG_TEXT.exec(error.message) ?? []
  return name ?? plainName
}
