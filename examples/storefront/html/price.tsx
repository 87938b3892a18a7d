import type { JSX } from 'preact'

const EUROS = new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' })

/** An amount of exact digits for people. */
export function Price({ amount }: { readonly amount: string }): JSX.Element {
  return (
    <data class="price" value={amount}>
      {EUROS.format(Number(amount))}
    </data>
  )
}
