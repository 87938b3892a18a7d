/** A reason to stop that a person can act on: shown without a stack. */
export class Failure extends Error {
  /** @override */
  name = 'Failure'
}

/**
 * Runs a command's main function: its answer is the exit code. What is still open does not keep the command alive.
 *
 * @param {() => Promise<number>} main
 */
export async function runCommand(main) {
  try {
    process.exit(await main())
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`)
    process.exit(1)
  }
}

/**
 * What to show of an error: the words of a Failure, the stack of anything else.
 *
 * @param {unknown} error
 */
export function describe(error) {
  if (!(error instanceof Error)) return String(error)
  // By name, since the compiled code under test/ has a class of its own for it.
  return error.name === 'Failure' ? error.message : (error.stack ?? error.message)
}
