/** A resource and a verb, `customers:manage`. */
export type Permission = `${string}:${string}`

/** Throws TypeError for a word of an entity file that no compiler has checked and whose permission is no text. */
export function checkPermission(word: string, given: unknown): void {
  if (typeof given === 'string') return
  const what = given === undefined ? 'undefined' : `a value of type ${typeof given}`
  throw new TypeError(`${word}(…) takes a permission such as 'books:manage' first, and got ${what}.`)
}

/** Resources, actions and custom reads: segments of paths. */
export const KEBAB_CASE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
/** Characters of the name of a resource or an action: the trail and the outbox have columns for so many. */
export const LONGEST_NAME = 64
/** Members of JSON and parameters of queries. */
export const CAMEL_CASE = /^[a-z][a-zA-Z0-9]*$/
/** A GUID in lower case with hyphens (RFC 9562), the one kind of id that a kebab-case name could be. */
export const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** `categoryId` and `stock-items` as `category_id` and `stock_items`. */
export function snakeCase(name: string): string {
  return name.replaceAll('-', '_').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Letters that decomposition does not take apart. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i'
}

/** The words of `film_id`, `FilmID`, `Film Name (old)`, in lower case and ASCII. Empty if no character of it has a place there. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/[ßæœøłđðþı]/gi, (letter) => LETTERS[letter.toLowerCase()] ?? letter)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
}

const LONGEST = 64

/** ` Did you mean "name"?` with the candidate that was probably meant, or an empty text. */
export function suggestion(name: string, candidates: Iterable<string>): string {
  if (name.length > LONGEST) return ''
  const wanted = name.toLowerCase()
  const tolerated = Math.max(wanted.length > 3 ? 2 : 1, Math.floor(wanted.length / 3))
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    // Each letter more is a difference.
    if (Math.abs(candidate.length - wanted.length) > tolerated) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < (best?.distance ?? tolerated + 1)) best = { candidate, distance }
  }
  return best === undefined ? '' : ` Did you mean "${best.candidate}"?`
}

/** Levenshtein distance with one row of memory. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substituted = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substituted, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
