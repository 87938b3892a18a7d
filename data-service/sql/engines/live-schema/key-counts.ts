/** Of all rows: how many have NULL in one of the columns, and how many share all of them with another row. */
export interface KeyCounts {
  readonly nulls: number
  readonly duplicates: number
}

type Select = <Row extends object>(statement: string) => Promise<Row[]>

export async function countKey(
  select: Select,
  { table, columns, quote }: { readonly table: string; readonly columns: readonly string[]; readonly quote: string }
): Promise<KeyCounts> {
  const quoted = (name: string): string => `${quote}${name.replaceAll(quote, quote + quote)}${quote}`
  const names = columns.map(quoted)
  const isNull = names.map((name) => `${name} IS NULL`).join(' OR ')
  const [nulls] = await select<{ rows: unknown }>(
    `SELECT COUNT(*) AS ${quoted('rows')} FROM ${quoted(table)} WHERE ${isNull}`
  )
  const [shared] = await select<{ rows: unknown }>(
    `SELECT COUNT(*) AS ${quoted('rows')} FROM (SELECT 1 FROM ${quoted(table)} GROUP BY ${names.join(', ')} ` +
      `HAVING COUNT(*) > 1) AS shared_keys`
  )
  return { nulls: Number(nulls?.rows), duplicates: Number(shared?.rows) }
}
