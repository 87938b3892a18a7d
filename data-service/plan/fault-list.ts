import { refusal, type Fault } from '../../shared/domain-error.js'
import type { ErrorCode } from '../../shared/error-code.js'
import { shortened } from '../../shared/shortened.js'

const MAX_ECHO = 100

/** Gathers what is wrong with a request's parameters, so that one answer names it all. */
export class FaultList {
  readonly #faults: Fault[] = []

  add(code: ErrorCode, parameter: string, detail: string): void {
    this.#faults.push({ code, detail, place: { in: 'parameter', name: shortened(parameter, MAX_ECHO) } })
  }

  /** Throws one DomainError with all faults, if there are any. */
  finish(): void {
    const [first, ...others] = this.#faults
    if (first !== undefined) throw refusal([first, ...others])
  }
}

/** Client text for a fault's detail: in quotes and never long. */
export function quoted(text: string): string {
  return JSON.stringify(shortened(text, MAX_ECHO))
}
