import {
  type ColumnTreatment,
  type ColumnTypeRule,
  type ColumnTypes,
  type ColumnWord,
  columnWord,
  LONGEST_SENT_VALUE,
  ROWS_LOOKED_AT,
  served,
  type StoredValues
} from '../../model/column-types.js'
import type { LiveColumn, SelectRows } from '../../model/live-schema.js'

/** Digits that a decimal of an entity file has at most. */
const DECIMAL_DIGITS = 64

interface RuleParts {
  readonly shown: string
  readonly outcome: string
  readonly examples: readonly string[]
  readonly when?: (column: LiveColumn, values: StoredValues | undefined) => boolean
  readonly treatment: ColumnTypeRule['treatment']
}

function rule(bases: readonly string[], { when = () => true, ...parts }: RuleParts): ColumnTypeRule {
  return { ...parts, takes: (column, values) => bases.includes(column.type.base) && when(column, values) }
}

interface Refusal extends Omit<RuleParts, 'outcome' | 'treatment'> {
  readonly why: string
}

function refusal(bases: readonly string[], { why, ...parts }: Refusal): ColumnTypeRule {
  return rule(bases, { ...parts, outcome: `refused: ${why}`, treatment: () => ({ kind: 'refused', why }) })
}

/** A whole number, with `unsigned(…)` around it where the column is. */
function wholeTreatment(word: string): (column: LiveColumn) => ColumnTreatment {
  return ({ type }) => (type.unsigned ? served('unsigned', columnWord(word)) : served(word))
}

function approximate(word: string): (column: LiveColumn) => ColumnTreatment {
  return ({ type, nativeType }) => {
    const made: ColumnWord = type.unsigned ? columnWord(word, { min: 0 }) : columnWord(word)
    if (type.precision === undefined || type.scale === undefined) return { kind: 'served', word: made }
    return { kind: 'readOnly', word: made, why: `${nativeType} rounds what is written to it` }
  }
}

export const BYTES_OF_TEXT: Readonly<Record<string, number>> = {
  tinytext: 255,
  text: 65_535,
  mediumtext: 16_777_215,
  longtext: 4_294_967_295
}
/** How many bytes a character takes in a column at most, for each byte that it takes in UTF-8. */
function growthOf(collation: string | undefined): number {
  const [characters = ''] = collation?.split('_', 1) ?? []
  return GROWTH[characters] ?? 1
}

const GROWTH: Readonly<Record<string, number>> = { utf16: 2, utf16le: 2, ucs2: 2, gb18030: 2, utf32: 4 }

export const BYTES_OF_BLOB: Readonly<Record<string, number>> = {
  tinyblob: 255,
  blob: 65_535,
  mediumblob: 16_777_215,
  longblob: 4_294_967_295
}

function fraction(word: string): (column: LiveColumn) => ColumnTreatment {
  return ({ type }) => served(word, { precision: type.precision ?? 0 })
}

const DECIMALS: readonly string[] = ['decimal', 'numeric', 'dec', 'fixed']

const isOdd = (_: LiveColumn, values: StoredValues | undefined): boolean => values?.areOdd === true

const areTexts = (_: LiveColumn, values: StoredValues | undefined): boolean => values?.areTexts === true

const SPATIAL_TYPES: readonly string[] = [
  'geometry',
  'point',
  'linestring',
  'polygon',
  'multipoint',
  'multilinestring',
  'multipolygon',
  'geometrycollection',
  'geomcollection'
]

/**
 * The types of MySQL and MariaDB. docs/column-types.md is this table, and a test makes a column of each example, with values
 * written by SQL and over the API.
 */
