import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { isCommonPassword } from './common-passwords.js'

/** Characters, as NIST SP 800-63B counts them: each code point is one. */
const MIN_PASSWORD = 8
/** UTF-16 code units. It limits the work of hashing. No passphrase in use is as long. */
export const MAX_PASSWORD = 1024

/**
 * Half a surrogate pair has no form in UTF-8 and becomes U+FFFD on its way here, as bytes do that are no UTF-8. With it,
 * different passwords would be stored as the same.
 */
const LOST_CHARACTER = /[\uFFFD\p{Surrogate}]/u

/**
 * What is wrong with a new password of the account with this e-mail address, as the end of a sentence; undefined if nothing
 * is. All other characters may be in it.
 */
export function passwordMistake(password: string, email: string): string | undefined {
  if (password.trim() === '') return 'must not be blank'
  if (LOST_CHARACTER.test(password)) return 'must hold neither half a surrogate pair nor U+FFFD, which stands for one'
  if (Array.from(password).length < MIN_PASSWORD) return `must be at least ${MIN_PASSWORD} characters long`
  if (password.length > MAX_PASSWORD) return `must be at most ${MAX_PASSWORD} characters long`
  const guess = guessOf(password)
  if (isCommonPassword(guess)) return 'must be none of the 10,000 most common ones, which are guessed first'
  const address = guessOf(email)
  const isAddress = [address, address.split('@', 1)[0]].includes(guess)
  return isAddress ? 'must not be the address of the account, or the part of it before the @' : undefined
}

/**
 * The form in which passwords are compared with those that are guessed first. Spaces around a password, letter case and
 * characters of another width (NFKC) do not make it harder to guess. What is hashed is the password as it was sent.
 */
export function guessOf(password: string): string {
  return password.normalize('NFKC').trim().toLowerCase()
}

/** Hashes and verifies passwords. */
export interface Passwords {
  /** Answers the hash as a PHC string, with its salt and parameters. */
  hash(password: string): Promise<string>
  /** Rejects if `hashed` is no hash. */
  verify(hashed: string, password: string): Promise<boolean>
}

/** The task of a worker: to hash a password or, if `hashed` is given, to verify one. */
export interface PasswordTask {
  readonly password: string
  readonly hashed: string | undefined
}

/** `failure` is the message of an error, such as that of a text that is no hash. */
export type PasswordOutcome = { readonly hashed: string } | { readonly matches: boolean } | { readonly failure: string }

/** OWASP's first choice for Argon2id: 19 MiB, two passes, one lane. */
export const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Bytes of salt and of hash, as the package of the worker makes them. */
const SALT_BYTES = 16
const HASH_BYTES = 32

/** A hash that no password has, and that takes as long to verify as that of an account. It is made without hashing. */
export function decoyHash(): string {
  const { memoryCost, timeCost, parallelism } = PARAMETERS
  const [salt, hash] = [SALT_BYTES, HASH_BYTES].map((bytes) =>
    randomBytes(bytes).toString('base64').replaceAll('=', '')
  )
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${hash}`
}

/** Milliseconds after which a thread without work ends: it keeps some 15 MiB. */
const IDLE_MS = 30_000

interface IdleWorker {
  readonly worker: Worker
  readonly ending: NodeJS.Timeout
}

/**
 * Argon2id in a few worker threads of low priority. A flood of logins must not occupy libuv's threads, which file system
 * operations need, nor all memory, nor the processor time of other calls.
 */
export function argon2Passwords(
  maxWorkers = Math.max(1, Math.min(2, availableParallelism() - 1)),
  idleMs = IDLE_MS
): Passwords {
  const idle: IdleWorker[] = []
  const takeIdle = (): Worker | undefined => {
    const taken = idle.pop()
    clearTimeout(taken?.ending)
    return taken?.worker
  }
  const rest = (worker: Worker): void => {
    const ending = setTimeout(() => {
      idle.splice(idle.indexOf(entry), 1)
      void worker.terminate()
    }, idleMs).unref()
    const entry = { worker, ending }
    idle.push(entry)
  }
  const waiting: (() => void)[] = []
  let running = 0
  const run = async (task: PasswordTask): Promise<PasswordOutcome> => {
    if (running === maxWorkers) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    const begun = performance.now()
    try {
      const worker = takeIdle() ?? new Worker(new URL('./password-worker.js', import.meta.url))
      const outcome = await runTask(worker, task)
      rest(worker)
      return outcome
    } finally {
      // If tasks wait, the next one starts only after a pause as long as this one took. So a flood of logins takes at most
      // half of the time, and other calls get the rest.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else setTimeout(next, performance.now() - begun)
    }
  }
  return {
    async hash(password) {
      const outcome = await run({ password, hashed: undefined })
      if ('hashed' in outcome) return outcome.hashed
      throw new Error(failureIn(outcome))
    },
    async verify(hashed, password) {
      const outcome = await run({ password, hashed })
      if ('matches' in outcome) return outcome.matches
      throw new Error(failureIn(outcome))
    }
  }
}

/** Runs one task. An idle worker does not keep the process alive, and a worker that fails is not used again. */
function runTask(worker: Worker, task: PasswordTask): Promise<PasswordOutcome> {
  return new Promise((resolve, reject) => {
    const release = (): void => {
      // removeAllListeners without a name would also remove Node's own listeners.
      for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
      worker.unref()
    }
    worker.ref()
    worker.once('message', (outcome: PasswordOutcome) => {
      release()
      resolve(outcome)
    })
    worker.once('error', (error) => {
      release()
      reject(error)
    })
    worker.once('exit', (code) => {
      release()
      reject(new Error(`The thread that hashes passwords ended with ${code}`))
    })
    worker.postMessage(task)
  })
}

function failureIn(outcome: PasswordOutcome): string {
  return 'failure' in outcome ? outcome.failure : 'The thread that hashes passwords answered something else'
}
