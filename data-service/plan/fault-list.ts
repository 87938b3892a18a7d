import { refusal, type Fault } from '../../shared/domain-error.js'
import type { ErrorCode } from '../../shared/error-code.js'
import { shortened } from '../../shared/shortened.js'

const MAX_ECHO = 100

/** Gathers what is wrong with a request, so that one answer names it all. */
export class FaultList {
  readonly #faults: Fault[] = []

  /** A fault of a query or path parameter. */
  add(code: ErrorCode, parameter: string, detail: string): void {
    this.#faults.push({ code, detail, place: { in: 'parameter', name: echoed(parameter) } })
  }

  /** A fault of a body's member, named by a JSON pointer (RFC 6901). */
  addAt(pointer: string, detail: string, code: ErrorCode = 'body.invalid'): void {
    this.#faults.push({ code, detail, place: { in: 'pointer', name: echoed(pointer) } })
  }

  addHeader(code: ErrorCode, header: string, detail: string): void {
    this.#faults.push({ code, detail, place: { in: 'header', name: header } })
  }

  /** Throws one DomainError with all faults, if there are any. */
  finish(): void {
    const [first, ...others] = this.#faults
    if (first !== undefined) throw refusal([first, ...others])
  }
}

/** Client text for a fault's detail: in quotes and never long. */
export function quoted(text: string): string {
  return JSON.stringify(echoed(text))
}

function echoed(text: string): string {
  // Half a surrogate pair is no text.
  return shortened(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), MAX_ECHO)
}
