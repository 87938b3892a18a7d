import type { JSX } from 'preact'
import { Layout } from '../html/layout.js'
import { Price } from '../html/price.js'
import { ProductArt } from '../html/product-art.js'
import type { Category, Product, ProductPage, ProductQuery } from '../store-api.js'
import type { Visitor } from '../visitor.js'

export interface ProductListProps {
  readonly visitor: Visitor | undefined
  readonly path: string
  readonly query: ProductQuery
  readonly page: ProductPage
  readonly categories: readonly Category[]
}

const SORTS = [
  ['name', 'Name'],
  ['price', 'Price, lowest first'],
  ['-price', 'Price, highest first']
] as const

/** The shop window: products that are on sale, with a filter that needs no script. */
export function ProductList({ visitor, path, query, page, categories }: ProductListProps): JSX.Element {
  const { products, totalCount } = page
  const title = query.search === '' ? 'All products' : `“${query.search}”`
  return (
    <Layout title={title} visitor={visitor} path={path} search={query.search}>
      <div class="heading">
        <h1>{title}</h1>
        <p class="quiet">
          {totalCount.toLocaleString('en')} {totalCount === 1 ? 'product' : 'products'}
        </p>
      </div>
      <form class="filters" action="/products" aria-label="Filter products">
        {query.search === '' ? null : <input type="hidden" name="search" value={query.search} />}
        <label>
          Category
          <select name="category">
            <option value="">All categories</option>
            {categories.map(({ id, name }) => (
              <option key={id} value={id} selected={String(id) === query.category}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Sort by
          <select name="sort">
            {SORTS.map(([value, label]) => (
              <option key={value} value={value} selected={value === query.sort}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Apply</button>
      </form>
      {products.length === 0 ? <p class="empty">Nothing here. Try another word or category.</p> : null}
      <ul class="tiles">
        {products.map((product) => (
          <Tile key={product.id} product={product} />
        ))}
      </ul>
      <Pages page={page} query={query} />
    </Layout>
  )
}

function Tile({ product }: { readonly product: Product }): JSX.Element {
  return (
    <li>
      <a class="tile" href={`/products/${product.id}`}>
        <ProductArt id={product.id} name={product.name} />
        <span class="tile-name">{product.name}</span>
        <span class="tile-foot">
          <Price amount={product.price} />
          <span class="quiet">{product.category?.name}</span>
        </span>
      </a>
    </li>
  )
}

function Pages({ page, query }: { readonly page: ProductPage; readonly query: ProductQuery }): JSX.Element | null {
  const { currentPage, totalPages } = page
  if (totalPages <= 1) return null
  const href = (number: number): string => {
    const { search, category, sort } = query
    return `/products?${new URLSearchParams({ search, category, sort, page: String(number) }).toString()}`
  }
  return (
    <nav class="pages" aria-label="Pages">
      {currentPage > 1 ? (
        <a rel="prev" href={href(currentPage - 1)}>
          ← Previous
        </a>
      ) : (
        <span />
      )}
      <span class="quiet">
        Page {currentPage} of {totalPages}
      </span>
      {currentPage < totalPages ? (
        <a rel="next" href={href(currentPage + 1)}>
          Next →
        </a>
      ) : (
        <span />
      )}
    </nav>
  )
}
