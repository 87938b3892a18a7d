import type { Value } from '../../entity/value.js'
import type { BoundValues } from '../conditions.js'
import type { ReadSession } from '../reader.js'
import { bytes, type Statement, statementText } from '../statement.js'

/** Reads what a driver has for a column. */
type Read<Kind extends Value> = (raw: unknown) => Kind

/** Whole numbers that a double holds, such as epoch milliseconds. */
export const millis: Read<number> = Number

/** Whole numbers of 64 bits, as their digits. */
export const digits: Read<string> = (raw) => {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'bigint') throw unfit(raw)
  return String(raw)
}

export const flag: Read<boolean> = (raw) => Number(raw) === 1

export const text: Read<string> = (raw) => {
  if (typeof raw !== 'string') throw unfit(raw)
  return raw
}

export const binary: Read<Buffer> = bytes

export function orNull<Kind extends Value>(read: Read<Kind>): Read<Kind | null> {
  return (raw) => (raw === null ? null : read(raw))
}

type Columns = Readonly<Record<string, Read<Value>>>
type RowOf<C extends Columns> = { readonly [Name in keyof C]: ReturnType<C[Name]> }

/** A SELECT of named columns, for tables that belong to no entity. */
export interface Select<C extends Columns> {
  readonly statement: Statement
  readonly columns: C
}

/** `rest` is what follows the columns, `FROM` first, with `$name` for each value. */
export function select<const C extends Columns>(columns: C, rest: string): Select<C> {
  const compiled = statementText(`SELECT ${Object.keys(columns).join(', ')} ${rest}`)
  return { statement: { ...compiled, decode: Object.values(columns), exact: true }, columns }
}

export async function rowsOf<C extends Columns>(
  session: ReadSession,
  { statement, columns }: Select<C>,
  values: BoundValues
): Promise<RowOf<C>[]> {
  const names = Object.keys(columns)
  const rows = await session.run(statement, values)
  // Each value was read by the function of its column.
  return rows.map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])) as RowOf<C>)
}

function unfit(raw: unknown): TypeError {
  return new TypeError(`A column of accounts or sessions holds a ${typeof raw}`)
}
