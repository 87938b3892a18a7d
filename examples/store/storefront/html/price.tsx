import type { JSX } from 'preact'
import { euros } from '../client/euros.js'

/** An amount of exact digits for people. */
export function Price({ amount }: { readonly amount: string }): JSX.Element {
  return (
    <data class="price" value={amount}>
      {euros(amount)}
    </data>
  )
}
