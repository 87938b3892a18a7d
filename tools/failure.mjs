/** A reason to stop that a person can act on: shown without a stack. */
export class Failure extends Error {}

/**
 * Runs a command's main function: its answer is the exit code.
 *
 * @param {() => Promise<number>} main
 */
export async function runCommand(main) {
  try {
    process.exitCode = await main()
  } catch (error) {
    process.stderr.write(`${error instanceof Failure ? error.message : describe(error)}\n`)
    process.exitCode = 1
  }
}

/** @param {unknown} error */
function describe(error) {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error)
}
