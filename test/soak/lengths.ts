import { randomInt } from 'node:crypto'

// How long the tests of this folder are. A variable makes one longer, or shorter while somebody works on it.

/** Of what goes on for a while. */
export const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 60)

/** Of what fuzzes a process. */
export const FUZZED_SECONDS = Number(process.env['SOAK_FUZZ_SECONDS'] ?? 600)

/** Of what is repeated. */
export const ROUNDS = Number(process.env['SOAK_ROUNDS'] ?? 100)

/** Of what reads large tables. */
export const ROWS = Number(process.env['SOAK_ROWS'] ?? 1_000_000)

/** Of random choices, printed with them. */
export const SEED = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))
