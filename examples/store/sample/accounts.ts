import type { SampleAccounts } from 'uniform-rest'
import { numberedGuid } from './values.js'

/** The first two warehouses of the sample rows by name. */
const WAREHOUSES = [10, 21].map(numberedGuid)

/** The accounts that exist only where SAMPLE_DATA is on. Ada and Ben are the customers 1 and 2 of the sample rows. */
export const sampleAccounts: SampleAccounts = {
  password: 'demo-password',
  accounts: [
    { email: 'admin@example.com', name: 'Admin', roles: ['Admin'], owner: null },
    { email: 'clerk@example.com', name: 'Clerk', roles: ['Clerk'], owner: null },
    {
      email: 'keeper@example.com',
      name: 'Keeper',
      roles: ['Storekeeper'],
      owner: null,
      claims: { warehouses: WAREHOUSES }
    },
    { email: 'ada@example.com', name: 'Ada', roles: ['Customer'], owner: 1n },
    { email: 'ben@example.com', name: 'Ben', roles: ['Customer'], owner: 2n },
    { email: 'nobody@example.com', name: 'Nobody', roles: ['Customer'], owner: null }
  ],
  machines: [
    {
      clientId: 'nightly-export',
      secret: 'demo-secret-of-nightly-export',
      name: 'Nightly export',
      roles: ['Clerk'],
      owner: null
    }
  ]
}
