import { shortened } from '../../shared/shortened.js'
import { FaultList } from './fault-list.js'

/** Names that an answer can hold; the gateway shows fewer (contract.md section 2). */
const MOST_NAMES = 50
const LONGEST_NAME = 200

/** What comes up while a request is read: everything wrong with it, and the members that nobody takes. */
export class BodyFindings {
  readonly faults = new FaultList()
  readonly #ignored: string[] = []
  readonly #strict: boolean

  /** Strict: members that nobody takes are faults `parameter.unknown`. */
  constructor(strict: boolean) {
    this.#strict = strict
  }

  /** `lines/0/unitPrice`. */
  get ignored(): readonly string[] {
    return this.#ignored
  }

  ignore(pointer: string): void {
    if (this.#strict)
      this.faults.addAt(pointer, `${nameOf(pointer)} is no member that this request takes.`, 'parameter.unknown')
    else if (this.#ignored.length < MOST_NAMES) this.#ignored.push(nameOf(pointer))
  }
}

/** The names that the pointer leads through as the caller wrote them. */
function nameOf(pointer: string): string {
  const names = pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
  // Half a surrogate pair is no text.
  return shortened(names.replaceAll(/\p{Surrogate}/gu, '\uFFFD'), LONGEST_NAME)
}
