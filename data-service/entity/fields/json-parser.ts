import { JsonNumber, type JsonValue } from './json-values.js'

/** Told of a name that an object has twice. Of the values the last one is kept, as JSON.parse does it. */
type OnTwice = (name: string) => void

/** What comes between the parts of a value (RFC 8259 section 2). */
const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORDS: Readonly<Record<string, readonly [text: string, value: boolean | null]>> = {
  t: ['true', true],
  f: ['false', false],
  n: ['null', null]
}

/**
 * The value of a JSON text (RFC 8259), with the digits of its numbers as they came, of which JSON.parse makes doubles.
 * Throws SyntaxError for any other text.
 */
export function storedJson(text: string, onTwice?: OnTwice): JsonValue {
  return new JsonParser(text, onTwice).parse()
}

/**
 * Strings are read by JSON.parse itself: a parser that adds up characters takes 32 bytes of memory for each of them until
 * somebody reads the string.
 */
class JsonParser {
  readonly #text: string
  readonly #onTwice: OnTwice | undefined
  #at = 0

  constructor(text: string, onTwice?: OnTwice) {
    this.#text = text
    this.#onTwice = onTwice
  }

  /** The one value that the text is. */
  parse(): JsonValue {
    const value = this.#value()
    if (this.#at < this.#text.length) throw this.#unexpected()
    return value
  }

  /** A value with the space around it. */
  #value(): JsonValue {
    this.#skip()
    const value = this.#bare(this.#text[this.#at] ?? '')
    this.#skip()
    return value
  }

  #bare(first: string): JsonValue {
    if (first === '"') return this.#string()
    if (first === '{') return this.#object()
    if (first === '[') return this.#array()
    const [word, value] = WORDS[first] ?? []
    if (word === undefined || value === undefined) return this.#number()
    if (!this.#text.startsWith(word, this.#at)) throw this.#unexpected()
    this.#at += word.length
    return value
  }

  #object(): JsonValue {
    const members = new Map<string, JsonValue>()
    this.#at += 1
    this.#skip()
    while (!this.#ends('}', members.size > 0)) {
      this.#skip()
      if (this.#text[this.#at] !== '"') throw this.#unexpected()
      const name = this.#string()
      this.#skip()
      this.#take(':')
      if (members.has(name)) this.#onTwice?.(name)
      members.set(name, this.#value())
    }
    return Object.fromEntries(members)
  }

  #array(): JsonValue {
    const elements: JsonValue[] = []
    this.#at += 1
    this.#skip()
    while (!this.#ends(']', elements.length > 0)) elements.push(this.#value())
    return elements
  }

  /** Takes the end of an object or array, or the comma before its next part. */
  #ends(end: string, hasParts: boolean): boolean {
    const isEnd = this.#text[this.#at] === end
    if (isEnd || hasParts) this.#take(isEnd ? end : ',')
    return isEnd
  }

  #string(): string {
    const start = this.#at
    let end = start
    do {
      end = this.#text.indexOf('"', end + 1)
      if (end < 0) throw this.#unexpected()
    } while (isEscaped(this.#text, end))
    this.#at = end + 1
    return JSON.parse(this.#text.slice(start, this.#at)) as string // A JSON text in quotes is a string.
  }

  #number(): JsonNumber {
    NUMBER.lastIndex = this.#at
    const digits = NUMBER.exec(this.#text)?.[0]
    if (digits === undefined) throw this.#unexpected()
    this.#at += digits.length
    return new JsonNumber(digits)
  }

  #take(character: string): void {
    if (this.#text[this.#at] !== character) throw this.#unexpected()
    this.#at += 1
  }

  #skip(): void {
    // Most parts have no space before them.
    if (this.#text.charCodeAt(this.#at) > SPACE_CODE) return
    SPACE.lastIndex = this.#at
    SPACE.exec(this.#text)
    this.#at = SPACE.lastIndex
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`No JSON at position ${this.#at}`)
  }
}

const SPACE_CODE = ' '.charCodeAt(0)

/** Whether an odd number of backslashes stands before the place. */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (text[first - 1] === '\\') first -= 1
  return (at - first) % 2 === 1
}
