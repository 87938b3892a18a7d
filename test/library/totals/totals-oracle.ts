// What an answer of totals must be, computed in memory in whole numbers of any size.

type Cell = string | number | boolean | null
export type PlainRow = Readonly<Record<string, Cell>>

/** The digits after the point of each column that is added up, and what its sums are on the wire. */
export interface Summed {
  readonly scale: number
  readonly type: 'int' | 'long' | 'decimal'
}

export interface TotalsQuery {
  readonly by: readonly string[]
  readonly measures: readonly string[]
  readonly sort: readonly { readonly name: string; readonly descending: boolean }[]
}

/** The groups in the order of the query, with no row limit. */
export function totalsOf(
  rows: readonly PlainRow[],
  { by, measures, sort }: TotalsQuery,
  columns: Readonly<Record<string, Summed>>
): PlainRow[] {
  const groups = new Map<string, PlainRow[]>()
  if (by.length === 0) groups.set('[]', [])
  for (const row of rows) {
    const key = JSON.stringify(by.map((name) => keyOf(dimension(row, name))))
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  const answered = Array.from(groups.values(), (of) => ({
    ...Object.fromEntries(by.map((name) => [name, least(of.map((row) => dimension(row, name)))])),
    ...Object.fromEntries(measures.map((name) => [name, measure(of, name, columns)]))
  }))
  const last = sort.at(-1)?.descending ?? false
  const rest = by.filter((name) => !sort.some((one) => one.name === name))
  const order = [...sort, ...rest.map((name) => ({ name, descending: last }))]
  return answered.toSorted((one, other) => {
    for (const { name, descending } of order) {
      const compared = compare(one[name] ?? null, other[name] ?? null)
      if (compared !== 0) return descending ? -compared : compared
    }
    return 0
  })
}

function dimension(row: PlainRow, name: string): Cell {
  const [column = '', part] = name.split('.')
  const value = row[column] ?? null
  if (value === null || part === undefined) return value
  if (part === 'year') return Number(String(value).slice(0, 4))
  return String(value).slice(0, part === 'month' ? 7 : 10)
}

/** Texts of other letter case are equal (contract.md section 4). */
function keyOf(value: Cell): Cell {
  return typeof value === 'string' ? value.toLowerCase() : value
}

function least(values: readonly Cell[]): Cell {
  const texts = values.filter((one) => one !== null)
  return texts.reduce<Cell>((found, one) => (found === null || one < found ? one : found), null)
}

function compare(one: Cell, other: Cell): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? -1 : 1
  if (isNumeric(one) && isNumeric(other)) {
    const difference = digits(one) - digits(other)
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  }
  const [left, right] = [String(keyOf(one)), String(keyOf(other))]
  return left === right ? 0 : left < right ? -1 : 1
}

function isNumeric(value: Cell): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value))
}

const PLACES = 8

/** In units of 10^-8, which no number here goes below. */
function digits(value: string | number): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? []
  const magnitude = BigInt(whole + fraction.padEnd(PLACES, '0'))
  return sign === '' ? magnitude : -magnitude
}

function measure(rows: readonly PlainRow[], name: string, columns: Readonly<Record<string, Summed>>): Cell {
  if (name === 'count') return rows.length
  const [kind = '', column = ''] = name.split('.')
  const values = rows.map((row) => row[column] ?? null).filter((one) => one !== null)
  if (kind === 'distinct') return new Set(values.map(keyOf)).size
  if (values.length === 0) return null
  if (kind === 'min' || kind === 'max') {
    const [first = null] = values.toSorted((one, other) => compare(one, other) * (kind === 'min' ? 1 : -1))
    return first
  }
  const { scale, type } = columns[column] ?? { scale: 0, type: 'int' }
  const sum = values.filter(isNumeric).reduce((all, one) => all + digits(one), 0n)
  if (kind === 'sum') return type === 'int' ? Number(shown(sum, 0)) : shown(sum, scale)
  // Half away from zero, at four digits more than the column has.
  const unit = 10n ** BigInt(PLACES - scale - 4)
  const [magnitude, divisor] = [sum < 0n ? -sum : sum, BigInt(values.length) * unit]
  const rounded = (magnitude + divisor / 2n) / divisor
  const isHalfLost = (magnitude % divisor) * 2n === divisor && divisor % 2n === 1n
  if (isHalfLost) throw new Error('an odd divisor has no half')
  const average = shown((sum < 0n ? -rounded : rounded) * unit, scale + 4)
  return type === 'int' ? Number(average) : average
}

function shown(value: bigint, scale: number): string {
  const magnitude = (value < 0n ? -value : value).toString().padStart(PLACES + 1, '0')
  const text = `${value < 0n ? '-' : ''}${magnitude.slice(0, -PLACES)}`
  return scale === 0 ? text : `${text}.${magnitude.slice(-PLACES).slice(0, scale)}`
}
