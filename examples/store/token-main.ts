import { mintAccessToken } from '../../data-service/public/service.js'
import { sampleAccounts } from './sample/accounts.js'
import { store } from './store.js'

/** `npm run token -- ada@example.com` prints an access token of a sample account on standard output. */
async function main(email: string | undefined): Promise<void> {
  const { accounts } = sampleAccounts
  const account = accounts.find((one) => one.email === email?.toLowerCase())
  if (account === undefined) {
    const known = accounts.map((one) => `  ${one.email}`).join('\n')
    const problem = email === undefined ? 'Say whose token.' : `There is no sample account ${email}.`
    throw new Error(`${problem} The sample accounts are:\n${known}`)
  }
  process.stdout.write(`${await mintAccessToken(store, account)}\n`)
}

try {
  await main(process.argv[2])
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
