import type { SampleAccounts } from 'uniform-rest'

/** The accounts that exist only where SAMPLE_DATA is on. Ada and Ben are the customers 1 and 2 of the sample rows. */
export const sampleAccounts: SampleAccounts = {
  password: 'demo-password',
  accounts: [
    { email: 'admin@example.com', name: 'Admin', role: 'Admin', owner: null },
    { email: 'clerk@example.com', name: 'Clerk', role: 'Clerk', owner: null },
    { email: 'ada@example.com', name: 'Ada', role: 'Customer', owner: 1n },
    { email: 'ben@example.com', name: 'Ben', role: 'Customer', owner: 2n },
    { email: 'nobody@example.com', name: 'Nobody', role: 'Customer', owner: null }
  ]
}
