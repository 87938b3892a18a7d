import { accountKey } from './account.js'
import type { AuthStore, NewAccount } from './auth-store.js'
import type { Passwords } from './passwords.js'
import { SAMPLE_ACCOUNTS, SAMPLE_PASSWORD } from './sample-accounts.js'

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
