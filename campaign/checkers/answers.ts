import type { Exchange, Injury } from '../history.js'
import { faultsOf } from './allowed.js'
import type { Checker, Verdict, Violation } from './checker.js'

/** Milliseconds after the end of an injury until which answers may still tell of it: connections are made anew, replicas looked for. */
const RECOVERY_MS = 10_000

interface Trouble {
  readonly id: string
  readonly what: string
  readonly sentAt: number
  readonly endedAt: number
}

/** Every answer of every workload. */
export class AllowedAnswers implements Checker {
  readonly title = 'Answers that are allowed'
  readonly contract = '7. Errors'
  readonly how = 'all workloads: status, code, headers and body of every answer.'
  readonly promise =
    'Every answer is one that the contract allows for its request, tells nothing of the inside, and is a failure of the system only while something was broken or within ten seconds after.'
  readonly #violations: Violation[] = []
  readonly #troubles: Trouble[] = []
  readonly #injuries: Injury[] = []
  #answers = 0

  see(exchange: Exchange): void {
    const { id, sentAt, endedAt, answer, lost } = exchange
    if (answer === undefined) {
      this.#troubles.push({ id, what: `no answer (${lost ?? 'unknown'})`, sentAt, endedAt })
      return
    }
    this.#answers++
    const { status } = answer
    if (status > 500) this.#troubles.push({ id, what: String(status), sentAt, endedAt })
    for (const fault of faultsOf(exchange))
      this.#violations.push({ what: `The answer to ${id} ${fault}.`, exchanges: [id] })
  }

  hurt(injury: Injury): void {
    this.#injuries.push(injury)
  }

  judge(): Promise<Verdict> {
    const broken = together(this.#injuries)
    let n = 0
    for (const { id, what, sentAt, endedAt } of this.#troubles.toSorted((one, other) => one.endedAt - other.endedAt)) {
      // The last time that began before its end is also the one that ended last of these.
      while ((broken[n + 1]?.from ?? Infinity) <= endedAt) n++
      const { from, until } = broken[n] ?? { from: Infinity, until: -Infinity }
      const isExplained = from <= endedAt && until >= sentAt
      if (!isExplained) this.#violations.push({ what: `${id}: ${what}, and nothing was broken.`, exchanges: [id] })
    }
    return Promise.resolve({ tried: this.#answers, of: 'answers', violations: this.#violations })
  }
}

/** The times in which something was broken or may still be felt, in order and apart from each other. */
function together(injuries: readonly Injury[]): readonly { readonly from: number; readonly until: number }[] {
  const times: { readonly from: number; until: number }[] = []
  for (const { from, until: mended = Infinity } of injuries.toSorted((one, other) => one.from - other.from)) {
    const until = mended + RECOVERY_MS
    const before = times.at(-1)
    if (before !== undefined && from <= before.until) before.until = Math.max(before.until, until)
    else times.push({ from, until })
  }
  return times
}
