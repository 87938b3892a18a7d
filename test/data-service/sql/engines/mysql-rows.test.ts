import { expect } from 'chai'
import { stringify } from 'csv-stringify/sync'
import { CsvWriter } from '../../../../data-service/entity/fields/csv-text.js'
import { JsonWriter } from '../../../../data-service/entity/fields/json-text.js'
import type { Field } from '../../../../data-service/entity/fields/field.js'
import {
  binary,
  bits,
  bool,
  date,
  dateTime,
  decimal,
  double,
  float,
  guid,
  int,
  json,
  long,
  longText,
  oneOf,
  setOf,
  smallInt,
  text,
  time,
  timestamp,
  tinyInt,
  unsigned,
  year
} from '../../../../data-service/entity/fields/words.js'
import type { Database } from '../../../../data-service/sql/engines/engine.js'
import { MysqlRow } from '../../../../data-service/sql/engines/mysql/driver/mysql-rows.js'
import { innerWay } from '../../../../data-service/sql/engines/mysql/driver/mysql-ways.js'
import type { Reader } from '../../../../data-service/sql/engines/sessions.js'
import {
  type CsvRow,
  DecodedRow,
  type FoundRow,
  selectStatement
} from '../../../../data-service/sql/engines/statement.js'
import { type FreshDatabase, freshDatabase } from '../../../harness/database.js'
import { describeMysqlWays } from '../each-way.js'

/** A type, its word in an entity file, and values as SQL with the JSON of the contract. */
type Column = readonly [ddl: string, field: Field, ...values: (readonly [sql: string, json: string])[]]

const LONG_TEXT = 'ä'.repeat(70_000)

