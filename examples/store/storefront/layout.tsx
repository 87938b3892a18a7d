import type { ComponentChildren, JSX } from 'preact'
import { euros } from './client/euros.js'
import type { PageContext } from './page-context.js'

interface LayoutProps {
  readonly title: string
  readonly context: PageContext
  /** Client script of the page, besides the one of every page. */
  readonly script?: string
  readonly search?: string
  readonly children: ComponentChildren
}

/** What every page has around it. */
export function Layout({ title, context, script, search = '', children }: LayoutProps): JSX.Element {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Harbour & Pine`}</title>
        <link rel="icon" href="/shop-assets/mark.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/shop-assets/look.css" />
        <link rel="stylesheet" href="/shop-assets/shop.css" />
        <script type="module" src="/shop-assets/client/every-page.js" />
        {script === undefined ? null : <script type="module" src={`/shop-assets/client/${script}.js`} />}
      </head>
      <body data-signed-in={context.visitor === undefined ? 'no' : 'yes'} data-api={context.apiPath}>
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <Top context={context} search={search} />
        <main id="main" tabIndex={-1}>
          {children}
        </main>
        <div id="said" class="toast" role="status" aria-live="polite" />
        <footer class="foot">
          <div class="bar">
            <span>An example on a reference store: nothing here is real.</span>
            <a href={`${context.apiPath}/docs`}>The API behind it</a>
          </div>
        </footer>
      </body>
    </html>
  )
}

function Top({ context, search }: { readonly context: PageContext; readonly search: string }): JSX.Element {
  const { visitor, path } = context
  return (
    <header class="top">
      <div class="bar">
        <a class="mark" href="/">
          <img src="/shop-assets/mark.svg" alt="" width="32" height="32" /> Harbour &amp; Pine
        </a>
        <form class="search" role="search" action="/products">
          <label class="unseen" for="search">
            Search products
          </label>
          <input
            id="search"
            name="search"
            type="search"
            placeholder="Search products"
            value={search}
            maxLength={200}
            enterKeyHint="search"
          />
          <button type="submit">Search</button>
        </form>
        <nav aria-label="Shop">
          <NavLink href="/cart" path={path}>
            Cart
          </NavLink>
          {visitor === undefined ? (
            <NavLink href={signInPath(path)} path={path}>
              Sign in
            </NavLink>
          ) : (
            <>
              <NavLink href="/orders" path={path}>
                Orders
              </NavLink>
              <NavLink href="/account" path={path}>
                <span class="greeting">
                  Hello, <b dir="auto">{visitor.name}</b>
                </span>
              </NavLink>
            </>
          )}
        </nav>
      </div>
    </header>
  )
}

/** Where somebody signs in who wants to be here. */
export function signInPath(path: string): string {
  return path === '/' || path.startsWith('/sign-in') ? '/sign-in' : `/sign-in?next=${encodeURIComponent(path)}`
}

function NavLink({
  href,
  path,
  children
}: {
  readonly href: string
  readonly path: string
  readonly children: ComponentChildren
}): JSX.Element {
  const [here] = path.split('?')
  return (
    <a href={href} aria-current={here === href.split('?')[0] ? 'page' : undefined}>
      {children}
    </a>
  )
}

/** An amount of exact digits for people. */
export function Price({ amount }: { readonly amount: string }): JSX.Element {
  return (
    <data class="price" value={amount}>
      {euros(amount)}
    </data>
  )
}
