import { randomBytes } from 'node:crypto'

const text = { type: 'string' } as const
const optionalText = { type: 'string', nullable: true } as const

/** For Fastify's compiled serializer; the members' order is the wire's. */
export const productSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: text,
    sku: text,
    categoryId: { type: 'integer' },
    price: text,
    weightGrams: { type: 'integer', nullable: true },
    barcode: optionalText,
    isActive: { type: 'boolean' },
    releasedAt: optionalText,
    externalId: optionalText,
    description: optionalText,
    displayName: text,
    rowVersion: text
  }
} as const

const line = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    productId: { type: 'integer' },
    variantId: { type: 'integer', nullable: true },
    quantity: { type: 'integer' },
    unitPrice: text,
    rowVersion: text
  }
} as const

/** An order; its lines are there where they were asked for. */
export const orderSchema = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    number: text,
    customerId: { type: 'integer' },
    status: text,
    total: text,
    placedAt: text,
    paidAt: optionalText,
    deliveredAt: optionalText,
    trackingCode: optionalText,
    rowVersion: text,
    lines: { type: 'array', items: line }
  }
} as const

/** The pairs of a lookup. */
export const lookupSchema = {
  type: 'object',
  properties: {
    items: { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' }, name: text } } }
  }
} as const

/** A product as a client sends it, checked by productInputSchema. */
export interface ProductInput {
  readonly name: string
  readonly sku: string
  readonly categoryId: number
  readonly price: string
  readonly weightGrams: number | null
  readonly barcode: string | null
  readonly isActive: boolean
  readonly releasedAt: string | null
  readonly externalId: string | null
  readonly description: string | null
}

/** For Fastify's compiled validator. */
export const productInputSchema = {
  type: 'object',
  required: ['name', 'sku', 'categoryId', 'price'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 200 },
    sku: { type: 'string', minLength: 1, maxLength: 64 },
    categoryId: { type: 'integer' },
    price: { type: 'string', pattern: '^-?\\d{1,8}(\\.\\d{1,2})?$' },
    weightGrams: { type: 'integer', minimum: 0, nullable: true, default: null },
    barcode: { type: 'string', pattern: '^-?\\d{1,19}$', nullable: true, default: null },
    isActive: { type: 'boolean', default: true },
    releasedAt: { type: 'string', format: 'date-time', nullable: true, default: null },
    externalId: { type: 'string', format: 'uuid', nullable: true, default: null },
    description: { type: 'string', maxLength: 2000, nullable: true, default: null }
  }
} as const

/** Half random and half a count, as the data service makes them. */
export function firstVersion(): Buffer {
  return Buffer.concat([randomBytes(4), Buffer.alloc(4)])
}

export function nextVersion(current: Buffer): Buffer {
  const next = Buffer.alloc(8)
  next.writeBigUInt64BE(BigInt.asUintN(64, current.readBigUInt64BE() + 1n))
  return next
}
