import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/argon2'
import { PARAMETERS, type PasswordOutcome, type PasswordTask } from './passwords.js'

/** As for nice(1): the thread gets about a tenth of a busy processor, and all of an idle one. */
const NICENESS = 10

// On Linux setpriority(2) changes the calling thread only; on other systems it would change the whole process.
if (process.platform === 'linux') setPriority(0, NICENESS)

parentPort?.on('message', (task: PasswordTask) => parentPort?.postMessage(hashOrVerify(task)))

function hashOrVerify({ password, hashed }: PasswordTask): PasswordOutcome {
  try {
    return hashed === undefined
      ? // Argon2id is the default variant of this package.
        { hashed: hashSync(password, PARAMETERS) }
      : { matches: verifySync(hashed, password, PARAMETERS) }
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) }
  }
}
