import type { DatabaseKind } from '../../harness/database.js'

/** A value as a SQL literal, and as JSON has it. */
export type ValuePair = readonly [literal: string, wire: unknown]

const text = (...values: readonly string[]): ValuePair[] => values.map((one) => [`'${one.replaceAll("'", "''")}'`, one])
const numbers = (...values: readonly number[]): ValuePair[] => values.map((one) => [String(one), one])
const digits = (...values: readonly string[]): ValuePair[] => values.map((one) => [one, one])
const quoted = (pairs: Readonly<Record<string, string>>): ValuePair[] =>
  Object.entries(pairs).map(([sql, wire]) => [`'${sql}'`, wire])
const bytes = (...values: readonly string[]): ValuePair[] =>
  values.map((hex) => [`x'${hex}'`, Buffer.from(hex, 'hex').toString('base64')])
const bits = (...values: readonly (readonly [string, unknown])[]): ValuePair[] =>
  values.map(([sql, wire]) => [`b'${sql}'`, wire])

const WORDS = text('', ' ', 'a ', 'Ä', "it's", '0x', 'null')

/**
 * Awkward values of each example of the tables of column types, written by hand: the smallest and largest ones, those with
 * quotes, zeros, spaces and characters beyond ASCII. Examples that are refused have none.
 */
