import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'

/** What a worker is asked: to hash a password or, where `hashed` is given, to verify one. */
export interface PasswordTask {
  readonly password: string
  readonly hashed: string | undefined
}

/** `failure` says why a hash that is none could not be verified. */
export type PasswordOutcome = { readonly hashed: string } | { readonly matches: boolean } | { readonly failure: string }

/** OWASP's first choice for Argon2id, which is this package's default variant: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Of nice(1): about a tenth of a processor's time where others want it, and all of it where nobody does. */
const NICENESS = 10

// On Linux a priority is the thread's that asks for it (setpriority(2), notes); elsewhere it would be the process's.
if (process.platform === 'linux') setPriority(0, NICENESS)

parentPort?.on('message', (task: PasswordTask) => parentPort?.postMessage(outcomeOf(task)))

function outcomeOf({ password, hashed }: PasswordTask): PasswordOutcome {
  try {
    return hashed === undefined
      ? { hashed: hashSync(password, PARAMETERS) }
      : { matches: verifySync(hashed, password, PARAMETERS) }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}
