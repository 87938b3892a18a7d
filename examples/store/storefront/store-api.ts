/** A product as the API shows it. */
export interface Product {
  readonly id: number
  readonly name: string
  readonly sku: string
  readonly categoryId: number
  /** Exact digits, `19.90`. */
  readonly price: string
  readonly weightGrams: number | null
  readonly description: string | null
  readonly isActive: boolean
  readonly category?: Category | null
  readonly variants?: readonly Variant[]
  readonly reviews?: readonly Review[]
}

interface Variant {
  readonly id: number
  readonly name: string
  readonly price: string
  readonly stock: number
}

export interface Review {
  readonly id: number
  readonly rating: number
  readonly title: string
  readonly body: string | null
  readonly authorName: string
  readonly createdAt: string
}

export interface Category {
  readonly id: number
  readonly name: string
}

export interface ProductPage {
  readonly products: readonly Product[]
  readonly totalCount: number
  readonly currentPage: number
  readonly totalPages: number
}

/** A column, a `-` before it for descending. */
type ProductSort = '-releasedAt' | 'name' | 'price' | '-price'

/** What a visitor looks for. */
export interface ProductQuery {
  readonly search: string
  /** Id of a category; empty for all. */
  readonly category: string
  readonly sort: ProductSort
  readonly page: number
}

const SORTS: readonly ProductSort[] = ['-releasedAt', 'name', 'price', '-price']

/** What a visitor asks for; anything odd is as if it were not there. */
export function productQuery(query: Readonly<Record<string, string | string[] | undefined>>): ProductQuery {
  const one = (name: string): string => {
    const value = query[name]
    return typeof value === 'string' ? value.trim().slice(0, 200) : ''
  }
  const page = /^[1-9]\d{0,5}$/.test(one('page')) ? Number(one('page')) : 1
  return {
    search: one('search'),
    category: /^\d{1,9}$/.test(one('category')) ? one('category') : '',
    sort: SORTS.find((sort) => sort === one('sort')) ?? '-releasedAt',
    page
  }
}

/** The API did not answer as a page needs it. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

const PAGE_SIZE = 24
const TIME_OUT = 8000

/**
 * What the shop's server reads of the store: public rows, without anybody's cookies or tokens. Whatever belongs to
 * someone is asked for by the browser, with its own access token.
 */
export class StoreApi {
  readonly #base: string

  constructor(base: string) {
    this.#base = base
  }

  async products({ search, category, sort, page }: ProductQuery): Promise<ProductPage> {
    const query = new URLSearchParams({ pageSize: String(PAGE_SIZE), pageNumber: String(page), includeFKs: 'true' })
    query.append('filters[isActive].operator', 'is')
    query.append('filters[isActive].value', 'true')
    if (search !== '') {
      query.append('filters[name].operator', 'contains')
      query.append('filters[name].value', search)
    }
    if (category !== '') {
      query.append('filters[categoryId].operator', 'equals')
      query.append('filters[categoryId].value', category)
    }
    query.append('sortColumn', sort.replace('-', ''))
    query.append('sortDirection', sort.startsWith('-') ? 'desc' : 'asc')
    const response = await this.#get(`/products/paged?${query.toString()}`)
    const pagination = JSON.parse(response.headers.get('x-pagination') ?? '{}') as Omit<ProductPage, 'products'>
    return { ...pagination, products: (await response.json()) as Product[] }
  }

  /** undefined for no such product. With its variants, and with its reviews as long as their store is up. */
  async product(id: string): Promise<Product | undefined> {
    const path = `/products/${encodeURIComponent(id)}?includeFKs=true&includeChildren=true`
    const response = await this.#get(path, [400, 404, 503])
    if (response.status === 503) return this.#plainProduct(id)
    return response.ok ? ((await response.json()) as Product) : undefined
  }

  async categories(): Promise<readonly Category[]> {
    const response = await this.#get('/categories/lookup')
    const { items } = (await response.json()) as { items: Category[] }
    return items
  }

  async #plainProduct(id: string): Promise<Product | undefined> {
    const response = await this.#get(`/products/${encodeURIComponent(id)}?includeFKs=true`, [404])
    return response.ok ? ((await response.json()) as Product) : undefined
  }

  /** Throws StoreUnavailable for any status but success and those expected. */
  async #get(path: string, expected: readonly number[] = []): Promise<Response> {
    try {
      const response = await fetch(this.#base + path, {
        headers: { accept: 'application/json' },
        signal: AbortSignal.timeout(TIME_OUT)
      })
      if (response.ok || expected.includes(response.status)) return response
      await response.body?.cancel()
      throw new StoreUnavailable(`The store answered ${response.status}.`)
    } catch (error) {
      throw error instanceof StoreUnavailable
        ? error
        : new StoreUnavailable('The store cannot be reached.', { cause: error })
    }
  }
}
