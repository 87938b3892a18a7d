import { callApi } from './api.js'
import { queryText } from './query-text.js'

/** The product or variant of a cart item or an order line. */
export interface SoldThing {
  readonly name: string
  /** Empty for a product without a variant. */
  readonly variant: string
  /** The current price; undefined if it is not sold any more. */
  readonly price: string | undefined
}

interface Product {
  readonly id: number
  readonly name: string
  readonly price: string
  readonly variants: readonly { readonly id: number; readonly name: string; readonly price: string }[]
}

interface Wanted {
  readonly productId: number
  readonly variantId: number | null
}

/** The maximum number of ids in a filter. */
const BATCH = 200

/** Reads names and prices of products and variants, with one request for up to 200 products. */
export async function soldThings(of: readonly Wanted[]): Promise<(thing: Wanted) => SoldThing> {
  const ids = [...new Set(of.map(({ productId }) => productId))]
  const products = new Map<number, Product>()
  for (let from = 0; from < ids.length; from += BATCH) {
    const query = queryText([['id', 'in', ids.slice(from, from + BATCH).join(',')]], {
      fields: 'id,name,price,variants',
      includeChildren: 'true',
      pageSize: String(BATCH),
      includeTotal: 'false'
    })
    for (const product of await callApi<Product[]>(`/products/paged?${query}`)) products.set(product.id, product)
  }
  return ({ productId, variantId }) => {
    const product = products.get(productId)
    const variant = product?.variants.find(({ id }) => id === variantId)
    return {
      name: product?.name ?? `Product ${productId}`,
      variant: variant?.name ?? (variantId === null ? '' : `variant ${variantId}`),
      price: variantId === null ? product?.price : variant?.price
    }
  }
}
