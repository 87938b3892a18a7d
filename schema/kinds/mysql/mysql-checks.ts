import type { Field } from '../../../data-service/entity/fields/field.js'
import { type IntegerRange, rangeOf } from '../../../data-service/entity/fields/numbers.js'
import { treatmentOf, wordText } from '../../model/column-types.js'
import type { LiveColumn, LiveSchema } from '../../model/live-schema.js'
import { BYTES_OF_BLOB, BYTES_OF_TEXT, mysqlTypes } from './mysql-types.js'
import { collationOf, type MysqlServer } from '../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { indexDefinition, quotedText } from './mysql-ddl.js'
import type {
  ColumnChange,
  MissingForeignKey,
  MissingIndex,
  AddedIndex,
  Misfit,
  SchemaChecks,
  VersionedTable,
  VersionTrigger
} from '../../model/schema-checks.js'
import { quotedIdentifier } from '../../../data-service/sql/engines/statement.js'
import { freeName, LONGEST_IDENTIFIER, LONGEST_VARCHAR } from '../../model/tables.js'

/** MySQL and MariaDB. */
export function mysqlChecks(live: LiveSchema): SchemaChecks {
  const server: MysqlServer = live.server === 'mariadb' ? 'mariadb' : 'mysql'
  return {
    misfit,
    comparesOtherwise: (column) => comparesOtherwise(column, collationOf(server)),
    holdsVersions: ({ type }) => type.base === 'binary' && type.length === 8,
    isSortedBy: (key, { column }) =>
      key.column?.toLowerCase() === column.toLowerCase() && key.expression === undefined && key.prefix === undefined,
    knowsNulls: () => true,
    mend: {
      addVersion,
      versionTriggers,
      changeEngine: (table) => `ALTER TABLE ${quotedIdentifier(table)} ENGINE=InnoDB`,
      changeColumn,
      addIndex,
      addFullText: (table, columns) => {
        const keys = columns.map((column) => ({ column, descending: false }))
        const taken = [...table.columns, ...table.indexes].map(({ name }) => name)
        const index = { name: freeName(`${table.name}_full_text`, taken), unique: false, keys, fullText: true } as const
        const parts = indexDefinition(index, collationOf(server)).map((part) => `ADD ${part}`)
        return `ALTER TABLE ${quotedIdentifier(table.name)} ${parts.join(', ')}`
      },
      addForeignKey
    }
  }
}

/** The longest character of utf8mb4, in bytes. */
const LONGEST_CHARACTER = 4

/** The longest text that the column always holds, in characters. The TEXT types count bytes. */
function charactersOf({ type }: LiveColumn): number | undefined {
  if (type.base === 'char' || type.base === 'varchar') return type.length ?? 1
  const bytes = BYTES_OF_TEXT[type.base]
  return bytes === undefined ? undefined : Math.floor(bytes / LONGEST_CHARACTER)
}

const INTEGER_BITS: Readonly<Record<string, number>> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 }

function rangeOfColumn({ type }: LiveColumn): IntegerRange | undefined {
  const bits = INTEGER_BITS[type.base]
  if (bits === undefined) return undefined
  const size = 1n << BigInt(bits)
  return type.unsigned ? { min: 0n, max: size - 1n } : { min: -size / 2n, max: size / 2n - 1n }
}

function misfit(field: Field, column: LiveColumn): Misfit | undefined {
  const { base, length, words = [] } = column.type
  const word = entityWord(column)
  const isNo = (what: string): Misfit => ({ harms: 'reads', why: `it holds no ${what}`, word, columnType: undefined })
  switch (field.type) {
    case 'string':
      return textMisfit(field, column)
    case 'bool':
      if (field.storage === 'bits') return base === 'bit' && length === 1 ? undefined : isNo('single bit')
      return rangeOfColumn(column) === undefined ? isNo('flag or number') : undefined
    case 'int':
    case 'long':
      return integerMisfit(field, column)
    case 'decimal':
      return decimalMisfit(field, column)
    case 'double':
      return base === (field.storage === 'float' ? 'float' : 'double') ? undefined : isNo('number of this precision')
    case 'dateTime':
      return base === 'datetime' || base === 'timestamp' ? fractionMisfit(field, column) : isNo('moments')
    case 'date':
      return base === 'date' ? undefined : isNo('days without a time')
    case 'time':
      return base === 'time' ? fractionMisfit(field, column) : isNo('times of the day')
    case 'guid':
      return base === 'uuid' || (charactersOf(column) ?? 0) >= 36 ? undefined : isNo('GUIDs as text of 36 characters')
    case 'enum':
      return base === 'enum' || (isTextColumn(column) && column.checkedWords !== undefined)
        ? wordsMisfit(field, column.checkedWords ?? words, word)
        : isNo('words of an ENUM')
    case 'set':
      return base === 'set' ? wordsMisfit(field, words, word) : isNo('words of a SET')
    case 'json':
      return base === 'json' || isTextColumn(column) ? undefined : isNo('JSON')
    case 'binary':
    case 'base64url':
      return bytesMisfit(field, column)
  }
}

