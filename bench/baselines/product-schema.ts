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