export const mysqlTypes: ColumnTypes = {
  dependsOnValues: ({ type }) => isWidest(type) || holdsBytes(type),
  rules: [
    rule(['tinyint'], {
      shown: 'TINYINT, TINYINT(1), BOOLEAN',
      outcome: '`tinyInt()`, UNSIGNED `unsigned(tinyInt())`',
      examples: ['TINYINT', 'TINYINT(1)', 'BOOLEAN', 'TINYINT UNSIGNED'],
      treatment: wholeTreatment('tinyInt')
    }),
    rule(['smallint'], {
      shown: 'SMALLINT',
      outcome: '`smallInt()`, UNSIGNED `unsigned(smallInt())`',
      examples: ['SMALLINT', 'SMALLINT UNSIGNED'],
      treatment: wholeTreatment('smallInt')
    }),
    rule(['mediumint'], {
      shown: 'MEDIUMINT',
      outcome: '`mediumInt()`, UNSIGNED `unsigned(mediumInt())`',
      examples: ['MEDIUMINT', 'MEDIUMINT UNSIGNED'],
      treatment: wholeTreatment('mediumInt')
    }),
    rule(['int', 'integer'], {
      shown: 'INT, INTEGER',
      outcome: '`int()`, UNSIGNED or ZEROFILL `unsigned(int())`',
      examples: ['INT', 'INT UNSIGNED', 'INT(8) ZEROFILL'],
      treatment: wholeTreatment('int')
    }),
    rule(['bigint'], {
      shown: 'BIGINT, SERIAL',
      outcome: '`long()`, UNSIGNED `unsigned(long())`',
      examples: ['BIGINT', 'BIGINT UNSIGNED', 'BIGINT(20) ZEROFILL'],
      treatment: wholeTreatment('long')
    }),
    refusal(DECIMALS, {
      shown: 'DECIMAL(65, s) with a value of 65 digits in its rows',
      examples: [],
      when: isOdd,
      why: 'its rows hold numbers of 65 digits, of which a field has at most 64: make a view that shows it as text'
    }),
    rule(DECIMALS, {
      shown: 'DECIMAL(p, s), NUMERIC(p, s)',
      outcome:
        '`decimal(p, s)`, UNSIGNED `money(p, s)`; of 65 digits `decimal(64, s)`: a value that needs them all is not shown',
      examples: [
        'DECIMAL(10,2)',
        'DECIMAL(18,6)',
        'DECIMAL(10,2) UNSIGNED',
        'DECIMAL(6,2) ZEROFILL',
        'NUMERIC(5)',
        'DECIMAL(19,4)',
        'DECIMAL(38,0)',
        'DECIMAL(65,30)'
      ],
      treatment: ({ type }) =>
        served(type.unsigned ? 'money' : 'decimal', Math.min(type.precision ?? 10, DECIMAL_DIGITS), type.scale ?? 0)
    }),
    rule(['float'], {
      shown: 'FLOAT',
      outcome: '`float()`; FLOAT(m, d) read-only: it rounds',
      examples: ['FLOAT', 'FLOAT UNSIGNED', 'FLOAT(7,3)'],
      treatment: approximate('float')
    }),
    rule(['double', 'real', 'double precision'], {
      shown: 'DOUBLE, REAL',
      outcome: '`double()`; DOUBLE(m, d) read-only: it rounds',
      examples: ['DOUBLE', 'DOUBLE UNSIGNED', 'DOUBLE(10,4)'],
      treatment: approximate('double')
    }),
    rule(['bit'], {
      shown: 'BIT(n)',
      outcome: '`bits(n)`: a bool for one bit, a number up to 32, digits above',
      examples: ['BIT(1)', 'BIT(8)', 'BIT(32)', 'BIT(64)'],
      treatment: ({ type }) => served('bits', type.length ?? 1)
    }),
    rule(['char', 'varchar'], {
      shown: 'CHAR(n), VARCHAR(n)',
      outcome: '`text(n, 0)`',
      examples: [
        'CHAR(3)',
        'VARCHAR(255)',
        'VARCHAR(40) COLLATE utf8mb4_bin',
        'NATIONAL CHAR(3)',
        'VARCHAR(40) CHARACTER SET latin1'
      ],
      treatment: ({ type }) => served('text', Math.max(type.length ?? 1, 1), 0)
    }),
    rule(Object.keys(BYTES_OF_TEXT), {
      shown: 'TINYTEXT, TEXT, MEDIUMTEXT, LONGTEXT',
      outcome:
        '`longText(n)` with the bytes of the type; half of them in UTF-16, UCS-2 and GB 18030, a quarter in UTF-32, whose ' +
        'characters take more bytes than in UTF-8',
      examples: [
        'TINYTEXT',
        'TEXT',
        'MEDIUMTEXT',
        'LONGTEXT',
        'TEXT CHARACTER SET utf16',
        'TINYTEXT CHARACTER SET utf32'
      ],
      treatment: ({ type, collation }) =>
        served('longText', Math.floor((BYTES_OF_TEXT[type.base] ?? 0) / growthOf(collation)))
    }),
    rule(['date'], { shown: 'DATE', outcome: '`date()`', examples: ['DATE'], treatment: () => served('date') }),
    rule(['time'], {
      shown: 'TIME(f)',
      outcome: '`time({ precision: f })`',
      examples: ['TIME', 'TIME(3)', 'TIME(6)'],
      treatment: fraction('time')
    }),
    rule(['datetime'], {
      shown: 'DATETIME(f)',
      outcome: '`dateTime({ precision: f })`, read and written as UTC',
      examples: ['DATETIME', 'DATETIME(3)', 'DATETIME(6)'],
      treatment: fraction('dateTime')
    }),
    rule(['timestamp'], {
      shown: 'TIMESTAMP(f)',
      outcome: '`timestamp({ precision: f })`',
      examples: ['TIMESTAMP NULL', 'TIMESTAMP(6) NULL'],
      treatment: fraction('timestamp')
    }),
    rule(['year'], { shown: 'YEAR', outcome: '`year()`', examples: ['YEAR'], treatment: () => served('year') }),
    refusal(['enum', 'set'], {
      shown: 'ENUM and SET with a word that ends with a space, SET with an empty word',
      examples: [],
      when: ({ type }) =>
        type.words?.some((word) => word.endsWith(' ') || (word === '' && type.base === 'set')) === true,
      why: 'a word of an entity file has no space at its end, and one of a SET at least one character; make a view that shows it as text'
    }),
    refusal(['enum', 'set'], {
      shown: 'ENUM and SET with a question mark in a word',
      examples: ["ENUM('a','😀') CHARACTER SET utf8mb4", "SET('a','b 😀') CHARACTER SET utf8mb4"],
      // The catalogue of MySQL and MariaDB has three bytes for a character.
      when: ({ type }) => type.words?.some((word) => word.includes('?')) === true,
      why:
        'the server shows an emoji, or any other character of four bytes, of a word as a question mark, so that the words ' +
        'are not known: name them in the entity file, or make a view that shows it as text'
    }),
    rule(['enum'], {
      shown: "ENUM('a', 'b')",
      outcome: "`oneOf(['a', 'b'])`",
      examples: ["ENUM('small','it''s','x,y')", "ENUM('','404','301')"],
      treatment: ({ type }) => served('oneOf', type.words ?? [])
    }),
    rule(['set'], {
      shown: "SET('a', 'b')",
      outcome: "`setOf(['a', 'b'])`",
      examples: ["SET('read','write','it''s')"],
      treatment: ({ type }) => served('setOf', type.words ?? [])
    }),
    rule(['json'], { shown: 'JSON', outcome: '`json()`', examples: ['JSON'], treatment: () => served('json') }),
    rule(['binary'], {
      shown: 'BINARY(n) with texts in UTF-8 in its rows, and nothing else',
      outcome: '`longText(n)`, compared by its bytes; read-only, since BINARY fills up shorter texts',
      examples: [],
      when: areTexts,
      treatment: ({ type }) => ({
        kind: 'readOnly',
        word: columnWord('longText', Math.max(type.length ?? 1, 1)),
        why: 'BINARY fills up shorter texts with the character U+0000'
      })
    }),
    rule(['varbinary'], {
      shown: 'VARBINARY(n) with such texts in its rows',
      outcome: '`longText(n)`, compared by its bytes',
      examples: [],
      when: areTexts,
      treatment: ({ type }) => served('longText', Math.max(type.length ?? 1, 1))
    }),
    rule(Object.keys(BYTES_OF_BLOB), {
      shown: 'TINYBLOB, BLOB, MEDIUMBLOB, LONGBLOB with such texts in their rows',
      outcome: '`longText(n)` of as many bytes, compared by its bytes',
      examples: [],
      when: areTexts,
      treatment: ({ type }) => served('longText', BYTES_OF_BLOB[type.base] ?? 0)
    }),
    rule(['binary'], {
      shown: 'BINARY(n)',
      outcome: '`binary(n, n)`: all values have n bytes',
      examples: ['BINARY(4)', 'BINARY(16)'],
      treatment: ({ type }) => served('binary', Math.max(type.length ?? 1, 1), Math.max(type.length ?? 1, 1))
    }),
    rule(['varbinary'], {
      shown: 'VARBINARY(n)',
      outcome: '`binary(n)`',
      examples: ['VARBINARY(10)', 'VARBINARY(255)'],
      treatment: ({ type }) => served('binary', Math.max(type.length ?? 1, 1))
    }),
    rule(Object.keys(BYTES_OF_BLOB), {
      shown: 'TINYBLOB, BLOB, MEDIUMBLOB, LONGBLOB',
      outcome: '`binary(n)` of as many bytes, at most 1 MiB',
      examples: ['TINYBLOB', 'BLOB', 'MEDIUMBLOB', 'LONGBLOB'],
      treatment: ({ type }) => served('binary', Math.min(BYTES_OF_BLOB[type.base] ?? 0, LONGEST_SENT_VALUE))
    }),
    rule(['uuid'], {
      shown: 'UUID (MariaDB)',
      outcome: '`guid()`',
      examples: ['UUID'],
      treatment: () => served('guid')
    }),
    refusal(['inet4', 'inet6'], {
      shown: 'INET4, INET6 (MariaDB)',
      examples: ['INET6'],
      why: 'an internet address has no word here; make a view that shows it as text'
    }),
    refusal(SPATIAL_TYPES, {
      shown: 'GEOMETRY, POINT, LINESTRING, POLYGON, MULTI…, GEOMETRYCOLLECTION',
      examples: ['GEOMETRY', 'POINT', 'LINESTRING', 'POLYGON', 'MULTIPOINT', 'GEOMETRYCOLLECTION'],
      why:
        'a place or shape has no JSON form here; make a view that shows it as text or numbers, by ST_AsText(…), ST_X(…) ' +
        'and ST_Y(…)'
    }),
    refusal(['vector'], {
      shown: 'VECTOR(n)',
      examples: [],
      why: 'a vector has no JSON form here; make a view that shows it as text'
    }),
    refusal(['xmltype'], {
      shown: 'XMLTYPE (MariaDB)',
      examples: [],
      why: 'XML has no word here; make a view that shows it as text'
    })
  ]
}