function isTextColumn(column: LiveColumn): boolean {
  return charactersOf(column) !== undefined
}

function textMisfit({ maxLength, maxBytes }: Field, column: LiveColumn): Misfit | undefined {
  // A column of bytes holds texts that are compared by their bytes.
  const bytes = roomForBytes(column)
  const characters = charactersOf(column) ?? (bytes === undefined ? undefined : Math.floor(bytes / LONGEST_CHARACTER))
  if (characters === undefined) {
    return { harms: 'reads', why: 'it holds no plain text', word: entityWord(column), columnType: undefined }
  }
  if (column.type.base === 'binary') return fillsUp(column)
  const room = maxBytes === undefined ? characters : (BYTES_OF_TEXT[column.type.base] ?? bytes ?? characters)
  if (room >= (maxBytes ?? maxLength)) return undefined
  return {
    harms: 'writes',
    why: `texts of more than ${characters} characters may have no room in it`,
    word: bytes === undefined ? entityWord(column) : `longText(${bytes})`,
    columnType: bytes === undefined ? (maxLength <= LONGEST_VARCHAR ? `varchar(${maxLength})` : 'longtext') : undefined
  }
}

function fillsUp(column: LiveColumn): Misfit {
  const { length = 1 } = column.type
  return {
    harms: 'writes',
    why: `it fills up values of less than ${length} bytes`,
    word: entityWord(column),
    columnType: `varbinary(${length})`
  }
}

/** A column whose values go beyond the type of the property cannot be served, and a narrower one not be written. */
function integerMisfit(field: Field, column: LiveColumn): Misfit | undefined {
  const word = entityWord(column)
  const { base, length = 1 } = column.type
  if (field.storage === 'bits' || field.storage === 'year') {
    const isSame = field.storage === 'year' ? base === 'year' : base === 'bit' && length === field.precision
    return isSame ? undefined : { harms: 'reads', why: `it is no ${field.storage} column`, word, columnType: undefined }
  }
  const range = rangeOfColumn(column)
  if (range === undefined) return { harms: 'reads', why: 'it holds no whole numbers', word, columnType: undefined }
  const served = rangeOf(field)
  if (range.min < served.min || range.max > served.max) {
    return { harms: 'reads', why: `its numbers go from ${range.min} to ${range.max}`, word, columnType: undefined }
  }
  const wanted = { min: boundOf(field.minimum) ?? served.min, max: boundOf(field.maximum) ?? served.max }
  if (range.min <= wanted.min && range.max >= wanted.max) return undefined
  return {
    harms: 'writes',
    why: `it has no room for numbers below ${range.min} and above ${range.max}`,
    word,
    columnType: `${field.type === 'int' ? 'int' : 'bigint'}${field.unsigned ? ' unsigned' : ''}`
  }
}

function boundOf(bound: string | undefined): bigint | undefined {
  return bound === undefined ? undefined : BigInt(bound)
}

function decimalMisfit(field: Field, column: LiveColumn): Misfit | undefined {
  const { base, precision = 10, scale = 0 } = column.type
  const word = entityWord(column)
  if (base !== 'decimal') return { harms: 'reads', why: 'it holds no exact decimals', word, columnType: undefined }
  if (scale !== field.scale) {
    return { harms: 'reads', why: `its numbers have ${scale} digits after the point`, word, columnType: undefined }
  }
  if (precision >= field.precision) return undefined
  return {
    harms: 'writes',
    why: `numbers of more than ${precision} digits have no room in it`,
    word,
    columnType: `decimal(${field.precision},${field.scale})`
  }
}

/** Digits that an answer shows of a moment at least. */
const MILLISECONDS = 3

