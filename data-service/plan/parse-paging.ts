import { quoted, type FaultList } from './fault-list.js'
import { parseFlag } from './parse-flag.js'

export interface PagingTexts {
  readonly pageNumber?: string
  readonly pageSize?: string
  readonly includeTotal?: string
}

export interface Paging {
  /** As asked; one of more than five thousand digits is the largest that has as many. */
  readonly pageNumber: bigint
  /** As clamped. */
  readonly pageSize: number
  /** Rows before the page; at most 2^53-1, which is past every end. */
  readonly offset: number
  readonly withTotal: boolean
}

const DEFAULT_PAGE_SIZE = 10n
/** Arithmetic on more digits takes more than linear time, and the answer's headers could not hold them. */
const MOST_DIGITS = 5000
const FURTHEST = BigInt(Number.MAX_SAFE_INTEGER)

export function parsePaging(texts: PagingTexts, maxPageSize: number, faults: FaultList): Paging {
  const pageNumber = parsePositive(texts.pageNumber, { parameter: 'pageNumber', fallback: 1n }, faults)
  const asked = parsePositive(texts.pageSize, { parameter: 'pageSize', fallback: DEFAULT_PAGE_SIZE }, faults)
  const pageSize = smaller(asked, BigInt(maxPageSize))
  return {
    pageNumber,
    pageSize: Number(pageSize),
    offset: Number(smaller((pageNumber - 1n) * pageSize, FURTHEST)),
    withTotal: parseFlag(
      texts.includeTotal,
      { parameter: 'includeTotal', code: 'paging.invalid', fallback: true },
      faults
    )
  }
}

function parsePositive(
  text: string | undefined,
  { parameter, fallback }: { readonly parameter: string; readonly fallback: bigint },
  faults: FaultList
): bigint {
  if (text === undefined) return fallback
  const digits = /^\d+$/.test(text) ? text.replace(/^0+/, '') : ''
  const value = BigInt(digits.length > MOST_DIGITS ? '9'.repeat(MOST_DIGITS) : digits)
  if (value > 0n) return value
  faults.add('paging.invalid', parameter, `${parameter} takes one whole number from 1, in digits, not ${quoted(text)}.`)
  return fallback
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
