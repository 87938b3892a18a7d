import { isUtf8 } from 'node:buffer'
import { CsvError, type InfoField, parse } from 'csv-parse'
import { type DomainError, rejectionAt } from '../../shared/errors.js'
import { MAX_BODY_BYTES } from '../../shared/transport/wire.js'
import type { Property, Resource } from '../data/data-client.js'
import { checkRowLength, rowPlace } from './import-rows.js'

// The rows of a CSV file (RFC 4180) as bodies of creates. The cells of an export are read as it writes them, so a file of
// `escapeFormulas=false` can be imported again.

/** A cell. null: an empty one without quotes. */
type Cell = string | null

/** Bytes that are read at a time. Each may be a cell, which takes the package 10 µs. */
const READ_AT_ONCE = 1024

/** Resolves when the next READ_AT_ONCE bytes may be read. */
export type ReadingTurn = () => Promise<void>

/** The rows of a file as JSON objects. The first record names their members. */
export async function* csvRows(
  pieces: AsyncIterable<Buffer>,
  resource: Resource,
  turn: ReadingTurn
): AsyncGenerator<Buffer> {
  let header: readonly Member[] | undefined
  let rows = 0
  for await (const cells of recordsOf(slicesOf(pieces, turn))) {
    if (header === undefined) header = readHeader(cells, resource)
    else {
      const row = Buffer.from(rowText(header, cells, rows))
      checkRowLength(row.length, rows)
      rows += 1
      yield row
    }
  }
  if (header === undefined) throw wrongHeader('The file has no header row with the names of properties.')
}

async function* slicesOf(pieces: AsyncIterable<Buffer>, turn: ReadingTurn): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length; from += READ_AT_ONCE) {
      await turn()
      yield piece.subarray(from, from + READ_AT_ONCE)
    }
  }
}

/** Cells are read as Latin-1, which keeps each byte, since the package replaces bytes that are not UTF-8. */
async function* recordsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<readonly Cell[]> {
  const parser = parse({
    encoding: 'latin1',
    record_delimiter: ['\r\n', '\n'],
    // Without these the package makes an error of each such line, which takes 10 ms.
    relax_column_count: false,
    skip_empty_lines: true,
    max_record_size: MAX_BODY_BYTES,
    cast: readCell
  })
  // The error is taken from the parser itself.
  parser.on('error', () => undefined)
  const read = (): readonly Cell[] | null => parser.read() as readonly Cell[] | null
  try {
    for await (const piece of pieces) {
      parser.write(piece)
      if (parser.info.empty_lines > MAX_BLANK_LINES)
        throw wrongRow(parser.info.records - 1, `comes after ${MAX_BLANK_LINES} blank lines`)
      for (let record = read(); record !== null; record = read()) yield record
      if (parser.errored !== null) throw parser.errored
    }
    parser.end()
    yield* parser as AsyncIterable<readonly Cell[]>
  } catch (error) {
    throw errorOfParser(error)
  }
}

/** Lines that make no row, of which a file needs none. */
const MAX_BLANK_LINES = 100_000

const BEYOND_ASCII = /[\x80-\xff]/

/** An export that is cut says so in a last row, which begins so and has no quotes. */
const REMARK = '# export '

/** The package bounds the bytes of a row, and empty cells have none. No database has tables of more columns. */
const MAX_CELLS = 4096

function readCell(text: string, { quoting, index, records }: InfoField): Cell {
  if (index >= MAX_CELLS) throw wrongRow(records - 1, `has more than ${MAX_CELLS} cells`)
  if (text === '') return quoting ? text : null
  if (index === 0 && !quoting && text.startsWith(REMARK)) throw wrongRow(records - 1, `says that the file is not whole`)
  if (!BEYOND_ASCII.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  if (!isUtf8(bytes)) throw wrongRow(records - 1, 'is not UTF-8')
  return bytes.toString('utf8')
}

function errorOfParser(error: unknown): unknown {
  if (!(error instanceof CsvError)) return error
  const index = Number(error['records'] ?? 1) - 1
  if (error.code === 'CSV_MAX_RECORD_SIZE') checkRowLength(Infinity, index)
  if (error.code === 'CSV_RECORD_INCONSISTENT_FIELDS_LENGTH') {
    const { record } = error as { readonly record?: readonly unknown[] }
    return wrongRow(index, `has ${record?.length ?? 0} cells, and the header row another number`)
  }
  return wrongRow(index, 'is not CSV (RFC 4180): quotes stand around a whole cell, and a quote within it is doubled')
}

/** `index` is -1 for the header row. */
function wrongRow(index: number, what: string): DomainError {
  if (index < 0) return wrongHeader(`The header row ${what}.`)
  return rejectionAt('body.malformed', `Row ${index + 1} ${what}.`, { place: rowPlace(index) })
}

function wrongHeader(detail: string): DomainError {
  return rejectionAt('body.malformed', detail, { place: { in: 'pointer', name: '' } })
}

/** A member of the bodies, and how its cells become JSON. undefined leaves it out. */
interface Member {
  readonly name: string
  readonly json: (cell: Cell) => string | undefined
}

/** Each row is written with all names. */
const MAX_HEADER = 64 * 1024

function readHeader(cells: readonly Cell[], { properties, writeOnly, createdChildren }: Resource): readonly Member[] {
  const known = new Map([...properties, ...writeOnly].map((property) => [property.name, property]))
  const length = cells.reduce((sum, name) => sum + (name?.length ?? 0), 0)
  if (length > MAX_HEADER) throw wrongHeader(`The header row has more than ${MAX_HEADER} characters.`)
  const seen = new Set<Cell>()
  return cells.map((name) => {
    if (name === null || name === '') throw wrongHeader('The header row has an empty name.')
    if (/[\r\n]/.test(name))
      throw wrongHeader('The header row has a name with a line break: lines end with CRLF or LF.')
    if (seen.has(name)) throw wrongHeader('The header row has a name twice.')
    seen.add(name)
    const property = known.get(name)
    const type = property?.type ?? (createdChildren.includes(name) ? 'json' : 'string')
    return { name, json: (cell) => cellJson(cell, type, property) }
  })
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const BOOL = /^(?:true|false)$/i
/** The types of which a value may be the empty text. */
const MAY_BE_EMPTY: readonly string[] = ['string', 'enum', 'set']

/** A text that is none of the type is sent as it is: the data service says what is wrong with it. */
function cellJson(cell: Cell, type: string, property: Property | undefined): string | undefined {
  if (cell === null || (cell === '' && !MAY_BE_EMPTY.includes(type))) {
    // Children are left out, since a create takes no null for them.
    return property?.nullable === false || (property === undefined && type === 'json') ? undefined : 'null'
  }
  switch (type) {
    case 'int':
    case 'double':
      return NUMBER.test(cell) ? cell : JSON.stringify(cell)
    case 'bool':
      return BOOL.test(cell) ? cell.toLowerCase() : JSON.stringify(cell)
    case 'set':
      return JSON.stringify(cell === '' ? [] : cell.split(','))
    case 'json':
      // It would end the row otherwise, or say more members of it.
      JSON.parse(cell)
      return cell
    default:
      return JSON.stringify(cell)
  }
}

function rowText(header: readonly Member[], cells: readonly Cell[], index: number): string {
  const members = header.flatMap(({ name, json }, at) => {
    try {
      const value = json(cells[at] ?? null)
      return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]
    } catch {
      throw wrongRow(index, `has no JSON in ${JSON.stringify(name)}`)
    }
  })
  return `{${members.join()}}`
}
