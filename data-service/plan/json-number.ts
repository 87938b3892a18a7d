/** A JSON number with the digits it came with: nothing passes through a double. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The value `digits` × 10^`exponent`; digits without zeros at either end, none for zero. */
export interface NumberParts {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
  /** As written: digits after the point once the exponent is applied, and significant digits. */
  readonly scale: number
  readonly significant: number
}

export function partsOf({ text }: JsonNumber): NumberParts {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const significant = (whole + fraction).replace(/^0+/, '')
  const digits = withoutTrailingZeros(significant)
  const trailing = significant.length - digits.length
  const shift = Number(power)
  return {
    negative: sign === '-' && digits !== '',
    digits,
    exponent: digits === '' ? 0 : shift - fraction.length + trailing,
    scale: Math.max(0, fraction.length - shift),
    significant: significant.length
  }
}

/** By hand: the pattern `0+$` takes quadratic time for zeros that another digit follows. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** The same text for the same value: 1, 1.0 and 10e-1 are one. */
export function canonicalNumber(number: JsonNumber): string {
  const { negative, digits, exponent } = partsOf(number)
  return digits === '' ? '0' : `${negative ? '-' : ''}${digits}e${exponent}`
}

/** Beyond what any column holds, so that no exponent of a client's choice is ever written out. */
const MOST_ZEROS = 40

/** The value as an integer; undefined where it has a fraction or is far beyond every column. */
export function integerOf({ negative, digits, exponent }: NumberParts): bigint | undefined {
  if (digits === '') return 0n
  if (exponent < 0 || exponent > MOST_ZEROS || digits.length > MOST_ZEROS) return undefined
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent)
  return negative ? -magnitude : magnitude
}
