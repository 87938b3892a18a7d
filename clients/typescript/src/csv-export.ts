import { ConnectionError } from './problem.js'

/** A row of an export: texts as the file has them, null for an empty cell. */
export type CsvRecord<Field extends string> = { readonly [F in Field]: string | null }

/** Thrown where an export broke off: the rows before it are right, and more were to come. */
export class ExportIncompleteError extends Error {
  override readonly name = 'ExportIncompleteError'
  /** The rows that came. */
  readonly rows: number

  constructor(rows: number, options: ErrorOptions) {
    super(`The export broke off after ${rows} rows.`, options)
    this.rows = rows
  }
}

/** An export that has begun. It is read once, as rows or as a file. */
export class CsvExport<Field extends string> implements AsyncIterable<CsvRecord<Field>> {
  /** As the service names the file: `products-20260131T120000Z.csv`. */
  readonly fileName: string
  /** The most rows that the service exports. */
  readonly rowLimit: number
  readonly #body: ReadableStream<Uint8Array>
  readonly #signal: AbortSignal | undefined
  #rows = 0
  #isTruncated: boolean | undefined
  #unshownValues: readonly string[] | undefined

  constructor(response: Response, signal?: AbortSignal) {
    this.#signal = signal
    this.fileName = /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'export.csv'
    this.rowLimit = Number(response.headers.get('x-export-row-limit') ?? Number.POSITIVE_INFINITY)
    this.#body = response.body ?? new ReadableStream({ start: (controller) => controller.close() })
  }

  /** The rows that were read so far. */
  get rows(): number {
    return this.#rows
  }

  /** Whether the service left rows out because there are more than its limit; undefined before the end. */
  get isTruncated(): boolean | undefined {
    return this.#isTruncated
  }

  /**
   * Cells that are null because the table holds a value that is none of their property's type: `7=amount` with the
   * percent-encoded id of the row, for the first 20, and then `more=5`; undefined before the end.
   */
  get unshownValues(): readonly string[] | undefined {
    return this.#unshownValues
  }

  /** The rows. Throws an ExportIncompleteError where the export broke off. */
  async *[Symbol.asyncIterator](): AsyncGenerator<CsvRecord<Field>, void, undefined> {
    const reader = new RowReader()
    let names: readonly string[] | undefined
    // One row is held back: only what follows it tells whether it is the mark of an export that was cut.
    let held: CsvRow | undefined
    for await (const chunk of this.#chunks(this.#body.getReader(), () => held)) {
      for (const row of chunk === undefined ? reader.end() : reader.read(chunk)) {
        if (names === undefined) {
          names = row.cells.map(String)
          continue
        }
        if (held !== undefined) {
          this.#rows++
          yield recordOf(names, held)
        }
        held = row
      }
    }
    if (this.#finish(held, reader) && held !== undefined && names !== undefined) yield recordOf(names, held)
  }

  /** The bytes of the file as they come, its marks included. Breaks off with an ExportIncompleteError as the rows do. */
  file(): ReadableStream<Uint8Array> {
    const reader = new RowReader()
    const source = this.#body.getReader()
    let held: CsvRow | undefined
    let isHeader = true
    const count = (rows: readonly CsvRow[]): void => {
      for (const row of rows) {
        if (held !== undefined) this.#rows++
        if (!isHeader) held = row
        isHeader = false
      }
    }
    const chunks = this.#chunks(source, () => held)
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { value } = await chunks.next()
        if (value !== undefined) {
          count(reader.read(value))
          controller.enqueue(value)
          return
        }
        count(reader.end())
        this.#finish(held, reader)
        controller.close()
      },
      cancel: (reason) => source.cancel(reason)
    })
  }

  /**
   * Counts the last row, unless it is the mark: beyond the limit there is no row. Throws an ExportIncompleteError where the
   * body ended as a whole one does and is none: a proxy that keeps answers back hides that the connection broke.
   */
  #finish(last: CsvRow | undefined, reader: RowReader): boolean {
    if (reader.isWithinRow || last?.isMark === true)
      throw this.#incomplete(last, 'The body ended before its export did.')
    this.#isTruncated = last !== undefined && this.#rows === this.rowLimit
    this.#unshownValues = reader.unshownValues
    if (last === undefined || this.#isTruncated) return false
    this.#rows++
    return true
  }

  /** What comes, and undefined at its end. */
  async *#chunks(
    source: ReadableStreamDefaultReader<Uint8Array>,
    held: () => CsvRow | undefined
  ): AsyncGenerator<Uint8Array | undefined, void, undefined> {
    try {
      for (;;) {
        const { done, value } = await source.read()
        if (done) break
        yield value
      }
      yield undefined
    } catch (error) {
      this.#signal?.throwIfAborted()
      throw this.#incomplete(held(), 'The connection broke.', { cause: error })
    } finally {
      // A caller who wants no more stops the query of the service.
      await source.cancel().catch(() => undefined)
    }
  }

  /** The row before a break is the mark of it, or one that came whole. */
  #incomplete(last: CsvRow | undefined, why: string, options: ErrorOptions = {}): ExportIncompleteError {
    const rows = this.#rows + (last === undefined || last.isMark ? 0 : 1)
    return new ExportIncompleteError(rows, { cause: new ConnectionError(why, options) })
  }
}

