/** Rows of the API with the members that pages use. Amounts are decimals as strings, times are RFC 3339. */
export interface CartItem {
  readonly id: number
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

export interface Cart {
  readonly id: number
  readonly couponCode: string | null
  readonly updatedAt: string
  readonly rowVersion: string
  readonly items: readonly CartItem[]
}

interface OrderLine {
  readonly id: number
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
  readonly unitPrice: string
}

export interface Order {
  readonly id: number
  readonly number: string
  readonly status: string
  readonly total: string
  readonly placedAt: string
  readonly paidAt: string | null
  readonly deliveredAt: string | null
  readonly trackingCode: string | null
  readonly rowVersion: string
  readonly lines: readonly OrderLine[]
}

export interface Customer {
  readonly name: string
  readonly email: string
  readonly phone: string | null
  readonly createdAt: string
  readonly addresses: readonly {
    readonly id: number
    readonly line1: string
    readonly city: string
    readonly postalCode: string
    readonly country: string
  }[]
}

/** A product of the stock list. Members that the account may not read are absent. */
export interface StockProduct {
  readonly id: number
  readonly name: string
  readonly sku: string
  readonly price: string
  readonly costPrice?: string | null
  readonly margin?: string | null
  readonly reorderLevel?: number | null
}

/** What the products on sale, or those that are not, come to. Members that the account may not read are absent. */
export interface StockTotals {
  readonly isActive: boolean
  readonly count: number
  readonly 'average.price': string | null
  readonly 'sum.costPrice'?: string | null
}