const COLUMNS: readonly Column[] = [
  ['TINYINT(1)', bool(), ['0', 'false'], ['1', 'true']],
  ['BIT(1)', bits(1), ["b'0'", 'false'], ["b'1'", 'true']],
  ['BIT(40)', bits(40), ["b'1111111111111111111111111111111111111111'", '"1099511627775"']],
  ['TINYINT', tinyInt(), ['-128', '-128'], ['127', '127'], ['0', '0']],
  ['TINYINT UNSIGNED', unsigned(tinyInt()), ['255', '255']],
  ['SMALLINT', smallInt(), ['-32768', '-32768'], ['32767', '32767']],
  ['SMALLINT UNSIGNED', unsigned(smallInt()), ['65535', '65535']],
  ['MEDIUMINT', int(), ['-8388608', '-8388608'], ['8388607', '8388607']],
  ['INT', int(), ['-2147483648', '-2147483648'], ['2147483647', '2147483647'], ['7', '7']],
  ['INT UNSIGNED', unsigned(int()), ['4294967295', '4294967295']],
  ['INT(8) ZEROFILL', unsigned(int()), ['42', '42']],
  ['YEAR', year(), ['1901', '1901'], ['2155', '2155']],
  ['INT', long(), ['-5', '"-5"']],
  [
    'BIGINT',
    long(),
    ['9223372036854775807', '"9223372036854775807"'],
    ['-9223372036854775808', '"-9223372036854775808"'],
    ['9007199254740993', '"9007199254740993"'],
    ['-9007199254740991', '"-9007199254740991"'],
    ['0', '"0"'],
    ['-1', '"-1"']
  ],
  ['BIGINT UNSIGNED', unsigned(long()), ['18446744073709551615', '"18446744073709551615"'], ['1', '"1"']],
  [
    'DECIMAL(10,2)',
    decimal(10, 2),
    ['19.90', '"19.90"'],
    ['-0.05', '"-0.05"'],
    ['99999999.99', '"99999999.99"'],
    ['0', '"0.00"']
  ],
  ['DECIMAL(10,2) ZEROFILL', decimal(10, 2), ['52.5', '"52.50"'], ['0', '"0.00"']],
  ['DECIMAL(38,0)', decimal(38, 0), [`-${'9'.repeat(38)}`, `"-${'9'.repeat(38)}"`], ['0', '"0"']],
  ['DECIMAL(30,30)', decimal(30, 30), [`0.${'1'.repeat(30)}`, `"0.${'1'.repeat(30)}"`]],
  ['DOUBLE', double(), ['0.1', '0.1'], ['-1e300', '-1e+300'], ['5', '5']],
  ['FLOAT', float(), ['1.1', '1.1'], ['16777216', '16777216']],
  ['DATE', date(), ["'1000-01-01'", '"1000-01-01"'], ["'9999-12-31'", '"9999-12-31"']],
  ['DATETIME', dateTime({ precision: 0 }), ["'2026-01-31 08:09:10'", '"2026-01-31T08:09:10.000Z"']],
  [
    'DATETIME(3)',
    dateTime(),
    ["'2026-12-31 23:59:59.999'", '"2026-12-31T23:59:59.999Z"'],
    ["'2026-01-01'", '"2026-01-01T00:00:00.000Z"'],
    ["'2026-01-01 00:00:00.050'", '"2026-01-01T00:00:00.050Z"']
  ],
  ['DATETIME(1)', dateTime({ precision: 1 }), ["'2026-01-01 00:00:00.5'", '"2026-01-01T00:00:00.500Z"']],
  [
    'DATETIME(6)',
    dateTime({ precision: 6 }),
    ["'2026-01-01 01:02:03.000004'", '"2026-01-01T01:02:03.000004Z"'],
    ["'2026-01-01 01:02:03'", '"2026-01-01T01:02:03.000000Z"']
  ],
  ['DATETIME(6)', dateTime(), ["'2026-01-01 01:02:03.123456'", '"2026-01-01T01:02:03.123456Z"']],
  ['TIMESTAMP(3) NULL', timestamp({ precision: 3 }), ["'2026-06-01 12:00:00.007'", '"2026-06-01T12:00:00.007Z"']],
  ['TIME', time(), ["'08:00:00'", '"08:00:00"'], ["'00:00:00'", '"00:00:00"']],
  [
    'TIME(6)',
    time({ precision: 3 }),
    ["'08:00:00.120000'", '"08:00:00.120"'],
    ["'23:59:59.000001'", '"23:59:59.000001"']
  ],
  [
    'VARCHAR(300)',
    text(300, 0),
    ["''", '""'],
    ["'plain'", '"plain"'],
    [String.raw`'say "hi" \\ there'`, String.raw`"say \"hi\" \\ there"`],
    ["'tab\tline\nend'", String.raw`"tab\tline\nend"`],
    ["'Grüße 😀 \u2028'", '"Grüße 😀 \u2028"'],
    [`'${'x'.repeat(260)}'`, `"${'x'.repeat(260)}"`],
    ['CHAR(1, 31, 127)', '"\\u0001\\u001f\u007f"'],
    ["'=1+1'", '"=1+1"'],
    ['\'-"1, 2"\'', String.raw`"-\"1, 2\""`],
    ["'\tübel'", String.raw`"\tübel"`],
    ["'# export truncated at 1 rows'", '"# export truncated at 1 rows"'],
    ['\'힣, "한"\'', String.raw`"힣, \"한\""`],
    ["'𝄞\r'", String.raw`"𝄞\r"`]
  ],
  ['VARCHAR(20) CHARACTER SET latin1', text(20), ["'Grüße'", '"Grüße"']],
  [
    'LONGTEXT',
    longText(100_000),
    [`'${LONG_TEXT}'`, `"${LONG_TEXT}"`],
    [`'${'y'.repeat(70_000)}'`, `"${'y'.repeat(70_000)}"`]
  ],
  ['CHAR(36)', guid(), ["'6f9619ff-8b86-d011-b42d-00cf4fc964ff'", '"6f9619ff-8b86-d011-b42d-00cf4fc964ff"']],
  ["ENUM('a','b c')", oneOf(['a', 'b c']), ["'b c'", '"b c"']],
  ["SET('read','write')", setOf(['read', 'write']), ["''", '[]'], ["'read,write'", '["read","write"]']],
  ['JSON', json(), [`'{"a":[1.10,"ü"]}'`, '{"a":[1.10,"ü"]}']],
  [
    'VARBINARY(100)',
    binary(100),
    ["x''", '""'],
    ["x'00'", '"AA=="'],
    ["x'fffe'", '"//4="'],
    ["x'0102030405060708'", '"AQIDBAUGBwg="'],
    [`x'${'ab'.repeat(100)}'`, `"${Buffer.alloc(100, 0xab).toString('base64')}"`]
  ]
]