interface CsvRow {
  /** Null for an empty one, which is not in quotes. */
  readonly cells: readonly (string | null)[]
  /** Whether it says that the export broke off. A cell with this text is in quotes, and the mark is not. */
  readonly isMark: boolean
}

function recordOf<Field extends string>(names: readonly string[], row: CsvRow): CsvRecord<Field> {
  return Object.fromEntries(names.map((name, index) => [name, row.cells[index] ?? null])) as CsvRecord<Field>
}

/** Reads RFC 4180, whose chunks may end anywhere. */
class RowReader {
  readonly #decoder = new TextDecoder()
  #rest = ''
  /** How much of the rest was looked at, and whether a quoted cell is open there. */
  #at = 0
  #isQuoted = false
  /** What the mark of cells without their values names. It is no row. */
  unshownValues: readonly string[] = []

  read(chunk: Uint8Array): CsvRow[] {
    return this.#rows(this.#decoder.decode(chunk, { stream: true }))
  }

  /** What is left when no more comes. */
  end(): CsvRow[] {
    return this.#rows(this.#decoder.decode())
  }

  /** Whether a row has begun and not ended. The rows of a file all end. */
  get isWithinRow(): boolean {
    return this.#rest !== ''
  }

  #rows(text: string): CsvRow[] {
    const rows: CsvRow[] = []
    this.#rest += text
    let from = 0
    for (; this.#at < this.#rest.length; this.#at++) {
      const one = this.#rest[this.#at]
      // Two quotes within a cell close it and open it again.
      if (one === '"') this.#isQuoted = !this.#isQuoted
      if (one !== '\n' || this.#isQuoted) continue
      const line = this.#rest.slice(from, this.#at).replace(/\r$/, '')
      from = this.#at + 1
      const [, unshown] = /^# export without values: ([^,]*)/.exec(line) ?? []
      if (unshown === undefined) rows.push(rowOf(line))
      else this.unshownValues = unshown.split(' ')
    }
    this.#rest = this.#rest.slice(from)
    this.#at -= from
    return rows
  }
}

function rowOf(line: string): CsvRow {
  const cells: (string | null)[] = []
  for (const [, quoted, plain = '', end] of line.matchAll(/(?:"((?:[^"]|"")*)"|([^,]*))(,|$)/g)) {
    cells.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'))
    if (end === '') break
  }
  return { cells, isMark: /^# export incomplete after \d+ rows(?:,|$)/.test(line) }
}
