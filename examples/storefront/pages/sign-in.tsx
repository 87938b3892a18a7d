import type { JSX } from 'preact'
import { Layout } from '../html/layout.js'
import type { Visitor } from '../visitor.js'

/** Signs in by script: the API takes JSON alone, which no form of another site can send. */
export function SignIn({
  visitor,
  next
}: {
  readonly visitor: Visitor | undefined
  readonly next: string
}): JSX.Element {
  return (
    <Layout title="Sign in" visitor={visitor} path="/sign-in" script="sign-in">
      <h1>Sign in</h1>
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
    </Layout>
  )
}
