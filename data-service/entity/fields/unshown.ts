import type { Value } from './field.js'

// Values that the types of their columns cannot show: the table holds what the entity file rules out. One of them costs an
// answer neither the other values of its row nor the other rows.

/** Values of an answer that are named at most, and the most characters of their names, which a header has room for. */
const MOST_NAMED = { values: 20, characters: 2000 }

/** A stored value that is none of its column's type. */
export class UnshownValue extends TypeError {
  override readonly name = 'UnshownValue'
  /** Of the row, as the database has it; undefined where the statement does not select it. */
  readonly id: string | undefined

  constructor(column: string, id: string | undefined, options: ErrorOptions) {
    super(`${column} of ${id === undefined ? 'a row' : `the row with the id ${id}`} is none of its type`, options)
    this.id = id
  }
}

/** Those of one answer, which are null there. */
export class UnshownValues {
  /** `7; property=amount`, for the answer: an id is percent-encoded. */
  readonly named: string[] = []
  /** For the log. */
  readonly messages: string[] = []
  count = 0
  #characters = 0

  /** The value, or null where it is not shown. */
  shown(value: Value | UnshownValue, property: string): Value {
    if (!(value instanceof UnshownValue)) return value
    this.add(value, property)
    return null
  }

  /** Throws what is no such value. */
  add(error: unknown, property: string): void {
    if (!(error instanceof UnshownValue)) throw error
    this.count += 1
    const name = `${encodeURIComponent(error.id ?? '')}; property=${property}`
    this.#characters += name.length
    if (this.named.length >= MOST_NAMED.values || this.#characters > MOST_NAMED.characters) return
    this.named.push(name)
    this.messages.push(error.message)
  }
}
