import type { JSX } from 'preact'
import { Layout } from '../html/layout.js'
import type { PageContext } from '../page-context.js'

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
