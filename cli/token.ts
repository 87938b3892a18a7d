import { mintAccessTokenFor } from '../data-service/commands.js'
import { loadApplication } from './application.js'
import { type CommandLine, Failure } from './command.js'

/** `uniform-rest token ada@example.com` prints an access token of an account on standard output. */
export async function token(line: CommandLine): Promise<number> {
  const [email, ...others] = line.args
  if (email === undefined || others.length > 0) throw new Failure('Usage: uniform-rest token <email>')
  const { application, environment } = await loadApplication(line)
  process.stdout.write(`${await mintAccessTokenFor(application, { email, environment })}\n`)
  return 0
}
