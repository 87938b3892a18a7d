/**
 * ASCII as utf8mb4_uca1400_nopad_as_ci orders it, read off a MariaDB server (the differential test asks again): white
 * space, punctuation, digits, letters without case. Characters left out are control characters, which it ignores.
 */
const ASCII_ORDER = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz'

/** The key of the first character; one lower stands for every ignored character where each character counts. */
const FIRST_KEY = 0x21
const IGNORED_KEY = String.fromCharCode(FIRST_KEY - 1)

const sortKeys = asciiKeys('')
const matchKeys = asciiKeys(IGNORED_KEY)

/**
 * The text whose code points order as the string does: letter case ignored, accents told apart, trailing spaces
 * counted, ASCII as on MariaDB, all other letters after it by code point.
 */
export function sortKey(text: string): string {
  return keyOf(text, sortKeys)
}

/** As sortKey, but one character for each of the string's, as LIKE looks at them. For contains and its relatives. */
export function matchKey(text: string): string {
  return keyOf(text, matchKeys)
}

function asciiKeys(ignored: string): readonly string[] {
  return Array.from({ length: 128 }, (_, code) => {
    const rank = ASCII_ORDER.indexOf(String.fromCharCode(code).toLowerCase())
    return rank < 0 ? ignored : String.fromCharCode(FIRST_KEY + rank)
  })
}

function keyOf(text: string, keys: readonly string[]): string {
  const folded = isAscii(text) ? text : text.normalize('NFC').toLowerCase().normalize('NFC')
  let key = ''
  for (let index = 0; index < folded.length; index++) key += keys[folded.charCodeAt(index)] ?? folded.charAt(index)
  return key
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}