/** The format of exports, as the gateway has it. */
const FORMAT = { record_delimiter: '\r\n', quoted_match: /^$|[\r\n;\t]|^# export / } as const

/** The text of a value by its JSON, as the contract wants it in a cell. */
function cellOf({ type }: Field, json: string | undefined, escapeFormulas: boolean): string | null {
  if (json === undefined) return null
  if (type === 'json') return json
  const value: unknown = JSON.parse(json)
  if (Array.isArray(value)) return value.join()
  if (typeof value !== 'string') return json
  return escapeFormulas && type === 'string' && /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(value)
    ? `'${value}`
    : value
}

describeMysqlWays('shown rows of', ({ way, open }) => {
  const isInner = way === innerWay
  const Row = isInner ? MysqlRow : DecodedRow
  let fresh: FreshDatabase
  let database: Database
  let reader: Reader
  let shown: readonly FoundRow[]
  const exported: CsvRow[] = []
  let decoded: readonly (readonly unknown[])[]

  const rowCount = Math.max(...COLUMNS.map(([, , ...values]) => values.length)) + 1
  const names = COLUMNS.map((_, at) => `c${at}`)
  const statement = () =>
    selectStatement(
      `SELECT ${names.join(', ')}, id FROM typed ORDER BY id`,
      [
        ...COLUMNS.map(([, field], at) => ({ name: `typed.c${at}`, field })),
        { name: 'typed.id', field: int(), isKey: true }
      ],
      database.dialect.decode
    )
  const jsonOf = (row: FoundRow | undefined, at: number): string => {
    const out = new JsonWriter(1)
    row?.write(at, out)
    return out.bytes.toString('utf8', 0, out.at)
  }

  before(async () => {
    fresh = await freshDatabase('mysql')
    database = open(fresh.url)
    reader = database.openReader('It')
    const columns = COLUMNS.map(([ddl], at) => `c${at} ${ddl}`)
    await database.sequelize.query(
      `CREATE TABLE typed (id INT PRIMARY KEY, ${columns.join(', ')}) CHARACTER SET utf8mb4`
    )
    for (let row = 0; row < rowCount; row++) {
      const values = COLUMNS.map(([, , ...some]) => some[row]?.[0] ?? 'NULL')
      await database.sequelize.query(`INSERT INTO typed VALUES (${[row, ...values].join(', ')})`)
    }
    const signal = new AbortController().signal
    shown = await reader.read(signal, (session) => session.rows(statement(), {}))
    const snapshot = await reader.snapshot(signal)
    const bytes = { bytes: 1024 * 1024, isFirstFree: true, beside: 0 }
    await snapshot.each({ statement: statement(), values: {}, bytes }, (row) => exported.push(row))
    await snapshot.close()
    decoded = await reader.read(signal, (session) => session.run(statement(), {}))
  })
  after(async () => {
    await reader.close()
    await database.sequelize.close()
    await fresh.dispose()
  })

  it(`are ${isInner ? 'the bytes that the server sent' : 'the values that the driver read'}`, () => {
    expect(shown).to.have.length(rowCount)
    for (const row of [...shown, ...exported]) expect(row).to.be.instanceOf(Row)
  })

  COLUMNS.forEach(([ddl, { type }, ...values], at) => {
    it(`are written as JSON and read one by one: ${ddl} as ${type}`, () => {
      for (let row = 0; row < rowCount; row++) {
        expect(jsonOf(shown[row], at)).to.equal(values[row]?.[1] ?? 'null')
        expect(shown[row]?.value(at)).to.deep.equal(decoded[row]?.[at])
        // The order in which values are asked for does not matter.
        expect(jsonOf(shown[row], COLUMNS.length)).to.equal(String(row))
        expect(jsonOf(shown[rowCount - 1 - row], at)).to.equal(values[rowCount - 1 - row]?.[1] ?? 'null')
      }
    })
  })

  for (const escapeFormulas of [true, false]) {
    COLUMNS.forEach(([ddl, field, ...values], at) => {
      // An export has no column of bytes.
      if (field.type === 'binary') return
      it(`are written as CSV as csv-stringify does: ${ddl} as ${field.type}${escapeFormulas ? '' : ', formulas as they are'}`, () => {
        for (let row = 0; row < rowCount; row++) {
          const out = new CsvWriter(Buffer.alloc(1), { escapeFormulas })
          exported[row]?.writeCells([at, COLUMNS.length, at], out)
          const cell = cellOf(field, values[row]?.[1], escapeFormulas)
          expect(`${out.take(Buffer.alloc(1)).toString()}\r\n`).to.equal(stringify([[cell, String(row), cell]], FORMAT))
        }
      })
    })
  }

  it('are decoded as a whole as well', () => {
    expect(shown.map(({ values }) => values)).to.deep.equal(decoded)
  })

  it('name column and row where a value is none of its type, and only where it is asked for', async () => {
    const sql = 'SELECT 1e30 AS a, 12 AS id, CAST(123.45 AS DECIMAL(5,2)) AS b'
    const wrong = selectStatement(
      sql,
      [
        { name: 'typed.a', field: int() },
        { name: 'typed.id', field: int(), isKey: true },
        { name: 'typed.b', field: decimal(4, 2) }
      ],
      database.dialect.decode
    )
    const reading = reader.read(new AbortController().signal, (session) => session.rows(wrong, {}))
    const mistake = 'typed.a of the row with the id 12 is none of its type'
    const [row] = await reading
    expect(row?.value(1)).to.equal(12)
    expect(() => jsonOf(row, 0)).to.throw(TypeError, mistake)
    expect(() => row?.value(2)).to.throw(TypeError, 'is none of its type')
  })

  it('are read anew when a column has another type than before', async () => {
    const { sequelize } = database
    await sequelize.query('CREATE TABLE changed (a INT)')
    await sequelize.query('INSERT INTO changed VALUES (7)')
    const select = selectStatement(
      'SELECT a FROM changed',
      [{ name: 'changed.a', field: long() }],
      database.dialect.decode
    )
    const read = async (): Promise<string> => {
      const [row] = await reader.read(new AbortController().signal, (session) => session.rows(select, {}))
      return jsonOf(row, 0)
    }
    expect(await read()).to.equal('"7"')
    await sequelize.query('ALTER TABLE changed MODIFY a BIGINT UNSIGNED')
    await sequelize.query('UPDATE changed SET a = 18446744073709551615')
    expect(await read()).to.equal('"18446744073709551615"')
  })
})
