/**
 * What JSON.parse would change about a JSON text, as a sentence; undefined if it keeps all of it. A number has no more than a
 * double holds, of two members with one name the last one is left, and half a surrogate pair is no text (RFC 8259 sections 4,
 * 6 and 8.2). An agent would be told that something else was done than it sent. Takes well-formed JSON.
 */
export function changedByParsing(json: string): string | undefined {
  /** The names of the objects that are open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at] ?? ''
    if (character === '{') open.push(new Set())
    else if (character === '[') open.push(undefined)
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = endOfString(json, at)
      const text = JSON.parse(json.slice(at, end + 1)) as string // It is a string of the text.
      if (LONE_SURROGATE.test(text)) return 'A text holds half of a surrogate pair.'
      const names = open.at(-1)
      if (names !== undefined && isName(json, end)) {
        if (names.has(text)) return `An object says ${JSON.stringify(text.slice(0, MAX_SHOWN))} twice.`
        names.add(text)
      }
      at = end
    } else if (DIGIT.test(character)) {
      const start = at
      while (OF_NUMBER.test(json[at + 1] ?? '')) at += 1
      if (!isExact(json.slice(start, at + 1))) {
        return 'A number has more digits than a JSON number keeps: send it as a string of digits.'
      }
    }
  }
  return undefined
}

const MAX_SHOWN = 100
const LONE_SURROGATE = /\p{Surrogate}/u
const DIGIT = /\d/
const OF_NUMBER = /[\d.eE+-]/

/** The place of its closing quote. */
function endOfString(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at
}

/** Whether a colon is behind the string. */
function isName(json: string, end: number): boolean {
  let at = end + 1
  while (' \t\r\n'.includes(json[at] ?? ':')) at += 1
  return json[at] === ':'
}

/** No number of so many characters without an exponent is changed. */
const SAFE_LENGTH = 15

function isExact(number: string): boolean {
  const isShort = number.length <= SAFE_LENGTH && !/e/i.test(number)
  return isShort || significantDigits(number) === significantDigits(String(Number(number)))
}

/** Without the point, the exponent and the zeros around. */
function significantDigits(number: string): string {
  const [digits = ''] = number.toLowerCase().split('e')
  const whole = digits.replace('.', '')
  let [start, end] = [0, whole.length]
  while (whole[start] === '0') start += 1
  while (end > start && whole[end - 1] === '0') end -= 1
  return whole.slice(start, end)
}
