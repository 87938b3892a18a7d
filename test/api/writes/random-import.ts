import type { Random } from '../../faults/fuzz.js'

// Random files to import, and what becomes of them: written by hand from contract.md section 5, without anything of the service.

type Json = string | number | boolean | null
export type Body = Readonly<Record<string, Json>>

/** A row of a file: a body, a line that is none (`body.invalid` as a whole), or what ends the import. */
export type Row =
  | { readonly is: 'body'; readonly body: Body }
  | { readonly is: 'no body' }
  | { readonly is: 'end'; readonly code: 'body.malformed' | 'body.too-large' }

export interface ImportFile {
  readonly format: 'csv' | 'ndjson'
  readonly bytes: Buffer
  readonly rows: readonly Row[]
  /** Writes the rows of the file once more, with other quotes and blanks, and without what ends the import. */
  readonly mended: () => ImportFile
}

/** How each property of a product is spelled in CSV. Others are text. */
const TYPES: Readonly<Record<string, 'int' | 'bool'>> = { categoryId: 'int', weightGrams: 'int', isActive: 'bool' }
const NULLABLE: readonly string[] = ['weightGrams', 'barcode', 'releasedAt', 'externalId', 'description']
const REQUIRED: readonly string[] = ['name', 'sku', 'categoryId', 'price']
export const MEMBERS: readonly string[] = [...REQUIRED, ...NULLABLE, 'isActive']
/** Names of a product that no create sets, and of nothing. */
const IGNORED = ['colour', 'displayName', 'rowVersion'] as const

const WHOLE = /^-?\d+$/
const DECIMAL = /^\d{1,8}(?:\.\d{1,2})?$/
const GUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i
const isText = (value: Json, most: number): boolean =>
  typeof value === 'string' && value.length >= 1 && value.length <= most
const isInt = (value: Json, least: number): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= 2_147_483_647

/** What a create takes (contract.md section 3, domain.md). */
const TAKES: Readonly<Record<string, (value: Json) => boolean>> = {
  name: (value) => isText(value, 200),
  sku: (value) => isText(value, 64),
  categoryId: (value) => isInt(value, -2_147_483_648),
  price: (value) => DECIMAL.test(String(value)),
  weightGrams: (value) => isInt(value, 0),
  barcode: (value) => WHOLE.test(String(value)) && BigInt.asIntN(64, BigInt(String(value))) === BigInt(String(value)),
  releasedAt: (value) => !Number.isNaN(Date.parse(String(value))),
  externalId: (value) => GUID.test(String(value)),
  description: (value) => typeof value === 'string',
  isActive: (value) => typeof value === 'boolean'
}

const VALUES: Readonly<Record<string, { readonly good: readonly Json[]; readonly wrong: readonly Json[] }>> = {
  name: {
    good: ['Jug', 'Jug "ä", large', '=1+1', "'quoted", ' blank ', '# export of 1', '€😀'],
    wrong: ['', 'n'.repeat(201)]
  },
  categoryId: { good: [1, 2, 3], wrong: ['x', 1.5, 3_000_000_000] },
  price: { good: ['0', '19.9', '12345678.90', 7.25, 3], wrong: ['x', '1.234', '-1', '123456789'] },
  weightGrams: { good: [0, 12, 2_147_483_647, null], wrong: [-1, 'heavy', 0.5, 2_147_483_648] },
  barcode: { good: ['9007199254740993', '-1', 42, null], wrong: ['9223372036854775808', 'x'] },
  releasedAt: { good: ['2026-01-31T08:00:00+01:00', '2026-02-01T00:00:00.250Z', null], wrong: ['yesterday'] },
  externalId: { good: ['0A1B2C3D-0000-4000-8000-000000000001', null], wrong: ['0A1B2C3D'] },
  description: { good: ['two\r\nlines', 'a,b;c\n"d"', '', 'ends with a quote"', null], wrong: [] },
  isActive: { good: [true, false], wrong: ['maybe'] }
}

/** Lines of NDJSON that are JSON and no row. */
const NO_BODIES = ['[1]', 'null', '"x"', '{"sku":"a","sku":"b"}'] as const
/** Of a category that is not there. */
const NO_CATEGORY = 999_999
/** The rows of a chunk. */
export const CHUNK = 500
const SKUS = 40
/** More than a row may have. */
const TOO_LONG = 1024 * 1024 + 10

