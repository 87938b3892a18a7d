import type { JSX } from 'preact'
import { Layout } from '../html/layout.js'
import type { Visitor } from '../visitor.js'

/** A page that only says something. */
export function MessagePage({
  visitor,
  path,
  title,
  text
}: {
  readonly visitor: Visitor | undefined
  readonly path: string
  readonly title: string
  readonly text: string
}): JSX.Element {
  return (
    <Layout title={title} visitor={visitor} path={path}>
      <h1>{title}</h1>
      <p>{text}</p>
      <p>
        <a href="/products">Back to the products</a>
      </p>
    </Layout>
  )
}
