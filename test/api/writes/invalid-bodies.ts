/** A member that a product's create or PUT must reject: JSON text as sent, and a part of what the answer says. */
interface BadMember {
  readonly member: string
  readonly json: string
  readonly says: string
}

const bad = (member: string, ...cases: readonly (readonly [json: string, says?: string])[]): BadMember[] =>
  cases.map(([json, says = member]) => ({ member, json, says }))

const NOT_STRINGS = [['1'], ['true'], ['[]'], ['{}'], ['null', 'null']] as const

/** Contract section 3: nothing is coerced, rounded or cut. */
export const BAD_MEMBERS: readonly BadMember[] = [
  ...bad('name', ...NOT_STRINGS, ['""', '1 to 200'], [JSON.stringify('x'.repeat(201)), '1 to 200']),
  ...bad('name', [JSON.stringify('🎈'.repeat(201)), '200'], ['"a\\u0000b"'], ['"\\ud800"'], ['"\\udc00x"']),
  ...bad('sku', ...NOT_STRINGS, ['""', '1 to 64'], [JSON.stringify('x'.repeat(65)), '1 to 64']),
  ...bad(
    'categoryId',
    ['"1"'],
    ['1.5'],
    ['true'],
    ['null', 'null'],
    ['2147483648'],
    ['-2147483649'],
    ['1e10'],
    ['[1]'],
    ['""']
  ),
  ...bad(
    'price',
    ['null', 'null'],
    ['true'],
    ['"1,5"'],
    ['"1e2"'],
    ['" 1"'],
    ['"+1"'],
    ['"."'],
    ['"1."'],
    ['""'],
    ['"0x10"']
  ),
  ...bad('price', ['"19.999"', '2'], ['19.999', '2'], ['"1.000"', '2'], ['1.000', '2'], ['1e-3', '2']),
  ...bad('price', ['"100000000.00"', '8'], ['100000000', '8'], ['1e300'], ['"-0.01"', '0'], ['-1', '0']),
  // More than 15 significant digits in a JSON number; as a string the number of digits is what the column allows.
  ...bad('price', ['1.000000000000000', 'string'], ['0.1234567890123456', 'string']),
  ...bad('weightGrams', ['-1', '0'], ['0.5', 'from 0 to 2147483647'], ['"5"'], ['2147483648'], ['false']),
  ...bad(
    'barcode',
    ['9007199254740992', 'string'],
    ['-9007199254740992', 'string'],
    ['1e16', 'string'],
    ['1.5'],
    ['true']
  ),
  ...bad(
    'barcode',
    ['"9223372036854775808"', '9223372036854775807'],
    ['"-9223372036854775809"', '-9223372036854775808']
  ),
  ...bad('barcode', ['"12a"'], ['"1.0"'], ['""'], ['" 1"'], ['"+1"'], ['"0x1"'], [JSON.stringify('9'.repeat(500))]),
  ...bad('isActive', ['"true"'], ['1'], ['0'], ['null', 'null'], ['[]']),
  ...bad(
    'releasedAt',
    ['"2026-02-30T00:00:00Z"'],
    ['"2026-01-31"'],
    ['"yesterday"'],
    ['""'],
    ['1767225600000'],
    ['true']
  ),
  ...bad('releasedAt', ['"2026-01-31T08:00:00.0001Z"'], ['"2026-01-31T25:00:00Z"'], ['"2026-13-01T00:00:00Z"']),
  ...bad('releasedAt', ['"2026-01-31T08:00:00+25:00"'], ['"2026-01-31 08:00"'], ['"0000-00-00T00:00:00Z"']),
  ...bad(
    'externalId',
    ['"6f9619ff"'],
    ['"6f9619ff-8b86-d011-b42d-00c04fc964fg"'],
    ['"{6f9619ff-8b86-d011-b42d-00c04fc964ff}"'],
    ['1'],
    ['""']
  ),
  ...bad('description', ['1'], [JSON.stringify('x'.repeat(2001)), '2000'], ['"\\u0000"'], ['["x"]'])
]

/** Bodies that are JSON and yet no request, with what the answer says. */
export const BAD_DOCUMENTS: readonly { readonly body: string; readonly says: string }[] = [
  { body: 'null', says: 'object' },
  { body: '[]', says: 'object' },
  { body: '[{"name":"x"}]', says: 'object' },
  { body: '"text"', says: 'object' },
  { body: '42', says: 'object' },
  { body: 'true', says: 'object' },
  { body: '{"name":"a","name":"b"}', says: 'name' },
  { body: `${'['.repeat(5000)}${']'.repeat(5000)}`, says: 'nested' },
  { body: `{"name":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`, says: 'nested' }
]

/** Bodies that are no JSON. */
export const MALFORMED: readonly (string | Buffer)[] = [
  '{',
  '{"name":}',
  "{'name':'x'}",
  '{"name":"x",}',
  '{"name":NaN}',
  '{"a":01}',
  '{"a":1}{}',
  '{"a":"\t"}',
  '\u00a0{}',
  ' ',
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')]),
  Buffer.from('{"name":"x"}', 'utf16le')
]