export function randomFile(random: Random): ImportFile {
  const format = random.pick(['csv', 'ndjson'] as const)
  const isLarge = random.percent(4)
  const length = isLarge ? random.pick([499, 500, 501, 1000, 1001, 1010]) : random.below(14)
  const wrong = isLarge ? random.pick([0, 1]) : random.pick([0, 0, 10, 30])
  const columns = shuffledBy(random, [
    ...MEMBERS.filter((name) => !random.percent(name === 'name' ? 0 : REQUIRED.includes(name) ? 1 : 30)),
    ...IGNORED.filter(() => random.percent(12))
  ])
  const drawn = Array.from({ length }, (_, at) => {
    const members = columns.flatMap((name): readonly (readonly [string, Json])[] => {
      // CSV has a cell for each, NDJSON need not.
      if (format === 'ndjson' && !REQUIRED.includes(name) && random.percent(10)) return []
      return [[name, name === 'sku' ? skuOf(random, isLarge ? at : undefined, wrong) : valueOf(random, name, wrong)]]
    })
    return Object.fromEntries(members)
  })
  const end = random.percent(8) ? random.below(length + 1) : undefined
  if (format === 'csv') return csvFile(random, { columns, drawn, end })
  const noBodies = drawn.map(() => (random.percent(wrong / 5) ? random.pick(NO_BODIES) : undefined))
  return ndjsonFile(random, { drawn, end, noBodies })
}

function skuOf(random: Random, at: number | undefined, wrong: number): Json {
  if (random.percent(wrong)) return random.pick(['', 's'.repeat(65), 'HM-001', 'hm-001'])
  const sku = at === undefined ? `RI-x${random.below(SKUS)}` : `RI-large-${at}`
  // Letter case makes no other value.
  return random.percent(20) ? sku.toLowerCase() : sku
}

function valueOf(random: Random, name: string, wrong: number): Json {
  const values = VALUES[name]
  // What an empty cell of a property stands for depends on what the service says of it.
  if (values === undefined) return name === 'colour' ? random.pick<Json>(['red', '', null]) : 'red'
  if (name === 'categoryId' && random.percent(wrong / 3)) return NO_CATEGORY
  const [first = null, ...others] = random.percent(wrong / 3) && values.wrong.length > 0 ? values.wrong : values.good
  return random.pick([first, ...others])
}

function shuffledBy<Item>(random: Random, items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, key: random.below(2 ** 30) }))
    .toSorted((one, other) => one.key - other.key)
    .map(({ item }) => item)
}

interface Drawn {
  readonly drawn: readonly Body[]
  /** Before which row there is one that ends the import. */
  readonly end: number | undefined
}

