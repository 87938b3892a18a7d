// How the embedded database compares text. It is a file of its own since read-thread.ts, which needs it, loads no Sequelize.

/**
 * ASCII in the order of utf8mb4_uca1400_nopad_as_ci, taken from a MariaDB server (a test compares both databases): white
 * space, punctuation, digits, letters without case. The missing characters are control characters, which it ignores.
 */
const ASCII_ORDER = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz'

/** The key of the first character. In match keys the one below it stands for every ignored character. */
const FIRST_KEY = 0x21

const sortKeys = asciiKeys(0)
const matchKeys = asciiKeys(FIRST_KEY - 1)

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

/** By character; 0 for one that has no key. */
function asciiKeys(ignored: number): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => {
    const rank = ASCII_ORDER.indexOf(String.fromCharCode(code).toLowerCase())
    return rank < 0 ? ignored : FIRST_KEY + rank
  })
}

/** Where keys of ASCII are written: a string that grows by characters takes several times as long. */
const scratch = Buffer.alloc(4096)

function foldedKey(text: string, keys: Uint8Array): string {
  const written = text.length > scratch.length ? Buffer.alloc(text.length) : scratch
  let length = 0
  for (let index = 0; index < text.length; index++) {
    const key = keys[text.charCodeAt(index)]
    if (key === undefined) return foldedUnicode(text.normalize('NFC').toLowerCase().normalize('NFC'), keys)
    if (key !== 0) written[length++] = key
  }
  return written.toString('latin1', 0, length)
}

function foldedUnicode(folded: string, keys: Uint8Array): string {
  let key = ''
  for (let index = 0; index < folded.length; index++) {
    const ascii = keys[folded.charCodeAt(index)]
    if (ascii !== 0) key += ascii === undefined ? folded.charAt(index) : String.fromCharCode(ascii)
  }
  return key
}
