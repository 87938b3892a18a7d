import type { FastifyReply } from 'fastify'

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
  const safe = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(value) ? `'${value}` : value
  return safe === '' || /[",\r\n;\t]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The row that ends a file which the ceiling cut. */
export function truncationRow(rows: number): string {
  return `# export truncated at ${rows} rows${','.repeat(EXPORT_COLUMNS.length - 1)}\r\n`
}

/** Headers of the CSV export. */
export function setExportHeaders(reply: FastifyReply, rowLimit: number): void {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  reply.header('content-type', 'text/csv; charset=utf-8')
  reply.header('content-disposition', `attachment; filename="products-${stamp}.csv"`)
  reply.header('x-export-row-limit', rowLimit)
}
