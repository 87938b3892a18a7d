import { availableParallelism } from 'node:os'
import { hash, verify } from '@node-rs/argon2'

/** How passwords are kept. */
export interface Passwords {
  /** In PHC form, with salt and parameters. */
  hash(password: string): Promise<string>
  verify(hashed: string, password: string): Promise<boolean>
}

/** OWASP's first choice for Argon2id, which is this package's default variant: 19 MiB, two passes, one lane. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/**
 * Argon2id on libuv's threads, a few at a time: whoever floods the service with log-ins must not take every thread from
 * its file system work, nor all of its memory, and leaves a processor to everybody else.
 */
export function argon2Passwords(atOnce = Math.max(1, Math.min(2, availableParallelism() - 1))): Passwords {
  const waiting: (() => void)[] = []
  let running = 0
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running === atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await work()
    } finally {
      // The next in line takes over this place.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
  return {
    hash: (password) => inTurn(() => hash(password, PARAMETERS)),
    verify: (hashed, password) => inTurn(() => verify(hashed, password))
  }
}
