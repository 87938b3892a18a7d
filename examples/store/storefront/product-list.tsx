import type { JSX } from 'preact'
import { Layout, Price } from './layout.js'
import type { PageContext } from './page-context.js'
import { ProductArt } from './product-art.js'
import type { Category, Product, ProductPage, ProductQuery } from './store-api.js'

interface ProductListProps {
  readonly context: PageContext
  readonly query: ProductQuery
  readonly page: ProductPage
  readonly categories: readonly Category[]
}

const SORTS = [
  ['-releasedAt', 'Newest first'],
  ['name', 'Name'],
  ['price', 'Price, lowest first'],
  ['-price', 'Price, highest first']
] as const

/** The shop window: products that are on sale, with a filter that needs no script. */
export function ProductList({ context, query, page, categories }: ProductListProps): JSX.Element {
  const { products, totalCount, totalIsLowerBound } = page
  const title = query.search === '' ? 'All products' : `“${query.search}”`
  return (
    <Layout title={title} context={context} search={query.search}>
      {context.path === '/' ? <Welcome /> : null}
      <div class="heading">
        <h1>{title}</h1>
        <p class="quiet">
          {totalIsLowerBound ? 'More than ' : ''}
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
      {products.length === 0 ? (
        <div class="empty">
          <p>Nothing here. Try another word or category.</p>
          <a class="main-button" href="/products">
            All products
          </a>
        </div>
      ) : null}
      <ul class="tiles">
        {products.map((product) => (
          <Tile key={product.id} product={product} />
        ))}
      </ul>
      <Pages page={page} query={query} />
    </Layout>
  )
}

function Welcome(): JSX.Element {
  return (
    <section class="welcome">
      <p class="welcome-line">Plain things for the house, the garden and the water’s edge.</p>
      <p>Made to last, and to be mended when they do not.</p>
    </section>
  )
}

function Tile({ product }: { readonly product: Product }): JSX.Element {
  return (
    <li>
      <a class="tile" href={`/products/${product.id}`}>
        <ProductArt id={product.id} name={product.name} />
        <span class="tile-name" dir="auto">
          {product.name}
        </span>
        <span class="tile-foot">
          <Price amount={product.price} />
          <span class="quiet" dir="auto">
            {product.category?.name}
          </span>
        </span>
      </a>
    </li>
  )
}

function Pages({ page, query }: { readonly page: ProductPage; readonly query: ProductQuery }): JSX.Element | null {
  const { previous, next } = page
  if (previous === undefined && next === undefined) return null
  const href = (place: { readonly after: string } | { readonly before: string }): string => {
    const { search, category, sort } = query
    const told = Object.entries({ search, category, sort, ...place }).filter(([, value]) => value !== '')
    return `/products?${new URLSearchParams(told).toString()}`
  }
  return (
    <nav class="pages" aria-label="Pages">
      {previous === undefined ? (
        <span />
      ) : (
        <a rel="prev" href={href({ before: previous })}>
          ← Previous
        </a>
      )}
      {next === undefined ? (
        <span />
      ) : (
        <a rel="next" href={href({ after: next })}>
          Next →
        </a>
      )}
    </nav>
  )
}
