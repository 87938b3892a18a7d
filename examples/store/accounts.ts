import { type Account, accountKey, type AuthStore, type NewAccount } from '../../data-service/auth/accounts.js'
import type { Passwords } from '../../data-service/auth/passwords.js'

/** Of all of them, and public. */
export const SAMPLE_PASSWORD = 'demo-password'

/** The accounts that exist only where SAMPLE_DATA is on. */
export const SAMPLE_ACCOUNTS: readonly Account[] = [
  { email: 'admin@example.com', name: 'Admin', role: 'Admin', owner: null },
  { email: 'clerk@example.com', name: 'Clerk', role: 'Clerk', owner: null },
  { email: 'ada@example.com', name: 'Ada', role: 'Customer', owner: 1n },
  { email: 'ben@example.com', name: 'Ben', role: 'Customer', owner: 2n },
  { email: 'nobody@example.com', name: 'Nobody', role: 'Customer', owner: null }
]

/** Adds the sample accounts that are not there. An address that has another account keeps it. */
export async function loadSampleAccounts(
  store: AuthStore,
  how: { readonly passwords: Passwords; readonly now: () => number; readonly signal: AbortSignal }
): Promise<void> {
  const { passwords, now, signal } = how
  const keyed = SAMPLE_ACCOUNTS.map((account) => ({ ...account, emailKey: accountKey(account.email) }))
  const missing = await store.transaction(signal, async (unit) => {
    const found = []
    for (const account of keyed) if ((await unit.findAccount(account.emailKey)) === undefined) found.push(account)
    return found
  })
  // Slow on purpose, so done while no transaction is open.
  const made: NewAccount[] = []
  for (const account of missing) {
    made.push({
      ...account,
      passwordHash: await passwords.hash(SAMPLE_PASSWORD),
      isSample: true,
      createdAt: now()
    })
  }
  if (made.length === 0) return
  await store.transaction(signal, async (unit) => {
    for (const account of made) await unit.addAccount(account)
  })
}
