import { join } from 'node:path'
import { type CommandSurroundings, runCommand, spawnCommand } from './command.js'
import { outputRoot } from './package-root.js'

/** A command that has ended. */
export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

type Surroundings = Pick<CommandSurroundings, 'env' | 'line'>

/** Runs `uniform-rest account` on the reference store in a process of its own. */
export function startAccountCommand(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  return ended(spawnCommand, args, surroundings)
}

/** The same in this process. */
export function runAccountCommand(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  return ended(runCommand, args, surroundings)
}

async function ended(run: typeof runCommand, args: readonly string[], surroundings: Surroundings): Promise<Ended> {
  const command = ['account', ...args, '--app', join(outputRoot, 'examples/store')]
  const { code, stdout: output, stderr: errors } = await run(command, surroundings)
  return { code, output, errors }
}