function fractionMisfit(field: Field, column: LiveColumn): Misfit | undefined {
  const { base, precision: digits = 0 } = column.type
  const shown = field.type === 'dateTime' ? Math.max(MILLISECONDS, field.precision) : field.precision
  const word = entityWord(column)
  if (digits > shown) {
    return { harms: 'reads', why: `its seconds have ${digits} digits after the point`, word, columnType: undefined }
  }
  if (digits >= field.precision) return undefined
  return {
    harms: 'writes',
    why: digits === 0 ? 'it rounds to whole seconds' : `it rounds seconds to ${digits} digits after the point`,
    word,
    columnType: `${base}(${field.precision})`
  }
}

function wordsMisfit({ words }: Field, live: readonly string[], word: string | undefined): Misfit | undefined {
  const known = new Set([...words, ...words.map(asCatalogueShows)])
  const more = live.filter((one) => !known.has(one))
  const missing = words.filter((one) => !live.includes(one) && !live.includes(asCatalogueShows(one)))
  const listed = (some: readonly string[]): string => some.map((one) => JSON.stringify(one)).join(', ')
  if (more.length > 0) return { harms: 'reads', why: `it may hold ${listed(more)} too`, word, columnType: undefined }
  if (missing.length === 0) return undefined
  return { harms: 'writes', why: `it does not take ${listed(missing)}`, word, columnType: undefined }
}

/** The catalogue has three bytes for a character, and a question mark in place of those that take four. */
function asCatalogueShows(word: string): string {
  return word.replace(/[\u{10000}-\u{10FFFF}]/gu, '?')
}

function roomForBytes({ type: { base, length = 1 } }: LiveColumn): number | undefined {
  return base === 'binary' || base === 'varbinary' ? length : BYTES_OF_BLOB[base]
}

