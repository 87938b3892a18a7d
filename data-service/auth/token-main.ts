import { randomUUID } from 'node:crypto'
import { SAMPLE_ACCOUNTS } from '../../examples/store/accounts.js'
import { readConfig } from '../config.js'
import { loadSigningKey, mintToken } from './signing-keys.js'

/** `npm run token -- ada@example.com` prints an access token of a sample account on standard output. */
async function main(email: string | undefined): Promise<void> {
  const account = SAMPLE_ACCOUNTS.find((one) => one.email === email?.toLowerCase())
  if (account === undefined) {
    const accounts = SAMPLE_ACCOUNTS.map((one) => `  ${one.email}`).join('\n')
    const fault = email === undefined ? 'Say whose token.' : `There is no sample account ${email}.`
    throw new Error(`${fault} The sample accounts are:\n${accounts}`)
  }
  const { config } = readConfig(process.env)
  const key = await loadSigningKey({ file: config.tokens.privateKeyFile, dataDir: config.dataDir })
  const { token } = mintToken(account, undefined, {
    key,
    issuer: config.tokens.issuer,
    audience: config.tokens.audience,
    ownerClaimType: config.ownership.claimType,
    ttl: config.tokens.accessTtl,
    now: Date.now,
    newId: randomUUID
  })
  process.stdout.write(`${token}\n`)
}

try {
  await main(process.argv[2])
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
