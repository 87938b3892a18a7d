import type { ColumnType, TableColumn } from '../model/tables.js'

export function sameType(one: ColumnType, other: ColumnType): boolean {
  return JSON.stringify(numbersOf(one)) === JSON.stringify(numbersOf(other))
}

function numbersOf(type: ColumnType): readonly (string | number)[] {
  switch (type.kind) {
    case 'varchar':
    case 'varbinary':
    case 'binary':
      return [type.kind, type.length]
    case 'text':
      return [type.kind, type.bytes]
    case 'decimal':
      return [type.kind, type.precision, type.scale]
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
      return [type.unsigned === true ? `unsigned ${type.kind}` : type.kind]
    case 'bit':
      return [type.kind, type.bits]
    case 'datetime':
    case 'time':
      return type.precision === undefined ? [type.kind] : [type.kind, type.precision]
    case 'enum':
    case 'set':
      return [type.kind, ...type.words]
    default:
      return [type.kind]
  }
}

/** `varchar(64), null` */
export function typeText({ type, nullable }: Pick<TableColumn, 'type' | 'nullable'>): string {
  const [kind = '', ...numbers] = numbersOf(type)
  return `${kind}${numbers.length === 0 ? '' : `(${numbers.join(', ')})`}${nullable ? ', null' : ''}`
}

/** What a change of the type does to the values of a column; `other` for one that no step makes. */
export function typeChange(before: ColumnType, after: ColumnType): 'same' | 'wider' | 'narrower' | 'other' {
  if (sameType(before, after)) return 'same'
  if (before.kind === 'varchar' && after.kind === 'varchar') return after.length > before.length ? 'wider' : 'narrower'
  if (before.kind === 'guid' && after.kind === 'varchar') return after.length >= 36 ? 'wider' : 'narrower'
  if (before.kind === 'varchar' && after.kind === 'enum') return 'narrower'
  const longer = longerKind(before, after)
  if (longer !== undefined) return longer
  if (before.kind === 'boolean' && (after.kind === 'int' || after.kind === 'bigint')) return 'wider'
  const [old, altered] = [wholeAndScale(before), wholeAndScale(after)]
  if (old === undefined || altered === undefined) return 'other'
  return altered.whole >= old.whole && altered.scale >= old.scale ? 'wider' : 'narrower'
}

/** Whether a column of texts stays one and takes words alone from then on. */
export function becomesWords(before: ColumnType, after: ColumnType): boolean {
  return before.kind === 'varchar' && after.kind === 'enum' && after.length !== undefined
}

/** Types of one family that differ in size; undefined for any others. */
function longerKind(before: ColumnType, after: ColumnType): 'wider' | 'narrower' | undefined {
  const wider = (is: boolean): 'wider' | 'narrower' => (is ? 'wider' : 'narrower')
  const texts = ['varchar', 'text']
  if (texts.includes(before.kind) && texts.includes(after.kind)) return wider(textBytes(after) >= textBytes(before))
  if (before.kind === 'varbinary' && after.kind === 'varbinary') return wider(after.length >= before.length)
  if ((before.kind === 'enum' && after.kind === 'enum') || (before.kind === 'set' && after.kind === 'set')) {
    return wider(before.words.every((word) => after.words.includes(word)))
  }
  if (before.kind === 'datetime' && after.kind === 'datetime') {
    return wider((after.precision ?? 3) >= (before.precision ?? 3))
  }
  if (before.kind === 'time' && after.kind === 'time') return wider((after.precision ?? 0) >= (before.precision ?? 0))
  // A number of 32 bits is shown in its shortest digits, and in others once it has 64.
  if (before.kind === 'float' && after.kind === 'double') return 'narrower'
  if (isSigned(before) && isUnsigned(after)) return 'narrower'
  return undefined
}

function isUnsigned(type: ColumnType): boolean {
  return 'unsigned' in type && type.unsigned
}

function isSigned(type: ColumnType): boolean {
  return wholeAndScale(type)?.scale === 0 && !isUnsigned(type)
}

/** Bytes of a text: a character takes up to four. */
function textBytes(type: ColumnType): number {
  return type.kind === 'varchar' ? 4 * type.length : type.kind === 'text' ? type.bytes : 0
}

/** Digits before and after the point. */
function wholeAndScale(type: ColumnType): { readonly whole: number; readonly scale: number } | undefined {
  switch (type.kind) {
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
      return {
        whole: type.kind === 'bigint' && type.unsigned === true ? DIGITS_OF_UNSIGNED_BIGINT : INT_DIGITS[type.kind],
        scale: 0
      }
    case 'decimal':
      return { whole: type.precision - type.scale, scale: type.scale }
    default:
      return undefined
  }
}

const INT_DIGITS = { tinyint: 3, smallint: 5, mediumint: 7, int: 10, bigint: 19 } as const
/** A BIGINT UNSIGNED has one digit more. */
const DIGITS_OF_UNSIGNED_BIGINT = 20
