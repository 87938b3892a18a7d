/** The JSON of a product that was never there; a round or a comparison numbers its own. */
export function newProductBody(of: { readonly sku: string; readonly categoryId: number; readonly number: number }) {
  return productBody({ ...of, name: `Bench product ${of.number}` })
}

/** The JSON of a product with another price than it had before, and a name that says so. */
export function changedProductBody(of: { readonly sku: string; readonly categoryId: number; readonly number: number }) {
  return productBody({ ...of, name: `Bench change ${of.number}` })
}

function productBody({
  sku,
  name,
  categoryId,
  number
}: {
  sku: string
  name: string
  categoryId: number
  number: number
}) {
  return JSON.stringify({
    name,
    sku,
    categoryId,
    price: `${number % 5000}.95`,
    weightGrams: 5 * (number % 400),
    barcode: '9007199254740993',
    isActive: number % 2 === 0,
    releasedAt: '2026-01-31T08:00:00.120Z',
    externalId: '6f1c2f0e-6d52-4a4e-8f35-0d2d1c8f7a11',
    description: number % 3 === 0 ? null : 'Made to last, and to be mended when it does not.'
  })
}
