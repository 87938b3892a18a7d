export const BYTE_ORDER_MARK = '\uFEFF'

/** Properties of an exported product in their order; the byte array stays out. */
export const EXPORT_COLUMNS = [
  'id',
  'name',
  'sku',
  'categoryId',
  'price',
  'weightGrams',
  'barcode',
  'isActive',
  'releasedAt',
  'externalId',
  'description',
  'displayName'
] as const

/** A text cell: RFC 4180 quoting, and an apostrophe before what a spreadsheet would run. Null is an empty cell. */
export function textCell(value: string | null): string {
  if (value === null) return ''
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The row that ends a file which the ceiling cut. */
export function truncationRow(rows: number): string {
  return `# export truncated at ${rows} rows${','.repeat(EXPORT_COLUMNS.length - 1)}\r\n`
}