function bytesMisfit({ type, minLength, maxLength }: Field, column: LiveColumn): Misfit | undefined {
  const { base, length = 1 } = column.type
  const word = entityWord(column)?.replace(/^binary\(/, `${type}(`)
  const room = roomForBytes(column)
  if (room === undefined) return { harms: 'reads', why: 'it holds no bytes', word, columnType: undefined }
  if (room < maxLength) {
    return {
      harms: 'writes',
      why: `more than ${room} bytes have no room in it`,
      word,
      columnType: `varbinary(${maxLength})`
    }
  }
  // BINARY fills shorter values up with zeros.
  return base !== 'binary' || minLength === length ? undefined : fillsUp(column)
}

/** The word of entity files for a column, where one reads all its values. */
function entityWord(column: LiveColumn): string | undefined {
  const treatment = treatmentOf(mysqlTypes, column)
  return treatment.kind === 'refused' ? undefined : wordText(treatment.word)
}

/** `utf8mb4_general_ci` ignores accents and trailing spaces, as their names say or leave out. */
function comparesOtherwise({ collation }: LiveColumn, contract: string): string | undefined {
  if (collation === undefined || collation === contract) return undefined
  const isBinary = /_bin$|^binary$/.test(collation)
  // Collations of UCA 9.0.0 and 14.0.0 say it of themselves; of the others those are NOPAD that are named so.
  const isPadded = !/_nopad_|_0900_/.test(collation)
  // A collation whose name does not say that accents count ignores them, unless it compares bytes.
  const countsAccents = isBinary || /_as_/.test(collation)
  const parts = [
    ...(isBinary || /_cs(_|$)/.test(collation) ? ['letter case counts'] : []),
    ...(countsAccents ? [] : ['accents do not count']),
    ...(isPadded ? ['spaces at the end do not count'] : [])
  ]
  return parts.length === 0 ? 'letters have another order' : parts.join(', ')
}

/** The version of the row in the server's own arithmetic, as `SqlDialect.nextVersion` makes it. */
function mysqlNextVersion(column: string): string {
  const next = `CAST(CONV(HEX(${column}), 16, 10) AS UNSIGNED) + 1`
  return `IF(${column} = 0x${'FF'.repeat(8)}, 0x${'00'.repeat(8)}, UNHEX(LPAD(HEX(${next}), 16, '0')))`
}

function addVersion({ table, column }: VersionedTable): string {
  return (
    `ALTER TABLE ${quotedIdentifier(table)} ADD COLUMN ${quotedIdentifier(column)} BINARY(8) NOT NULL DEFAULT x'${'00'.repeat(8)}', ` +
    'ALGORITHM=INSTANT'
  )
}

/**
 * Whatever a program says of the version, the row gets the one that follows: an UPDATE of the service sets the same. A new
 * row without a version gets 64 random bits, since one that was deleted and is inserted again under its key must have none
 * that it had before. RANDOM_BYTES is missing on MariaDB before 10.10.
 */
function versionTriggers({ table, column }: VersionedTable): VersionTrigger[] {
  const [version, old] = [`NEW.${quotedIdentifier(column)}`, `OLD.${quotedIdentifier(column)}`]
  const first = 'UNHEX(LEFT(SHA2(CONCAT(UUID(), RAND()), 256), 16))'
  const trigger = (event: 'insert' | 'update', value: string): VersionTrigger => {
    const name = `${table.slice(0, 40)}_version_${event}`
    const statement =
      `CREATE TRIGGER ${quotedIdentifier(name)} BEFORE ${event.toUpperCase()} ON ${quotedIdentifier(table)} FOR EACH ROW ` +
      `SET ${version} = ${value}`
    return { name, event, statement }
  }
  return [
    trigger('insert', `IF(${version} = 0x${'00'.repeat(8)}, ${first}, ${version})`),
    trigger('update', mysqlNextVersion(old))
  ]
}

/** MODIFY COLUMN takes away what it does not repeat. */
function changeColumn(table: string, column: LiveColumn, { type, nullable = column.nullable }: ColumnChange): string {
  const { name, collation, default: byDefault, onUpdate, autoIncrement, comment, generated } = column
  const holdsText = type === undefined ? collation !== undefined : /^(var)?char|text$/.test(type)
  const parts = [
    quotedIdentifier(name),
    type ?? column.nativeType,
    ...(holdsText && collation !== undefined ? [`COLLATE ${collation}`] : []),
    ...(generated === undefined
      ? []
      : [`GENERATED ALWAYS AS (${generated.expression}) ${generated.kind.toUpperCase()}`]),
    nullable ? 'NULL' : 'NOT NULL',
    ...(byDefault === undefined
      ? []
      : [`DEFAULT ${byDefault.kind === 'literal' ? quotedText(byDefault.value) : expressionText(byDefault.text)}`]),
    ...(onUpdate === undefined ? [] : [`ON UPDATE ${onUpdate}`]),
    ...(autoIncrement ? ['AUTO_INCREMENT'] : []),
    ...(comment === '' ? [] : [`COMMENT ${quotedText(comment)}`])
  ]
  return `ALTER TABLE ${quotedIdentifier(table)} MODIFY COLUMN ${parts.join(' ')}`
}

/** MySQL takes an expression within brackets alone, but for the moment of now. */
function expressionText(text: string): string {
  return /^current_timestamp/i.test(text) ? text : `(${text})`
}

/** Bytes of a column that an index takes. */
const LONGEST_INDEXED = 3072

/** Whether an index can hold the whole column, by which rows are sorted. */
function fitsIndex({ type: { base, length = 0 }, collation = '' }: LiveColumn): boolean {
  if (/(?:text|blob|json)$/.test(base)) return false
  const [, charset = ''] = /^([^_]+)/.exec(collation) ?? []
  const bytes = { utf8mb4: 4, utf16: 4, utf16le: 4, utf32: 4, utf8: 3, utf8mb3: 3, ucs2: 2 }[charset] ?? 1
  return !/char|binary/.test(base) || length * bytes <= LONGEST_INDEXED
}

/** The primary key follows by itself. The words of an ENUM are indexed by their place, and sorted by as texts. */
function addIndex({ table, column: { column }, live }: MissingIndex): AddedIndex | undefined {
  if (live.type.base === 'enum') return undefined
  if (!fitsIndex(live)) {
    return {
      statements: [],
      note: `No index takes the whole of ${live.nativeType}: it sorts well on small tables alone`
    }
  }
  const name = `${table}_${column}`.slice(0, LONGEST_IDENTIFIER).trimEnd()
  return {
    statements: [`CREATE INDEX ${quotedIdentifier(name)} ON ${quotedIdentifier(table)} (${quotedIdentifier(column)})`]
  }
}

function addForeignKey({ table, columns, to, toColumns }: MissingForeignKey): string {
  return (
    `ALTER TABLE ${quotedIdentifier(table)} ADD FOREIGN KEY (${columns.map(quotedIdentifier).join(', ')}) ` +
    `REFERENCES ${quotedIdentifier(to)} (${toColumns.map(quotedIdentifier).join(', ')}) ON DELETE CASCADE`
  )
}
