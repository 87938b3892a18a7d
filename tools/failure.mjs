/** A reason to stop that a person can act on: shown without a stack. */
export class Failure extends Error {}

/**
 * Runs a command's main function: its answer is the exit code. What is still open does not keep the command alive.
 *
 * @param {() => Promise<number>} main
 */
export async function runCommand(main) {
  try {
    process.exit(await main())
  } catch (error) {
    process.stderr.write(`${error instanceof Failure ? error.message : describe(error)}\n`)
    process.exit(1)
  }
}

/** @param {unknown} error */
function describe(error) {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error)
}
