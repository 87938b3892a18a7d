import { type ErrorCode, type Violation, rejection, shortened } from '../../shared/errors.js'

const MAX_ECHO = 100

/** Gathers what is wrong with a request, so that one answer names it all. */
export class Violations {
  readonly #violations: Violation[] = []

  /** A violation of a query or path parameter. */
  add(code: ErrorCode, parameter: string, detail: string): void {
    this.#violations.push({ code, detail, place: { in: 'parameter', name: echoed(parameter) } })
  }

  /** A violation of a body's member, named by a JSON pointer (RFC 6901). */
  addAt(pointer: string, detail: string, code: ErrorCode = 'body.invalid'): void {
    this.#violations.push({ code, detail, place: { in: 'pointer', name: echoed(pointer) } })
  }

  addHeader(code: ErrorCode, header: string, detail: string): void {
    this.#violations.push({ code, detail, place: { in: 'header', name: header } })
  }

  /** Throws one DomainError with all violations, if there are any. */
  finish(): void {
    const [first, ...others] = this.#violations
    if (first !== undefined) throw rejection([first, ...others])
  }
}

/** Client text for a violation's detail: in quotes and never long. */
export function quoted(text: string): string {
  return JSON.stringify(echoed(text))
}

function echoed(text: string): string {
  // Half a surrogate pair is no text.
  return shortened(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), MAX_ECHO)
}

/** Names that an answer can hold; the gateway shows fewer (contract.md section 2). */
const MOST_NAMES = 50
const LONGEST_NAME = 200

/** What comes up while a request is read: everything wrong with it, and the members that nobody takes. */
export class BodyFindings {
  readonly violations = new Violations()
  readonly #ignored: string[] = []
  readonly #strict: boolean

  /** Strict: members that nobody takes are violations `parameter.unknown`. */
  constructor(strict: boolean) {
    this.#strict = strict
  }

  /** `lines/0/unitPrice`. */
  get ignored(): readonly string[] {
    return this.#ignored
  }

  ignore(pointer: string): void {
    if (this.#strict)
      this.violations.addAt(pointer, `${nameOf(pointer)} is no member that this request takes.`, 'parameter.unknown')
    else if (this.#ignored.length < MOST_NAMES) this.#ignored.push(nameOf(pointer))
  }
}

/** The names that the pointer leads through as the caller wrote them. */
function nameOf(pointer: string): string {
  const names = pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
  // Half a surrogate pair is no text.
  return shortened(names.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), LONGEST_NAME)
}
