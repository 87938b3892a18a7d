/** A reason not to run the tests that a person can act on: shown without a stack (tools/failure.mjs). */
export class Failure extends Error {
  override readonly name = 'Failure'
}
