import type { StoredValues } from '../live-schema/column-types.js'
import type { LiveColumn } from '../live-schema/live-schema.js'

type Select = <Row extends object>(statement: string) => Promise<Row[]>

const quoted = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/** Rows of a table that are looked at. */
const ROWS = 100_000

/** What the first rows hold in these columns: whether they are flags, and whether they are of their type. A server has no storage classes. */
export async function mysqlStoredValues(
  select: Select,
  table: string,
  columns: readonly LiveColumn[]
): Promise<ReadonlyMap<string, StoredValues>> {
  const looks = columns.flatMap((column, at) => [
    `MIN(${quoted(column.name)} IN (0, 1)) AS f${at}`,
    `MAX(${oddness(column)}) AS o${at}`
  ])
  const inner = columns.map(({ name }) => quoted(name)).join(', ')
  const [row = {}] = await select<Readonly<Record<string, unknown>>>(
    `SELECT ${looks.join(', ')} FROM (SELECT ${inner} FROM ${quoted(table)} LIMIT ${ROWS}) AS looked_at`
  )
  return new Map(
    columns.map(({ name }, at) => {
      const areFlags = row[`f${at}`]
      const values = {
        classes: new Set<string>(),
        areFlags: areFlags === null || Number(areFlags) === 1,
        areOdd: Number(row[`o${at}`] ?? 0) === 1
      }
      return [name, values]
    })
  )
}

/** Whether a value is none of its column's type. */
function oddness({ name, type }: LiveColumn): string {
  switch (type.base) {
    case 'date':
    case 'datetime':
    case 'timestamp':
      return `YEAR(${quoted(name)}) = 0 OR MONTH(${quoted(name)}) = 0 OR DAYOFMONTH(${quoted(name)}) = 0`
    case 'time':
      return `TIME_TO_SEC(${quoted(name)}) NOT BETWEEN 0 AND 86399.999999`
    case 'enum':
      return `${quoted(name)} + 0 = 0`
    default:
      return '0'
  }
}
