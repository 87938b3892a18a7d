import { mintAccessToken } from '../data-service/commands.js'
import { loadApplication } from './application.js'
import { type CommandLine, Failure } from './command.js'

/** `uniform-rest token ada@example.com` prints an access token of a sample account on standard output. */
export async function token(line: CommandLine): Promise<number> {
  const { application, environment } = await loadApplication(line)
  const [email] = line.args
  const accounts = application.sample?.accounts ?? []
  const account = accounts.find((one) => one.email === email?.toLowerCase())
  if (account === undefined) {
    const known = accounts.map((one) => `  ${one.email}`).join('\n')
    const problem = email === undefined ? 'Say whose token.' : `There is no sample account ${email}.`
    throw new Failure(`${problem} The sample accounts are:\n${known}`)
  }
  process.stdout.write(`${await mintAccessToken(application, { account, environment })}\n`)
  return 0
}
