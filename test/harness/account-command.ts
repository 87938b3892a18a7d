import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { parseAccountArguments } from '../../cli/account.js'
import { withAccounts } from '../../data-service/commands.js'
import store from '../../examples/store/uniform-rest.config.js'
import { outputRoot } from './package-root.js'

/** A command that has ended. */
export interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

interface Surroundings {
  /** All of its environment but PATH. */
  readonly env: Readonly<Record<string, string>>
  /** Its standard input. */
  readonly line?: string | undefined
}

/** Runs `uniform-rest account` on the reference store as people do. */
export async function startAccountCommand(args: readonly string[], { env, line = '' }: Surroundings): Promise<Ended> {
  const command = [join(outputRoot, 'cli/main.js'), 'account', ...args, '--app', join(outputRoot, 'examples/store')]
  const child = spawn(process.execPath, ['--enable-source-maps', ...command], {
    env: { PATH: process.env['PATH'], ...env }
  })
  // The command may end without a look at its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${line}\n`)
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, output, errors }
}

/** The same in this process, which takes a tenth of the time. */
export async function runAccountCommand(args: readonly string[], { env, line = '' }: Surroundings): Promise<Ended> {
  const output = new PassThrough()
  let errors = ''
  try {
    const { run, request } = parseAccountArguments(args)
    const input = Readable.from([`${line}\n`])
    await withAccounts(store, env, async (accounts) => run?.({ accounts, input, output, questions: output }, request))
  } catch (error) {
    errors = `${error instanceof Error ? error.message : String(error)}\n`
  }
  output.end()
  return { code: errors === '' ? 0 : 1, output: await text(output), errors }
}
