import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'

/** The task of a worker: to hash a password or, if `hashed` is given, to verify one. */
export interface PasswordTask {
  readonly password: string
  readonly hashed: string | undefined
}

/** `failure` is the message of an error, such as that of a text that is no hash. */
export type PasswordOutcome = { readonly hashed: string } | { readonly matches: boolean } | { readonly failure: string }

/** OWASP's first choice for Argon2id, which is this package's default variant: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** As for nice(1): the thread gets about a tenth of a busy processor, and all of an idle one. */
const NICENESS = 10

// On Linux setpriority(2) changes the calling thread only; on other systems it would change the whole process.
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
