import type { ComponentChildren, JSX } from 'preact'
import { Layout } from '../html/layout.js'
import type { Visitor } from '../visitor.js'

export interface PrivatePageProps {
  readonly visitor: Visitor | undefined
  readonly path: string
  readonly title: string
  /** Fills `#private` once the browser has its access token. */
  readonly script: string
  /** What is beside it. */
  readonly children?: ComponentChildren
}

/**
 * A page about its visitor. The server renders its frame alone: what belongs to somebody is fetched by the browser with
 * an access token that the API validates, so a forged cookie gets to see an empty frame.
 */
export function PrivatePage({ visitor, path, title, script, children }: PrivatePageProps): JSX.Element {
  return (
    <Layout title={title} visitor={visitor} path={path} script={script}>
      <h1>{title}</h1>
      {visitor === undefined ? (
        <p>
          <a class="main-button" href={`/sign-in?next=${encodeURIComponent(path)}`}>
            Sign in
          </a>{' '}
          to see this.
        </p>
      ) : (
        <div id="private" aria-busy="true">
          <p class="quiet">One moment …</p>
        </div>
      )}
      {children}
      <noscript>
        <p class="notice">
          This page needs JavaScript: what is yours is fetched by your browser and never put into this page.
        </p>
      </noscript>
    </Layout>
  )
}
