import type { StoredValues } from '../live-schema/column-types.js'
import type { LiveColumn } from '../live-schema/live-schema.js'

type Select = <Row extends object>(statement: string) => Promise<Row[]>

/** Rows of a table that are looked at. */
const ROWS = 100_000
const CLASSES = ['integer', 'real', 'text', 'blob']

/** What the first rows hold in these columns. */
export async function sqliteStoredValues(
  select: Select,
  table: string,
  columns: readonly LiveColumn[]
): Promise<ReadonlyMap<string, StoredValues>> {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
  const looks = columns.flatMap(({ name }, at) => [
    ...CLASSES.map((one) => `MAX(typeof(${quoted(name)}) = '${one}') AS c${at}_${one}`),
    `MIN(${quoted(name)} IN (0, 1)) AS c${at}_flags`
  ])
  const inner = columns.map(({ name }) => quoted(name)).join(', ')
  const [row = {}] = await select<Readonly<Record<string, unknown>>>(
    `SELECT ${looks.join(', ')} FROM (SELECT ${inner} FROM ${quoted(table)} LIMIT ${ROWS})`
  )
  return new Map(
    columns.map(({ name }, at) => {
      const areFlags = row[`c${at}_flags`]
      const classes = new Set(CLASSES.filter((one) => Number(row[`c${at}_${one}`]) === 1))
      return [name, { classes, areFlags: areFlags === null || Number(areFlags) === 1, areOdd: false }]
    })
  )
}