/** A decimal of more digits than a field has. */
function isWidest({ base, precision }: LiveColumn['type']): boolean {
  return DECIMALS.includes(base) && (precision ?? 0) > DECIMAL_DIGITS
}

const escapedName = (name: string): string => `\`${name.replaceAll('`', '``')}\``

function holdsBytes({ base }: LiveColumn['type']): boolean {
  return base === 'binary' || base === 'varbinary' || base in BYTES_OF_BLOB
}

/** Rows that are looked at where their values may be of megabytes. */
const LONG_ROWS_LOOKED_AT = 1000

/** What the first rows hold in these columns. A server has no storage classes. */
export async function mysqlStoredValues(
  select: SelectRows,
  table: string,
  columns: readonly LiveColumn[]
): Promise<ReadonlyMap<string, StoredValues>> {
  const found = new Map<string, StoredValues>()
  const isLong = ({ type }: LiveColumn): boolean => type.base in BYTES_OF_BLOB
  for (const [some, rows] of [
    [columns.filter((one) => !isLong(one)), ROWS_LOOKED_AT],
    [columns.filter(isLong), LONG_ROWS_LOOKED_AT]
  ] as const) {
    if (some.length === 0) continue
    const looks = some.map((column, at) => `MAX(${oddness(column)}) AS o${at}, MIN(${textness(column)}) AS t${at}`)
    const inner = some.map(({ name }) => escapedName(name)).join(', ')
    const [row = {}] = await select<Readonly<Record<string, unknown>>>(
      `SELECT ${looks.join(', ')} FROM (SELECT ${inner} FROM ${escapedName(table)} LIMIT ${rows}) AS looked_at`
    )
    for (const [at, { name }] of some.entries()) {
      const is = (look: string): boolean => Number(row[`${look}${at}`] ?? 0) === 1
      found.set(name, { classes: new Set<string>(), areFlags: false, areOdd: is('o'), areTexts: is('t') })
    }
  }
  return found
}

/**
 * Whether bytes are a text: UTF-8 that begins without control characters but tabs and ends of lines, which short bytes of
 * something else may have. NULL for no bytes, which tell nothing.
 */
function textness({ name, type }: LiveColumn): string {
  if (!holdsBytes(type)) return '0'
  const value = escapedName(name)
  const isText = `CAST(CONVERT(${value} USING utf8mb4) AS BINARY) <=> CAST(${value} AS BINARY)`
  return `IF(LENGTH(${value}) > 0, ${isText} AND HEX(LEFT(${value}, 255)) NOT REGEXP '^(..)*(0[0-8BCEF]|1.)', NULL)`
}

/** Whether a number has more digits than a field. */
function oddness({ name, type }: LiveColumn): string {
  return isWidest(type) ? `ABS(${escapedName(name)}) >= 1${'0'.repeat(DECIMAL_DIGITS - (type.scale ?? 0))}` : '0'
}
