import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DomainError } from '../../../shared/errors.js'
import type { GuessBound, NamedValues } from '../../entity/action.js'
import type { Authenticated } from '../../entity/caller.js'

/** Callers that are counted at a time, for each route by itself. Beyond, the one that guessed least lately is forgotten. */
const COUNTED = 10_000

/** A request whose rejection by a rule may tell something. Its transaction may run several times. */
export interface Guess {
  /** Called before a rule judges the input. Throws `quota-exceeded` if too many guesses of the caller were wrong. */
  begin(input: NamedValues): void
  /** The rule has rejected the request. */
  wrong(): void
}

interface Guesser {
  readonly caller: Pick<Authenticated, 'issuer' | 'subject'>
  readonly resource: string
  /** `create` or the name of an action. */
  readonly route: string
  /** undefined: nothing is counted. */
  readonly bound: GuessBound | undefined
}

const UNCOUNTED: Guess = { begin: () => undefined, wrong: () => undefined }

/** Counts the guesses of callers in this process. A guess counts as wrong from its start until it turns out right. */
export class GuessCounts {
  readonly #now: () => number
  /** Times of the guesses that count, oldest first. */
  readonly #times = new LRUCache<string, readonly number[]>({ max: COUNTED })

  /** `now` is in epoch milliseconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Runs a request that may be a guess. What ends otherwise than by `wrong` has told nothing, and counts no more. */
  async count<Result>(guesser: Guesser, run: (guess: Guess) => Promise<Result>): Promise<Result> {
    const { bound } = guesser
    if (bound === undefined) return run(UNCOUNTED)
    const key = guesserKey(guesser)
    let at: number | undefined
    let isWrong = false
    try {
      return await run({
        begin: (input) => {
          if ((input[bound.of] ?? null) !== null) at ??= this.#admit(key, bound)
        },
        wrong: () => {
          isWrong = true
        }
      })
    } finally {
      if (at !== undefined && !isWrong) this.#takeBack(key, at)
    }
  }

  #admit(key: string, { most, minutes }: GuessBound): number {
    const now = this.#now()
    const window = minutes * 60_000
    const recent = (this.#times.get(key) ?? []).filter((time) => time + window > now)
    const decisive = recent[recent.length - most]
    if (decisive !== undefined) throw tooManyGuesses(Math.max(1, Math.ceil((decisive + window - now) / 1000)))
    this.#times.set(key, [...recent, now])
    return now
  }

  /** Removes the time once: another guess may have the same one. */
  #takeBack(key: string, at: number): void {
    const times = this.#times.get(key) ?? []
    const index = times.lastIndexOf(at)
    if (index < 0) return
    const left = times.toSpliced(index, 1)
    if (left.length === 0) this.#times.delete(key)
    else this.#times.set(key, left)
  }
}

/** Of a fixed length, whatever issuers write into their tokens. */
function guesserKey({ caller: { issuer, subject }, resource, route }: Guesser): string {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject, resource, route]))
    .digest('base64')
}

function tooManyGuesses(retryAfter: number): DomainError {
  const detail = `Too many of these requests were rejected lately. Try again in ${retryAfter} seconds.`
  return new DomainError('quota-exceeded', detail, { retryAfter })
}
