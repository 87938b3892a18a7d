import { suggestion } from '../../entity/fields/names.js'
import { type ErrorCode, type Violation, type ViolationRule, rejection, shortened } from '../../../shared/errors.js'

const MAX_ECHO = 100

/** Names of one request that are compared with those that there are: a request has hundreds, and a table hundreds of columns. */
const MAX_SUGGESTIONS = 3

interface Fault {
  readonly detail: string
  readonly rule?: ViolationRule | undefined
}

/** Gathers what is wrong with a request, so that one response names all of it. */
export class Violations {
  readonly #violations: Violation[] = []
  #suggestions = 0

  get isEmpty(): boolean {
    return this.#violations.length === 0
  }

  /** ` Did you mean "name"?` for one of the first unknown names of a request, or an empty text. */
  suggestion(name: string, candidates: () => Iterable<string>): string {
    this.#suggestions += 1
    return this.#suggestions > MAX_SUGGESTIONS ? '' : suggestion(name, candidates())
  }

  /** A violation of a query or path parameter: its sentence, or its sentence with the rule. */
  add(code: ErrorCode, parameter: string, fault: string | Fault): void {
    const { detail, rule } = typeof fault === 'string' ? { detail: fault } : fault
    this.#push({ code, detail, place: { in: 'parameter', name: echoed(parameter) } }, rule)
  }

  /** A violation of a body's member, named by a JSON pointer (RFC 6901). */
  addAt(
    pointer: string,
    detail: string,
    { code = 'body.invalid', rule }: { readonly code?: ErrorCode; readonly rule?: ViolationRule | undefined } = {}
  ): void {
    this.#push({ code, detail, place: { in: 'pointer', name: echoed(pointer) } }, rule)
  }

  addHeader(code: ErrorCode, header: string, detail: string): void {
    this.#violations.push({ code, detail, place: { in: 'header', name: header } })
  }

  #push(violation: Violation, rule: ViolationRule | undefined): void {
    this.#violations.push(rule === undefined ? violation : { ...violation, rule })
  }

  /** Throws one DomainError with all violations, if there are any. */
  finish(): void {
    const [first, ...others] = this.#violations
    if (first !== undefined) throw rejection([first, ...others])
  }
}

/** A client's text for the detail of a violation: in quotes, and cut where it is long. */
export function quoted(text: string): string {
  return JSON.stringify(echoed(text))
}

function echoed(text: string): string {
  // Half a surrogate pair has no form in UTF-8.
  return shortened(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), MAX_ECHO)
}

/** Names in a response. The gateway shows fewer (contract.md section 2). */
const MAX_NAMES = 50
const LONGEST_TOLD_NAME = 200

/** What is found while a body is read: violations, and members that the request does not take. */
export class BodyFindings {
  readonly violations = new Violations()
  readonly #ignored: string[] = []
  readonly #strict: boolean

  /** Strict: members that the request does not take are violations `parameter.unknown`. */
  constructor(strict: boolean) {
    this.#strict = strict
  }

  /** Without strictness: the members that the request does not take, as `lines/0/unitPrice`. */
  get ignored(): readonly string[] {
    return this.#ignored
  }

  addUnknownMember(pointer: string): void {
    if (this.#strict)
      this.violations.addAt(pointer, `${pointerNames(pointer)} is no member that this request takes.`, {
        code: 'parameter.unknown'
      })
    else if (this.#ignored.length < MAX_NAMES) this.#ignored.push(pointerNames(pointer))
  }
}

/** The names of a JSON pointer as the caller wrote them. */
function pointerNames(pointer: string): string {
  const names = pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
  // Half a surrogate pair has no form in UTF-8.
  return shortened(names.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), LONGEST_TOLD_NAME)
}
