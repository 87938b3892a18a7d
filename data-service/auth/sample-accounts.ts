import type { Account } from './account.js'

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
