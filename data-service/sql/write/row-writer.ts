import type { Column } from '../../entity/entity.js'
import type { RowVersion } from '../../entity/row-version.js'
import type { Value } from '../../entity/value.js'
import type { Assignments, ExpectedVersions } from '../../plan/write-plan.js'
import { boundValues, type BoundValues, type RowCondition } from '../conditions.js'
import type { BoundValue, SqlDialect } from '../dialect.js'
import type { ChangeTexts } from './change-texts.js'
import type { Changed, WriteSession } from './transactions.js'

export interface NewRow {
  readonly values: Assignments
  readonly version: RowVersion
}

export interface MatchedRow {
  readonly table: string
  readonly conditions: readonly RowCondition[]
  readonly expected: ExpectedVersions | 'unconditional'
}

/** Rows of one INSERT: a power of two, so that few lengths make few texts. */
const ROWS_AT_ONCE = 64

const ROW_VERSION = 'row_version'

/** Rows written one statement at a time; each matched by all its conditions, and by its version, in the statement. */
export class RowWriter {
  readonly #texts: ChangeTexts
  readonly #dialect: SqlDialect

  constructor(texts: ChangeTexts, dialect: SqlDialect) {
    this.#texts = texts
    this.#dialect = dialect
  }

  insertOne(session: WriteSession, table: string, row: NewRow): Promise<Changed> {
    return this.#insert(session, table, [row])
  }

  /** In the order given, in which they are also numbered. Columns that only some of the rows have are null in others. */
  async insertAll(session: WriteSession, table: string, rows: readonly NewRow[]): Promise<void> {
    for (let start = 0; start < rows.length;) {
      const count = Math.min(ROWS_AT_ONCE, 2 ** Math.floor(Math.log2(rows.length - start)))
      await this.#insert(session, table, rows.slice(start, start + count))
      start += count
    }
  }

  /** Whether the row was there. Its version always changes, so a row that matched is a row that changed. */
  async update(session: WriteSession, matched: MatchedRow, { values, version }: NewRow): Promise<boolean> {
    const { match, bound } = this.#match(matched)
    const set = new Map([...values].map(([column, value]) => [column.column, this.#stored(column, value)]))
    set.set(ROW_VERSION, version)
    for (const [column, value] of set) bound[`s_${column}`] = value
    const { rows } = await session.change(this.#texts.update(match, [...set.keys()]), bound)
    return rows > 0
  }

  async delete(session: WriteSession, matched: MatchedRow): Promise<boolean> {
    const { match, bound } = this.#match(matched)
    const { rows } = await session.change(this.#texts.delete(match), bound)
    return rows > 0
  }

  #insert(session: WriteSession, table: string, rows: readonly NewRow[]): Promise<Changed> {
    const columns = [
      ...new Map(rows.flatMap(({ values }) => [...values.keys()]).map((one) => [one.column, one])).values()
    ]
    const bound: BoundValues = {}
    rows.forEach(({ values, version }, index) => {
      for (const column of columns)
        bound[`r${index}_${column.column}`] = this.#stored(column, values.get(column) ?? null)
      bound[`r${index}_${ROW_VERSION}`] = version
    })
    const names = [...columns.map(({ column }) => column), ROW_VERSION]
    return session.change(this.#texts.insert(table, names, rows.length), bound)
  }

  #match({ table, conditions, expected }: MatchedRow) {
    const versions = expected === 'unconditional' ? [] : padded(expected)
    const bound: BoundValues = boundValues(conditions, this.#dialect)
    versions.forEach((version, index) => {
      bound[`e${index}`] = version
    })
    return { match: { table, conditions, versions: versions.length }, bound }
  }

  /** A value as its column holds it: strings as they are, all others as they are bound in a comparison. */
  #stored({ field }: Column, value: Value): BoundValue {
    if (value === null || Buffer.isBuffer(value)) return value
    return field.type === 'string' ? String(value) : this.#dialect.bind(value, field)
  }
}

/** Filled up with the last one to a power of two. */
function padded(versions: ExpectedVersions): readonly RowVersion[] {
  const last = versions[versions.length - 1] ?? versions[0]
  const length = 2 ** Math.ceil(Math.log2(versions.length))
  return [...versions, ...Array<RowVersion>(length - versions.length).fill(last)]
}
