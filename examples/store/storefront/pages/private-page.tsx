import type { JSX } from 'preact'
import { Layout, signInPath } from '../html/layout.js'
import type { PageContext } from '../page-context.js'

export interface PrivatePageProps {
  readonly context: PageContext
  readonly title: string
  /** Fills `#private` once the browser has its access token. */
  readonly script: string
}

/**
 * A page about its visitor. The server renders its frame alone: what belongs to somebody is fetched by the browser with
 * an access token that the API validates, so a forged cookie gets to see an empty frame.
 */
export function PrivatePage({ context, title, script }: PrivatePageProps): JSX.Element {
  const signedIn = context.visitor !== undefined
  return (
    <Layout title={title} context={context} {...(signedIn ? { script } : {})}>
      <h1>{title}</h1>
      {signedIn ? (
        <>
          <div id="private" aria-busy="true">
            <p class="quiet">One moment …</p>
          </div>
          <noscript>
            <p class="notice">
              This page needs JavaScript: what is yours is fetched by your browser and never put into this page.
            </p>
          </noscript>
        </>
      ) : (
        <div class="empty">
          <p>Sign in to see this.</p>
          <a class="main-button" href={signInPath(context.path)}>
            Sign in
          </a>
        </div>
      )}
    </Layout>
  )
}
