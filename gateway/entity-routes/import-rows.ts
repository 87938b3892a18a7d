import type { IncomingMessage } from 'node:http'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import { MAX_BATCH } from '../../shared/request-limits.js'
import { countValues } from '../../shared/transport/json-bounds.js'
import { MAX_BODY_BYTES } from '../../shared/transport/wire.js'
import { isReset } from '../http/json-body.js'

// The body of an import, which is never whole in memory: its pieces, the lines of NDJSON, and the parts that go to a data service.

/** Bytes of a file to import (contract.md section 5). */
export const MAX_FILE_BYTES = 256 * 1024 * 1024

/** Throws `body.too-large`. */
export function checkFileLength(bytes: number): void {
  if (bytes > MAX_FILE_BYTES) throw new DomainError('body.too-large', 'The file is larger than 256 MiB.')
}

/** The pieces of a body as they come, without a byte order mark. Where the reader ends early, the rest stays in the body. */
export async function* piecesOf(payload: IncomingMessage): AsyncGenerator<Buffer> {
  const { 'content-length': announced } = payload.headers
  let length = 0
  let begun = Buffer.alloc(0)
  try {
    for await (const piece of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += piece.length
      checkFileLength(length)
      if (begun.length >= BOM.length) yield piece
      else {
        begun = Buffer.concat([begun, piece])
        if (begun.length >= BOM.length) yield withoutBom(begun)
      }
    }
  } catch (error) {
    throw error instanceof DomainError ? error : brokenOff(error)
  }
  if (isReset(payload) || length !== Number(announced ?? length)) throw brokenOff()
  if (begun.length < BOM.length) yield begun
}

const BOM = Buffer.from('\uFEFF')

function withoutBom(bytes: Buffer): Buffer {
  return bytes.subarray(0, BOM.length).equals(BOM) ? bytes.subarray(BOM.length) : bytes
}

function brokenOff(cause?: unknown): DomainError {
  return new DomainError('request.malformed', 'The body broke off.', { cause })
}

const LF = '\n'.charCodeAt(0)
/** The greatest of the bytes of a line that holds no row. */
const LAST_BLANK = ' '.charCodeAt(0)

/** Bytes of lines that hold no row, of which a file needs none: they would be read before anybody asks who sends them. */
const MAX_BLANK = 64 * 1024
const BLANK = 'The file has more than 65536 bytes of blank lines.'

/** The lines of NDJSON that hold a row. The data service judges what is in them. */
export async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const line = new Line()
  let [rows, blank] = [0, 0]
  const take = (end: Buffer): Buffer | undefined => {
    line.add(end, rows)
    const bytes = line.take()
    if (bytes.every((byte) => byte <= LAST_BLANK)) {
      blank += bytes.length + 1
      if (blank > MAX_BLANK) throw rejectionAt('body.malformed', BLANK, { place: rowPlace(rows) })
      return undefined
    }
    rows += 1
    return bytes
  }
  for await (const piece of pieces) {
    let from = 0
    for (let to = piece.indexOf(LF); to !== -1; to = piece.indexOf(LF, from)) {
      const row = take(piece.subarray(from, to))
      if (row !== undefined) yield row
      from = to + 1
    }
    line.add(piece.subarray(from), rows)
  }
  const last = take(Buffer.alloc(0))
  if (last !== undefined) yield last
}

/** A line that comes in pieces, which may have a byte each. It copies them: a piece would keep all that came with it. */
class Line {
  #bytes = Buffer.allocUnsafe(4096)
  #length = 0

  /** `index`: the place of its row. Throws `body.too-large`. */
  add(piece: Buffer, index: number): void {
    const length = this.#length + piece.length
    checkRowLength(length, index)
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#bytes.length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    piece.copy(this.#bytes, this.#length)
    this.#length = length
  }

  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return taken
  }
}

/** Throws `body.too-large` for a row that no create would take. */
export function checkRowLength(bytes: number, index: number): void {
  if (bytes > MAX_BODY_BYTES) {
    const detail = `Row ${index + 1} is larger than 1 MiB.`
    throw rejectionAt('body.too-large', detail, { place: rowPlace(index) })
  }
}

/** The place of a row in the body. */
export function rowPlace(index: number): { readonly in: 'pointer'; readonly name: string } {
  return { in: 'pointer', name: `/${index}` }
}

/** Bytes and values of a part, unless one row alone has more. A call takes twice the bytes. */
const PART_BYTES = 512 * 1024
const PART_VALUES = 40_000

/** Rows that go to a data service together. */
interface Part {
  readonly rows: readonly Buffer[]
  readonly bytes: number
  readonly firstRow: number
  /** Whether another part follows. */
  readonly more: boolean
}

/** Cuts rows into parts. It goes by the rows alone, so that the same file has the same parts each time it is sent. */
export async function* partsOf(rows: AsyncIterable<Buffer>): AsyncGenerator<Part> {
  let part: Buffer[] = []
  let [firstRow, bytes, values] = [0, 0, 0]
  for await (const row of rows) {
    const valuesOfRow = countValues(row)
    const isFull = part.length === MAX_BATCH || bytes + row.length > PART_BYTES || values + valuesOfRow > PART_VALUES
    if (part.length > 0 && isFull) {
      yield { rows: part, bytes, firstRow, more: true }
      firstRow += part.length
      part = []
      bytes = values = 0
    }
    part.push(row)
    bytes += row.length
    values += valuesOfRow
  }
  yield { rows: part, bytes, firstRow, more: false }
}
