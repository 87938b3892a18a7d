// How the embedded database compares text. It is a file of its own since read-thread.ts, which needs it, loads no Sequelize.

/**
 * ASCII in the order of utf8mb4_uca1400_nopad_as_ci, taken from a MariaDB server (a test compares both databases): white
 * space, punctuation, digits, letters without case. The missing characters are control characters, which it ignores.
 */
const ASCII_ORDER = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz'

/** The key of the first character. In match keys the one below it stands for every ignored character. */
const FIRST_KEY = 0x21
const IGNORED_KEY = String.fromCharCode(FIRST_KEY - 1)

const sortKeys = asciiKeys('')
const matchKeys = asciiKeys(IGNORED_KEY)

/**
 * A key whose code points have the order of the text: it ignores letter case, accents and trailing spaces count, ASCII
 * is ordered as on MariaDB, and all other letters follow by code point.
 */
export function sortKey(text: string): string {
  return foldedKey(text, sortKeys)
}

/** As sortKey, but with one character for each character of the text, as LIKE compares them. For `contains` and the like. */
export function matchKey(text: string): string {
  return foldedKey(text, matchKeys)
}

function asciiKeys(ignored: string): readonly string[] {
  return Array.from({ length: 128 }, (_, code) => {
    const rank = ASCII_ORDER.indexOf(String.fromCharCode(code).toLowerCase())
    return rank < 0 ? ignored : String.fromCharCode(FIRST_KEY + rank)
  })
}

function foldedKey(text: string, keys: readonly string[]): string {
  const folded = isAscii(text) ? text : text.normalize('NFC').toLowerCase().normalize('NFC')
  let key = ''
  for (let index = 0; index < folded.length; index++) key += keys[folded.charCodeAt(index)] ?? folded.charAt(index)
  return key
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}
