/** One of the accounts that exist only where SAMPLE_DATA is on. */
export interface SampleAccount {
  readonly email: string
  readonly name: string
  readonly role: string
  /** The owner claim; null for none. */
  readonly owner: number | null
}

export const SAMPLE_ACCOUNTS: readonly SampleAccount[] = [
  { email: 'admin@example.com', name: 'Admin', role: 'Admin', owner: null },
  { email: 'clerk@example.com', name: 'Clerk', role: 'Clerk', owner: null },
  { email: 'ada@example.com', name: 'Ada', role: 'Customer', owner: 1 },
  { email: 'ben@example.com', name: 'Ben', role: 'Customer', owner: 2 },
  { email: 'nobody@example.com', name: 'Nobody', role: 'Customer', owner: null }
]
