import type { Exchange } from '../../history.js'
import { faultsOf } from './allowed.js'
import type { Checker, Verdict, Violation } from '../checker.js'

/** Every answer of every workload. */
export class AllowedAnswers implements Checker {
  readonly title = 'Answers that are allowed'
  readonly contract = '7. Errors'
  readonly how = 'all workloads: status, code, headers and body of every answer, and what tools say of errors.'
  readonly promise = 'Every answer is one that the contract allows for its request, and tells nothing of the inside.'
  readonly seesMessages = true
  readonly #violations: Violation[] = []
  #answers = 0

  see(exchange: Exchange): void {
    const { id, answer } = exchange
    if (answer === undefined) return
    this.#answers++
    for (const fault of faultsOf(exchange))
      this.#violations.push({ what: `The answer to ${id} ${fault}.`, exchanges: [id] })
  }

  judge(): Promise<Verdict> {
    return Promise.resolve({ tried: this.#answers, of: 'answers', violations: this.#violations })
  }
}