export const COLUMN_VALUES: Readonly<Record<DatabaseKind, Readonly<Record<string, readonly ValuePair[]>>>> = {
  mysql: {
    'TINYINT(1)': numbers(0, 1, 2, -1),
    BOOLEAN: [
      ['FALSE', 0],
      ['TRUE', 1]
    ],
    TINYINT: numbers(-128, 0, 127),
    'TINYINT UNSIGNED': numbers(0, 255),
    SMALLINT: numbers(-32_768, 32_767),
    'SMALLINT UNSIGNED': numbers(0, 65_535),
    MEDIUMINT: numbers(-8_388_608, 8_388_607),
    'MEDIUMINT UNSIGNED': numbers(0, 16_777_215),
    INT: numbers(-2_147_483_648, 0, 2_147_483_647),
    'INT UNSIGNED': numbers(0, 4_294_967_295),
    'INT(8) ZEROFILL': numbers(0, 42, 4_294_967_295),
    BIGINT: digits('-9223372036854775808', '9007199254740993', '9223372036854775807'),
    'BIGINT UNSIGNED': digits('0', '9223372036854775808', '18446744073709551615'),
    'BIGINT(20) ZEROFILL': digits('0', '42'),
    'DECIMAL(10,2)': digits('-99999999.99', '0.00', '0.10', '99999999.99'),
    'DECIMAL(18,6)': digits('-999999999999.999999', '0.000001', '999999999999.999999'),
    'DECIMAL(10,2) UNSIGNED': digits('0.00', '99999999.99'),
    'DECIMAL(6,2) ZEROFILL': digits('0.00', '0.50', '52.50'),
    'NUMERIC(5)': digits('-99999', '7'),
    'DECIMAL(19,4)': digits('-999999999999999.9999', '0.0001', '922337203685477.5808'),
    'DECIMAL(38,0)': digits('99999999999999999999999999999999999999', '-18446744073709551616', '0'),
    'DECIMAL(65,30)': digits(
      '9999999999999999999999999999999999.999999999999999999999999999999',
      '-0.000000000000000000000000000001'
    ),
    // The largest one, in the digits of a double and in the fewest that read back the same.
    FLOAT: [...numbers(0, 0.5, -1.25, 1e-30), ['3.4028234663852886e38', 3.402_823_5e38]],
    'FLOAT UNSIGNED': numbers(0, 0.5),
    'FLOAT(7,3)': numbers(0.5, 1234.5),
    DOUBLE: numbers(0, 0.1, -1.5e300, 5e-324, 9_007_199_254_740_992),
    'DOUBLE UNSIGNED': numbers(0.1),
    'DOUBLE(10,4)': numbers(0.5),
    'BIT(1)': bits(['0', false], ['1', true]),
    'BIT(8)': bits(['0', 0], ['10000001', 129], ['11111111', 255]),
    'BIT(32)': bits(['1'.repeat(32), 4_294_967_295]),
    'BIT(64)': bits(['1'.repeat(64), '18446744073709551615'], ['1', '1']),
    'CHAR(3)': text('abc', '', 'Ä', "it'"),
    'VARCHAR(255)': [...WORDS, ...text('x'.repeat(255), '€ 🎈')],
    'VARCHAR(40) COLLATE utf8mb4_bin': WORDS,
    'NATIONAL CHAR(3)': text('abc', '', '€'),
    'VARCHAR(40) CHARACTER SET latin1': text('ü€', "it's", ''),
    'TEXT CHARACTER SET utf16': text('', 'x'.repeat(32_767), '🎈'),
    'TINYTEXT CHARACTER SET utf32': text('x'.repeat(63), 'ä'.repeat(31)),
    TINYTEXT: text('', 'ä'.repeat(127)),
    TEXT: text('', 'line\nline', 'x'.repeat(65_535)),
    MEDIUMTEXT: text('', 'x'.repeat(70_000)),
    LONGTEXT: text('', '€'.repeat(1000)),
    DATE: quoted({ '2024-02-29': '2024-02-29', '1000-01-01': '1000-01-01', '9999-12-31': '9999-12-31' }),
    TIME: quoted({ '00:00:00': '00:00:00', '23:59:59': '23:59:59' }),
    'TIME(3)': quoted({ '00:00:00.000': '00:00:00.000', '23:59:59.999': '23:59:59.999' }),
    'TIME(6)': quoted({ '12:00:00.000001': '12:00:00.000001' }),
    DATETIME: quoted({
      '1000-01-01 00:00:00': '1000-01-01T00:00:00.000Z',
      '9999-12-31 23:59:59': '9999-12-31T23:59:59.000Z'
    }),
    'DATETIME(3)': quoted({ '2024-02-29 23:59:59.999': '2024-02-29T23:59:59.999Z' }),
    'DATETIME(6)': quoted({ '2024-02-29 23:59:59.123456': '2024-02-29T23:59:59.123456Z' }),
    'TIMESTAMP NULL': quoted({
      '1970-01-02 00:00:01': '1970-01-02T00:00:01.000Z',
      '2038-01-19 03:14:07': '2038-01-19T03:14:07.000Z'
    }),
    'TIMESTAMP(6) NULL': quoted({ '2024-06-30 01:02:03.000001': '2024-06-30T01:02:03.000001Z' }),
    YEAR: numbers(1901, 2155),
    "ENUM('small','it''s','x,y')": text('small', "it's", 'x,y'),
    "ENUM('','404','301')": text('', '404'),
    "SET('read','write','it''s')": [
      ["''", []],
      ["'read'", ['read']],
      ["'read,it''s'", ['read', "it's"]]
    ],
    JSON: [
      ['\'{"a":[1,null,"ä"]}\'', { a: [1, null, 'ä'] }],
      ["'[]'", []],
      ['\'"text"\'', 'text'],
      ["'0'", 0],
      ["'false'", false]
    ],
    'BINARY(4)': bytes('00ff0061', '00000000'),
    'BINARY(16)': bytes('000102030405060708090a0b0c0d0eff'),
    'VARBINARY(10)': bytes('', '00', '00ff', '0a0d1a00'),
    'VARBINARY(255)': bytes('ff'.repeat(255)),
    TINYBLOB: bytes('', 'ff'.repeat(255)),
    BLOB: bytes('', '00'.repeat(65_535)),
    MEDIUMBLOB: bytes('', 'ab'.repeat(70_000)),
    LONGBLOB: bytes('', '00ff'),
    UUID: quoted({ '0a0b0c0d-0e0f-1011-8213-14151617ffff': '0a0b0c0d-0e0f-1011-8213-14151617ffff' })
  },
  sqlite: {
    BOOLEAN: [
      ['0', false],
      ['1', true]
    ],
    'TINYINT(1)': [
      ['0', false],
      ['1', true]
    ],
    INTEGER: digits('-9223372036854775808', '0', '9223372036854775807'),
    INT: digits('-9223372036854775808', '9007199254740993'),
    SMALLINT: digits('-1', '70000'),
    BIGINT: digits('9223372036854775807'),
    'UNSIGNED BIG INT': digits('0', '-1'),
    "TEXT CHECK (value IN ('small', 'it''s'))": text('small', "it's"),
    'VARCHAR(40)': [...WORDS, ...text('007', '1e3')],
    'CHAR(3)': text('abc', '', '1.0'),
    TEXT: [...WORDS, ...text('x'.repeat(70_000), '€ 🎈')],
    CLOB: text('a'),
    'NVARCHAR(10) COLLATE NOCASE': text('Ab', 'ab'),
    REAL: [
      ['0.1', 0.1],
      ['-1.5e300', -1.5e300],
      ['2.0', 2]
    ],
    'DOUBLE PRECISION': [['0.1', 0.1]],
    FLOAT: [['0.1', 0.1]],
    DATE: text('2024-02-29', 'yesterday'),
    DATETIME: text('2024-02-29 23:59:59'),
    TIMESTAMP: digits('1709251199'),
    JSON: text('{"a":1}'),
    'DECIMAL(10,2)': [
      ['19.9', 19.9],
      ['0.1', 0.1],
      ['7', 7]
    ],
    NUMERIC: [
      ['0.5', 0.5],
      ['-3', -3]
    ],
    'DECIMAL(10)': digits('-7', '9007199254740993'),
    UUID: text('0a0b0c0d-0e0f-1011-8213-14151617ffff'),
    BLOB: bytes('', '00ff'),
    '': text('any', '')
  }
}
