/** By which columns rows are sorted, and in which direction; the id is always the last, in the direction before it. */
export interface Sorting {
  readonly columns: readonly { readonly name: string; readonly direction: 1 | -1 }[]
}

/** As the query of a list, a page or an export asks for it. */
export function sortingOf(query: URLSearchParams): Sorting {
  const names = query.get('sortColumn')?.split(',') ?? []
  const directions = query.get('sortDirection')?.split(',') ?? []
  const columns = names.map((name, n) => {
    const direction: 1 | -1 = /^desc/i.test(directions[n] ?? directions[0] ?? '') ? -1 : 1
    return { name, direction }
  })
  return { columns: [...columns, { name: 'id', direction: columns.at(-1)?.direction ?? 1 }] }
}

/** What is wrong with the order of rows; completes `The read r-1 …`. Cells are asked for by row and column; undefined for none. */
export function faultOfOrder<Row>(
  rows: readonly Row[],
  { columns }: Sorting,
  cellOf: (row: Row, column: string) => string | undefined
): string | undefined {
  const wrong = rows.findIndex((row, n) => {
    const before = rows[n - 1]
    if (before === undefined) return false
    for (const { name, direction } of columns) {
      const [one, other] = [cellOf(before, name), cellOf(row, name)]
      const order = one === undefined || other === undefined ? undefined : compare(one, other)
      // What cannot be told is no fault, and neither is what comes after it.
      if (order === undefined) return false
      if (order !== 0) return order * direction > 0
    }
    return true
  })
  const [row, before] = [rows[wrong], rows[wrong - 1]]
  if (row === undefined || before === undefined) return undefined
  const shown = (one: Row): string => columns.map(({ name }) => cellOf(one, name)).join(', ')
  return `shows ${shown(row)} after ${shown(before)}, which is not its order`
}

const NUMBER = /^-?\d+(?:\.\d+)?$/

/**
 * Negative, zero or positive; undefined where only the collation of a database can tell. All collations order ASCII letters and
 * digits in one way, whatever their case, so these decide where they are the first to differ.
 */
function compare(one: string, other: string): number | undefined {
  if (NUMBER.test(one) && NUMBER.test(other)) return Number(one) - Number(other)
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  if (a === b) return 0
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const [left, right] = [a.charAt(at), b.charAt(at)]
  const isPlain = /^[ -~]*$/.test(a.slice(0, at)) && [left, right].every((char) => char === '' || /[a-z0-9]/.test(char))
  if (!isPlain) return undefined
  return left < right ? -1 : 1
}
