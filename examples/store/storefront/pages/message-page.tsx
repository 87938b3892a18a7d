import type { JSX } from 'preact'
import { Layout } from '../html/layout.js'
import type { PageContext } from '../page-context.js'

/** A page that only says something. */
export function MessagePage({
  context,
  title,
  text
}: {
  readonly context: PageContext
  readonly title: string
  readonly text: string
}): JSX.Element {
  return (
    <Layout title={title} context={context}>
      <div class="empty">
        <h1>{title}</h1>
        <p>{text}</p>
        <a class="main-button" href="/products">
          To the products
        </a>
      </div>
    </Layout>
  )
}
