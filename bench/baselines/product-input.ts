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
