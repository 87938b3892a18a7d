import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { PasswordOutcome, PasswordTask } from './password-worker.js'

/** How passwords are kept. */
export interface Passwords {
  /** In PHC form, with salt and parameters. */
  hash(password: string): Promise<string>
  /** Rejects where `hashed` is no hash. */
  verify(hashed: string, password: string): Promise<boolean>
}

/**
 * Argon2id on a few threads of low priority: a flood of log-ins must take neither libuv's threads, which file system work
 * needs, nor all of the memory, nor the processor from whoever reads or writes.
 */
export function argon2Passwords(atOnce = Math.max(1, Math.min(2, availableParallelism() - 1))): Passwords {
  const idle: Worker[] = []
  const waiting: (() => void)[] = []
  let running = 0
  const inTurn = async (task: PasswordTask): Promise<PasswordOutcome> => {
    if (running === atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    const begun = performance.now()
    try {
      const worker = idle.pop() ?? new Worker(new URL('./password-worker.js', import.meta.url))
      const outcome = await outcomeOf(worker, task)
      idle.push(worker)
      return outcome
    } finally {
      // The next in line takes over this place, after as long as this one took: a line of passwords that are checked one
      // behind the other is a flood, and half of the time is for everybody else.
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else setTimeout(next, performance.now() - begun)
    }
  }
  return {
    async hash(password) {
      const outcome = await inTurn({ password, hashed: undefined })
      if ('hashed' in outcome) return outcome.hashed
      throw new Error(failureIn(outcome))
    },
    async verify(hashed, password) {
      const outcome = await inTurn({ password, hashed })
      if ('matches' in outcome) return outcome.matches
      throw new Error(failureIn(outcome))
    }
  }
}

/** An idle worker does not keep the process alive. A worker that fails is not used again. */
function outcomeOf(worker: Worker, task: PasswordTask): Promise<PasswordOutcome> {
  return new Promise((resolve, reject) => {
    const settled = (): void => {
      // Without a name it would take Node's own listeners off too.
      for (const event of ['message', 'error', 'exit']) worker.removeAllListeners(event)
      worker.unref()
    }
    worker.ref()
    worker.once('message', (outcome: PasswordOutcome) => {
      settled()
      resolve(outcome)
    })
    worker.once('error', (error) => {
      settled()
      reject(error)
    })
    worker.once('exit', (code) => {
      settled()
      reject(new Error(`The thread that hashes passwords ended with ${code}`))
    })
    worker.postMessage(task)
  })
}

function failureIn(outcome: PasswordOutcome): string {
  return 'failure' in outcome ? outcome.failure : 'The thread that hashes passwords answered something else'
}
