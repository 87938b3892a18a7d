import type { RowDataPacket } from 'mysql2/promise'

export const PRODUCT_COLUMNS =
  'id, name, sku, category_id, price, weight_grams, barcode, is_active, released_at, external_id, description'

/** With `dateStrings` and `bigNumberStrings`. */
export interface ProductRow extends RowDataPacket {
  readonly id: number
  readonly name: string
  readonly sku: string
  readonly category_id: number
  readonly price: string
  readonly weight_grams: number | null
  readonly barcode: string | null
  readonly is_active: number
  /** `2026-01-31 08:00:00.123`, or without the fraction */
  readonly released_at: string | null
  readonly external_id: string | null
  readonly description: string | null
}

export interface VersionedProductRow extends ProductRow {
  readonly row_version: Buffer
}

/** mysql2 leaves out a fraction of zero. */
export function isoInstant(stored: string | null): string | null {
  if (stored === null) return null
  return `${stored.replace(' ', 'T')}${stored.length === 19 ? '.000' : ''}Z`
}

/** `2026-01-31T08:00:00.123Z` as a DATETIME takes it. */
export function storedInstant<Instant extends string | null>(iso: Instant): Instant | string {
  return iso === null ? iso : iso.replace('T', ' ').replace(/Z$/, '')
}
