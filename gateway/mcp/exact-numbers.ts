/**
 * Whether JSON.parse keeps every number of a JSON text as it was sent. A double holds no long beyond 2^53 and no decimal of
 * more than some 16 digits (RFC 8259 section 6): such a value would be stored as another one. Takes well-formed JSON.
 */
export function exactNumbers(json: string): boolean {
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at)
    if (character === QUOTE) at = endOfString(json, at)
    else if (isDigit(character)) {
      const start = at
      while (at + 1 < json.length && isOfNumber(json.charCodeAt(at + 1))) at += 1
      if (at - start >= SAFE_DIGITS && !isExact(json.slice(start, at + 1))) return false
    }
  }
  return true
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** No number of so many decimal digits is changed. */
const SAFE_DIGITS = 15

function endOfString(json: string, start: number): number {
  let at = start + 1
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}

function isDigit(character: number): boolean {
  return character >= 0x30 && character <= 0x39
}

/** `.`, `e`, `E`, `+` and `-` besides digits. */
function isOfNumber(character: number): boolean {
  return (
    isDigit(character) || character === 0x2e || (character | 0x20) === 0x65 || character === 0x2b || character === 0x2d
  )
}

function isExact(number: string): boolean {
  return significantDigits(number) === significantDigits(String(Number(number)))
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
