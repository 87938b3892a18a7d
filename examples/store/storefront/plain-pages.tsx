import type { JSX } from 'preact'
import { Layout, signInPath } from './layout.js'
import type { PageContext } from './page-context.js'

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

interface PrivatePageProps {
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

/** Signs in by script: the API takes JSON alone, which no form of another site can send. */
export function SignIn({ context, next }: { readonly context: PageContext; readonly next: string }): JSX.Element {
  const { visitor } = context
  return (
    <Layout title="Sign in" context={context} script="sign-in">
      <div class="narrow">
        <h1>Sign in</h1>
        {visitor === undefined ? null : (
          <p class="notice">
            You are signed in as <b dir="auto">{visitor.name}</b>. <a href={next}>Go on</a>, or sign in as somebody
            else.
          </p>
        )}
        <form id="sign-in" class="card" data-next={next} method="post">
          <label>
            E-mail address
            <input name="email" type="email" autoComplete="username" required maxLength={254} />
          </label>
          <label>
            Password
            <input name="password" type="password" autoComplete="current-password" required maxLength={1024} />
          </label>
          <p id="failure" class="failure" role="alert" />
          <button type="submit" class="main-button" disabled>
            Sign in
          </button>
          <noscript>
            <p class="notice">Signing in needs JavaScript.</p>
          </noscript>
        </form>
        <p class="quiet">
          On the sample store: <code>ada@example.com</code> or <code>ben@example.com</code>, password{' '}
          <code>demo-password</code>.
        </p>
      </div>
    </Layout>
  )
}
