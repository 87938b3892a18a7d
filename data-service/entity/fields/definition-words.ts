import { suggestion } from './names.js'

// Words that a definition has. A compiler refuses others, and an application may run without one: a misspelt word, or one
// whose value is `undefined` because a constant was misspelt, would then be lost, and with it what it protects.

/** What the value of a word is in JavaScript. */
type Kind = 'text' | 'number' | 'flag' | 'function' | 'object' | 'list'
type Kinds = Kind | `${Kind} or ${Kind}` | `${Kind} or ${Kind} or ${Kind}`

/** The words of a part of a definition, with what their values are. */
export type DefinitionWords = Readonly<Record<string, Kinds>>

/** It does not compile without each word of the definition. */
export const definitionWords = <Definition>(
  words: Readonly<Record<keyof Definition & string, Kinds>>
): DefinitionWords => words

/** Words that nothing reads, and words that say nothing. `place` names the part; it is empty for the whole. */
export function wordMistakes(place: string, given: object, words: DefinitionWords): string[] {
  return [...unknownWords(place, given, Object.keys(words)), ...wrongKinds(place, given, words)]
}

/** Words of a part that nothing would read. */
export function unknownWords(place: string, given: object, known: readonly string[]): string[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => `${before(place)}there is no \`${name}\`.${suggestion(name, known)}`)
}

/** Words of a part whose values are of another kind, or `undefined`. */
export function wrongKinds(place: string, given: object, words: DefinitionWords): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const kinds = Object.hasOwn(words, name) ? words[name] : undefined
    if (kinds === undefined || kinds.split(' or ').includes(kindOf(value))) return []
    const choices = kinds.replaceAll(/\w+/g, (word) => (word === 'or' ? word : SAID[word as Kind]))
    return [`${before(place)}\`${name}\` is ${said(value)}; it has to be ${choices}.`]
  })
}

/** Values by names of the application's own, all of which are of one kind: `settings`, `operators`. */
export function wrongValues(place: string, given: object, kinds: Kinds): string[] {
  return wrongKinds(place, given, Object.fromEntries(Object.keys(given).map((name) => [name, kinds])))
}

/**
 * Throws a TypeError for what a rule answered where nothing would read it: `{ sett: { … } }`, a promise as `set`, or
 * `reject.notFound` that it did not call.
 */
export function checkAnswered(rule: string, given: object, words: DefinitionWords): void {
  if (!isPlain(given)) throw new TypeError(`${rule} answers ${kindName(given)}, and no change.`)
  const [first] = unknownWords(rule, given, Object.keys(words))
  if (first !== undefined) throw new TypeError(first)
  for (const [name, value] of Object.entries<unknown>({ ...given })) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlain(value))
      throw new TypeError(`${rule}: \`${name}\` is ${kindName(value)}.`)
  }
}

/** Whether it is an object as `{ … }` makes it: none of a class, which would have no member of its own. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function kindName(value: object): string {
  return typeof value === 'function' ? 'a function' : (value.constructor?.name ?? 'an object')
}

/** Throws a TypeError for the options of a word that have a mistake, `int({ mni: 1 })`. */
export function checkOptions(word: string, given: object, words: DefinitionWords): void {
  if (kindOf(given) !== 'object') throw new TypeError(`${word}(…) takes its options as an object, not ${said(given)}.`)
  const [first] = wordMistakes(`${word}(…)`, given, words)
  if (first !== undefined) throw new TypeError(first)
}

const SAID: Readonly<Record<Kind, string>> = {
  text: 'a text',
  number: 'a number',
  flag: 'true or false',
  function: 'a function',
  object: 'an object',
  list: 'a list'
}

const KIND_OF: Readonly<Partial<Record<string, Kind>>> = {
  string: 'text',
  number: 'number',
  boolean: 'flag',
  function: 'function',
  object: 'object'
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return Array.isArray(value) ? 'list' : (KIND_OF[typeof value] ?? typeof value)
}

function said(value: unknown): string {
  const kind = kindOf(value)
  return Object.hasOwn(SAID, kind) ? SAID[kind as Kind] : kind
}

const before = (place: string): string => (place === '' ? '' : `${place}: `)
