const EUROS = new Intl.NumberFormat('en-IE', { style: 'currency', currency: 'EUR' })

/** An amount such as `19.90` as text for people. */
export function euros(amount: string): string {
  return EUROS.format(Number(amount))
}

/** `19.90` times 3 is `59.70`, exactly. */
export function times(amount: string, quantity: number): string {
  return amountOf(centsOf(amount) * BigInt(quantity))
}

export function sumOf(amounts: readonly string[]): string {
  return amountOf(amounts.reduce((sum, amount) => sum + centsOf(amount), 0n))
}

function centsOf(amount: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(2, '0').slice(0, 2))
}

function amountOf(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
