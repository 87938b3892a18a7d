import { stringify } from 'csv-stringify/sync'
import type { Property } from '../data-calls.js'

/**
 * The empty string is `""` and null an empty cell: of the library's switches only a pattern tells the two apart. Bare
 * line ends are in the pattern too, since with a record delimiter of our own the library quotes for that one alone.
 */
const FORMAT = {
  record_delimiter: '\r\n',
  quoted_match: /^$|[\r\n]/,
  cast: { boolean: String, number: String }
} as const

const FORMULA = /^[=+\-@\t\r]/

/** Writes the rows of one export as RFC 4180 with CRLF, contract.md section 4. */
export class CsvBatch {
  readonly #width: number
  readonly #texts: readonly number[]

  /** Cells of string properties, and no others, are escaped where they would read as formulas. */
  constructor(columns: readonly Property[], escapeFormulas: boolean) {
    this.#width = columns.length
    this.#texts = escapeFormulas ? columns.flatMap(({ type }, index) => (type === 'string' ? [index] : [])) : []
  }

  header(columns: readonly Property[], bom: boolean): string {
    return (bom ? '\uFEFF' : '') + stringify([columns.map(({ name }) => name)], FORMAT)
  }

  /** `json` is an array of rows, each an array of the columns' values. */
  rows(json: Buffer): string {
    // The data service's own promise (entity_service.proto, ExportRows).
    const rows = JSON.parse(json.toString()) as unknown[][]
    for (const row of rows) this.#escape(row)
    return stringify(rows, FORMAT)
  }

  /** A row that says something in its first cell. */
  remark(text: string): string {
    return text + ','.repeat(Math.max(0, this.#width - 1)) + '\r\n'
  }

  #escape(row: unknown[]): void {
    for (const index of this.#texts) {
      const cell = row[index]
      if (typeof cell === 'string' && FORMULA.test(cell)) row[index] = `'${cell}`
    }
  }
}
