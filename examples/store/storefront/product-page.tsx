import type { JSX } from 'preact'
import { Layout, Price } from './layout.js'
import type { PageContext } from './page-context.js'
import { ProductArt } from './product-art.js'
import type { Product, Review } from './store-api.js'

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** One product with its variants and what people say of it. */
export function ProductPage({
  context,
  product
}: {
  readonly context: PageContext
  readonly product: Product
}): JSX.Element {
  const { id, name, sku, price, description, category, weightGrams, reviews } = product
  return (
    <Layout title={name} context={context} script="product">
      <nav aria-label="Breadcrumb" class="crumbs quiet">
        <a href="/products">All products</a>
        {category ? <a href={`/products?category=${category.id}`}>{category.name}</a> : null}
      </nav>
      <article class="product">
        <ProductArt id={id} name={name} />
        <div>
          <h1 dir="auto">{name}</h1>
          <p class="big">
            <Price amount={price} />
          </p>
          <p class="description" dir="auto">
            {description || 'No description yet.'}
          </p>
          <BuyForm product={product} />
          <dl class="facts">
            <dt>Article</dt>
            <dd>{sku}</dd>
            <dt>Weight</dt>
            <dd>{weightGrams === null ? 'not said' : `${weightGrams.toLocaleString('en')} g`}</dd>
          </dl>
        </div>
      </article>
      <Reviews reviews={reviews} />
    </Layout>
  )
}

function BuyForm({ product }: { readonly product: Product }): JSX.Element {
  const { id, price, isActive, variants = [] } = product
  if (!isActive) return <p class="notice">Not on sale at the moment.</p>
  return (
    <form class="buy card" id="buy" data-product={id}>
      {variants.length === 0 ? null : (
        <fieldset>
          <legend>Variant</legend>
          <label class="choice">
            <input type="radio" name="variant" value="" checked />
            <span>As it is</span>
            <Price amount={price} />
          </label>
          {variants.map((variant) => (
            <label class="choice" key={variant.id}>
              <input type="radio" name="variant" value={variant.id} disabled={variant.stock === 0} />
              <span dir="auto">
                {variant.name}
                {variant.stock === 0 ? <span class="quiet"> – out of stock</span> : null}
              </span>
              <Price amount={variant.price} />
            </label>
          ))}
        </fieldset>
      )}
      <div class="buy-row">
        <label>
          Quantity
          <input name="quantity" type="number" min={1} max={999} value={1} required inputMode="numeric" />
        </label>
        <button type="submit" class="main-button" disabled>
          Add to cart
        </button>
      </div>
      <p id="failure" class="failure" role="alert" />
      <noscript>
        <p class="quiet">The cart needs JavaScript: it keeps your sign-in out of this page.</p>
      </noscript>
    </form>
  )
}

function Reviews({ reviews }: { readonly reviews: readonly Review[] | undefined }): JSX.Element {
  if (reviews === undefined) return <p class="quiet">Reviews cannot be shown at the moment.</p>
  return (
    <section aria-labelledby="reviews" class="reviews">
      <h2 id="reviews">Reviews ({reviews.length})</h2>
      {reviews.length === 0 ? <p class="quiet">Nobody has written one yet.</p> : null}
      <ul>
        {reviews.map(({ id, rating, title, body, authorName, createdAt }) => (
          <li key={id}>
            <h3>{title}</h3>
            <p>
              <span aria-hidden="true" class="stars">
                {'★'.repeat(rating)}
                {'☆'.repeat(5 - rating)}
              </span>
              <span class="unseen">{rating} of 5 stars</span>
              <span class="quiet">
                {' '}
                {authorName}, <time dateTime={createdAt}>{DATE.format(new Date(createdAt))}</time>
              </span>
            </p>
            {body === null ? null : <p class="description">{body}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}
