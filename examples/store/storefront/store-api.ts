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
  /** At most 1000, however many there are. */
  readonly totalCount: number
  readonly totalIsLowerBound: boolean
  /** Cursors of the pages before and after this one; undefined where there is none. */
  readonly previous: string | undefined
  readonly next: string | undefined
}

/** A column, a `-` before it for descending. */
type ProductSort = '-releasedAt' | 'name' | 'price' | '-price'

/** What a visitor looks for. */
export interface ProductQuery {
  readonly search: string
  /** Id of a category; empty for all. */
  readonly category: string
  readonly sort: ProductSort
  /** A cursor of the API, and the side of it that the page is on; undefined for the first page. */
  readonly from: { readonly side: 'after' | 'before'; readonly cursor: string } | undefined
}

const SORTS: readonly ProductSort[] = ['-releasedAt', 'name', 'price', '-price']

/** What a visitor asks for; anything odd is as if it were not there. */
export function productQuery(query: Readonly<Record<string, string | string[] | undefined>>): ProductQuery {
  const one = (name: string): string => {
    const value = query[name]
    return typeof value === 'string' ? value.trim().slice(0, 200) : ''
  }
  const cursors = (['after', 'before'] as const).flatMap((side) => {
    const cursor = query[side]
    return typeof cursor === 'string' && /^[A-Za-z0-9_-]{1,1024}$/.test(cursor) ? [{ side, cursor }] : []
  })
  return {
    search: one('search'),
    category: /^\d{1,9}$/.test(one('category')) ? one('category') : '',
    sort: SORTS.find((sort) => sort === one('sort')) ?? '-releasedAt',
    from: cursors[0]
  }
}

/** The API did not answer as a page needs it. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

const PAGE_SIZE = 24
/** The most words that the API searches for. */
const MAX_WORDS = 8
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

  /** A cursor leads to its page as fast from the millionth row as from the first. */
  async products({ search, category, sort, from }: ProductQuery): Promise<ProductPage> {
    const query = new URLSearchParams({ pageSize: String(PAGE_SIZE), includeFKs: 'true', totalLimit: '1000' })
    query.append('filters[isActive].operator', 'is')
    query.append('filters[isActive].value', 'true')
    if (search !== '') query.append('search', search.split(/\s+/).slice(0, MAX_WORDS).join(' '))
    if (category !== '') {
      query.append('filters[categoryId].operator', 'equals')
      query.append('filters[categoryId].value', category)
    }
    query.append('sortColumn', sort.replace('-', ''))
    query.append('sortDirection', sort.startsWith('-') ? 'desc' : 'asc')
    const first = `/products/paged?${query.toString()}`
    const answered = await this.#get(from === undefined ? first : `${first}&${from.side}=${from.cursor}`, [400])
    // A cursor of another search, or of before an upgrade, leads to the first page.
    const response = answered.ok ? answered : await this.#get(first)
    const pagination = JSON.parse(response.headers.get('x-pagination') ?? '{}') as Partial<ProductPage>
    return {
      totalCount: pagination.totalCount ?? 0,
      totalIsLowerBound: pagination.totalIsLowerBound ?? false,
      previous: response.headers.get('x-previous-cursor') ?? undefined,
      next: response.headers.get('x-next-cursor') ?? undefined,
      products: (await response.json()) as Product[]
    }
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