function csvFile(random: Random, { columns, drawn, end }: Drawn & { readonly columns: readonly string[] }): ImportFile {
  const cell = (value: Json): string => {
    if (value === null) return ''
    const text = typeof value === 'boolean' && random.percent(50) ? String(value).toUpperCase() : String(value)
    const mustBeQuoted = text === '' || /[",\r\n]/.test(text) || text.startsWith('# export ')
    return mustBeQuoted || random.percent(20) ? `"${text.replaceAll('"', '""')}"` : text
  }
  const endings = [
    { code: 'body.malformed', line: Buffer.from(columns.slice(1).join()) },
    { code: 'body.malformed', line: Buffer.from(`${columns.join()},more`) },
    { code: 'body.malformed', line: Buffer.from(`a"b${','.repeat(columns.length - 1)}`) },
    { code: 'body.malformed', line: Buffer.from(`"a"b${','.repeat(columns.length - 1)}`) },
    { code: 'body.malformed', line: Buffer.from([0x61, 0xe4, ...Buffer.from(','.repeat(columns.length - 1))]) },
    { code: 'body.malformed', line: Buffer.from(`# export truncated at 1 rows${','.repeat(columns.length - 1)}`) },
    { code: 'body.too-large', line: Buffer.alloc(TOO_LONG, 'x') }
  ] as const
  const lines = [
    Buffer.from(columns.map((name) => (random.percent(20) ? `"${name}"` : name)).join()),
    ...drawn.map((row) => Buffer.from(columns.map((name) => cell(row[name] ?? null)).join()))
  ]
  const rows: Row[] = drawn.map((row) => ({ is: 'body', body: readCells(columns, row) }))
  if (end !== undefined) {
    const { code, line } = random.pick(endings)
    lines.splice(end + 1, 0, line)
    rows.splice(end, Infinity, { is: 'end', code })
  }
  const mended = (): ImportFile => csvFile(random, { columns, drawn, end: undefined })
  return { format: 'csv', bytes: joined(random, lines), rows, mended }
}

/** A row as a create has it: what an empty cell of a property that is not nullable stands for is left out. */
function readCells(columns: readonly string[], row: Body): Body {
  return Object.fromEntries(
    columns.flatMap((name): readonly (readonly [string, Json])[] => {
      const value = row[name] ?? null
      const isEmpty = value === null || (value === '' && TYPES[name] !== undefined)
      if (isEmpty) return MEMBERS.includes(name) && !NULLABLE.includes(name) ? [] : [[name, null]]
      return [[name, TYPES[name] === undefined ? String(value) : value]]
    })
  )
}

/** `noBodies`: lines in place of some rows. */
function ndjsonFile(
  random: Random,
  { drawn, end, noBodies }: Drawn & { readonly noBodies: readonly (string | undefined)[] }
): ImportFile {
  const rows = drawn.map((body, at): Row => (noBodies[at] === undefined ? { is: 'body', body } : { is: 'no body' }))
  const lines = drawn.map((body, at) => {
    const line = noBodies[at] ?? JSON.stringify(body)
    return Buffer.from(random.percent(10) ? ` ${line}\t` : line)
  })
  if (end !== undefined) {
    const [code, line] = random.pick([
      ['body.malformed', Buffer.from('{"name":')],
      ['body.malformed', Buffer.from([0x22, 0xe4, 0x22])],
      ['body.malformed', Buffer.from("{'name':1}")],
      ['body.too-large', Buffer.alloc(TOO_LONG, '1')]
    ] as const)
    lines.splice(end, 0, line)
    rows.splice(end, Infinity, { is: 'end', code })
  }
  const mended = (): ImportFile => ndjsonFile(random, { drawn, end: undefined, noBodies })
  return { format: 'ndjson', bytes: joined(random, lines), rows, mended }
}

/** Lines with ends of either kind, blank ones between, and perhaps a byte order mark. */
function joined(random: Random, lines: readonly Buffer[]): Buffer {
  const [first, second] = random.pick<readonly [string, string]>([
    ['\r\n', '\r\n'],
    ['\n', '\n'],
    ['\r\n', '\n']
  ])
  const lastHasEnd = random.percent(50)
  const parts = lines.flatMap((line, at) => {
    const isLast = at === lines.length - 1
    const blank = random.percent(3) && !isLast ? random.pick([first, second]) : ''
    return [line, Buffer.from(isLast && !lastHasEnd ? '' : random.pick([first, second])), Buffer.from(blank)]
  })
  return Buffer.concat([Buffer.from(random.percent(20) ? '\uFEFF' : ''), ...parts])
}

/** A fault of a row: of the whole row where the pointer is empty. */
export interface Fault {
  /** From 1. */
  readonly row: number
  readonly code: 'body.invalid' | 'conflict'
  readonly pointer: string
}

/** Stored rows by what their unique index compares. */
export type Stored = ReadonlyMap<string, Body>
export const keyOf = (sku: Json | undefined): string => String(sku).toLowerCase()

export interface Judged {
  readonly created: number
  readonly existing: number
  readonly failed: number
  readonly faults: readonly Fault[]
  /** Names of members that were ignored. */
  readonly ignored: ReadonlySet<string>
  readonly after: Stored
}

/** What a file comes to that skips wrong rows: one row after the other. `by`: whether `by=sku`. */
export function judgeRows(rows: readonly Row[], before: Stored, by: boolean): Judged {
  const after = new Map(before)
  const faults: Fault[] = []
  const ignored = new Set<string>()
  let [created, existing, failed] = [0, 0, 0]
  for (const [index, row] of rows.entries()) {
    const found = contentFaults(row, index)
    if (row.is === 'body' && found.length === 0) {
      const { body } = row
      for (const name of Object.keys(body)) if (!MEMBERS.includes(name)) ignored.add(name)
      const key = keyOf(body['sku'])
      if (!after.has(key) && body['categoryId'] !== NO_CATEGORY) {
        after.set(key, storedRow(body))
        created += 1
        continue
      }
      if (by && after.has(key)) {
        existing += 1
        continue
      }
      found.push({ row: index + 1, code: 'conflict', pointer: after.has(key) ? '/sku' : '/categoryId' })
    }
    failed += 1
    faults.push(...found)
  }
  return { created, existing, failed, faults, ignored, after }
}

/** Everything that is wrong with the content of a row. */
export function contentFaults(row: Row, index: number): Fault[] {
  const fault = (pointer: string): Fault => ({ row: index + 1, code: 'body.invalid', pointer })
  if (row.is !== 'body') return [fault('')]
  const { body } = row
  return MEMBERS.flatMap((name) => {
    const value = body[name]
    if (value === undefined) return REQUIRED.includes(name) ? [fault(`/${name}`)] : []
    if (value === null && NULLABLE.includes(name)) return []
    return value !== null && TAKES[name]?.(value) === true ? [] : [fault(`/${name}`)]
  })
}

/** A row as reads show it. */
function storedRow(body: Body): Body {
  const { name, sku, categoryId, price, isActive = true } = body
  const [whole = '', fraction = ''] = String(price).split('.')
  const text = (value: Json | undefined, read: (value: string) => string): Json =>
    value === null || value === undefined ? null : read(String(value))
  return {
    name: name ?? null,
    sku: sku ?? null,
    categoryId: categoryId ?? null,
    price: `${whole}.${fraction.padEnd(2, '0')}`,
    weightGrams: body['weightGrams'] ?? null,
    barcode: text(body['barcode'], (digits) => digits),
    isActive,
    releasedAt: text(body['releasedAt'], (moment) => new Date(moment).toISOString()),
    externalId: text(body['externalId'], (guid) => guid.toLowerCase()),
    description: body['description'] ?? null
  }
}
