import type { WireType } from '../oracle/resource.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { stored, type WireValue } from '../oracle/wire-value.js'

/** A table as a test writes to it: DTO name to column, with the type that decides how a value is stored. */
interface TestTable {
  readonly name: string
  readonly columns: Readonly<Record<string, { readonly type: WireType; readonly scale?: number }>>
}

export type NewRow = Readonly<Record<string, WireValue>>

const string = { type: 'string' } as const
const int = { type: 'int' } as const
const bool = { type: 'bool' } as const
const dateTime = { type: 'dateTime' } as const
const money = { type: 'decimal', scale: 2 } as const

export const TABLES = {
  categories: { name: 'categories', columns: { id: int, name: string, parentId: int, slug: string } },
  products: {
    name: 'products',
    columns: {
      id: int,
      name: string,
      sku: string,
      categoryId: int,
      price: money,
      weightGrams: int,
      barcode: { type: 'long' },
      isActive: bool,
      releasedAt: dateTime,
      externalId: { type: 'guid' },
      description: string,
      costPrice: money,
      reorderLevel: int
    }
  },
  variants: {
    name: 'product_variants',
    columns: { id: int, productId: int, name: string, sku: string, price: money, stock: int }
  },
  reviews: {
    name: 'product_reviews',
    columns: {
      id: int,
      productId: int,
      rating: int,
      title: string,
      body: string,
      authorName: string,
      createdAt: dateTime
    }
  },
  customers: {
    name: 'customers',
    columns: {
      id: int,
      name: string,
      email: string,
      phone: string,
      isSuspended: bool,
      createdAt: dateTime,
      creditLimit: money,
      riskNote: string
    }
  },
  addresses: {
    name: 'customer_addresses',
    columns: { id: int, customerId: int, line1: string, city: string, postalCode: string, country: string }
  },
  orders: {
    name: 'orders',
    columns: {
      id: int,
      number: string,
      customerId: int,
      status: string,
      total: money,
      placedAt: dateTime,
      paidAt: dateTime,
      deliveredAt: dateTime,
      trackingCode: string
    }
  },
  lines: {
    name: 'order_lines',
    columns: { id: int, orderId: int, productId: int, variantId: int, quantity: int, unitPrice: money, unitCost: money }
  }
} as const satisfies Record<string, TestTable>

const ROWS_A_STATEMENT = 500

/** The version a row is given: its id in eight bytes, so that a test can write the tag it expects. */
export function rowVersionOf(row: NewRow): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(Number(row['id'])) + 0x0100_0000_0000_0000n)
  return bytes
}

/** Inserts rows; a column that a row leaves out is null. */
export async function insertRows(database: TestDatabase, table: TestTable, rows: readonly NewRow[]): Promise<void> {
  const columns = Object.entries(table.columns)
  const names = [...columns.map(([name]) => snakeCase(name)), 'row_version']
  const tuple = `(${names.map(() => '?').join(', ')})`
  await database.run(database.kind === 'sqlite' ? 'BEGIN IMMEDIATE' : 'START TRANSACTION')
  for (let start = 0; start < rows.length; start += ROWS_A_STATEMENT) {
    const batch = rows.slice(start, start + ROWS_A_STATEMENT)
    await database.run(
      `INSERT INTO ${table.name} (${names.join(', ')}) VALUES ${batch.map(() => tuple).join(', ')}`,
      batch.flatMap((row) => [
        ...columns.map(([name, column]) => stored(database.kind, column, row[name] ?? null)),
        rowVersionOf(row)
      ])
    )
  }
  await database.run('COMMIT')
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
