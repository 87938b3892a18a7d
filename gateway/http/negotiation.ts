import type { FastifyReply } from 'fastify'
import { rejectionAt } from '../../shared/errors.js'
import { listMembers, splitOutsideQuotes, trimOws } from './header-fields.js'

/** The value of a preference: none, a token or a quoted string (RFC 7240 section 2). */
const PREFERENCE_VALUE = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]*|"(?:[^"\\]|\\.)*")$/s

/**
 * The `handling` that `Prefer` asks for (RFC 7240 section 4.4); undefined where it asks for none of the two.
 */
export function preferredHandling(header: string | undefined): 'strict' | 'lenient' | undefined {
  const word = preferenceIn(header, 'handling')
  return word === 'strict' || word === 'lenient' ? word : undefined
}

/** Whether `Prefer` asks for a dry run, `tx=rollback`. Any other value of `tx` asks for none. */
export function prefersRollback(header: string | undefined): boolean {
  return preferenceIn(header, 'tx') === 'rollback'
}

const APPLIED = 'preference-applied'
const ROLLBACK = 'tx=rollback'

/**
 * Sets or takes back `tx=rollback` of `Preference-Applied`: a data service of an earlier version, and an entity that
 * replaces a write, may have carried it out.
 */
export function confirmDryRun(reply: FastifyReply, rolledBack: boolean): void {
  const applied = String(reply.getHeader(APPLIED) ?? '').split(', ')
  const others = applied.filter((one) => one !== '' && one !== ROLLBACK)
  const confirmed = rolledBack ? [...others, ROLLBACK] : others
  if (confirmed.length === 0) reply.removeHeader(APPLIED)
  else reply.header(APPLIED, confirmed.join(', '))
}

/**
 * The value of a preference in lower case. The first well-formed preference of the name decides (RFC 7240 section 2). Its
 * parameters, after `;`, are skipped.
 */
function preferenceIn(header: string | undefined, wanted: string): string | undefined {
  if (header === undefined) return undefined
  for (const item of splitOutsideQuotes(header, ',')) {
    const [preference = ''] = splitOutsideQuotes(item, ';')
    const [name = '', value = '', ...more] = splitOutsideQuotes(preference, '=').map(trimOws)
    if (name.toLowerCase() !== wanted || more.length > 0 || !PREFERENCE_VALUE.test(value)) continue
    const text = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value
    return text.toLowerCase()
  }
  return undefined
}

const MAX_IGNORED_NAMES = 20
const MAX_IGNORED_BYTES = 2048

/**
 * The value of `X-Ignored-Parameters`: percent-encoded names with commas between, at most 20 names and 2 KB. A name that
 * does not fit is left out as a whole. undefined if no name is left.
 */
export function ignoredParameters(names: readonly string[]): string | undefined {
  let value = ''
  let count = 0
  for (const name of names) {
    const encoded = encodeURIComponent(name)
    const longer = value === '' ? encoded : `${value},${encoded}`
    if (encoded === '' || longer.length > MAX_IGNORED_BYTES) continue
    value = longer
    count += 1
    if (count === MAX_IGNORED_NAMES) break
  }
  return value === '' ? undefined : value
}

/** The value of `api-supported-versions`. */
export const SUPPORTED_VERSIONS = '1.0'

/** Throws `version.unsupported` unless the header `api-version` is absent, `1` or `1.0`. */
export function checkApiVersion(header: string | string[] | undefined): void {
  if (header === undefined || header === '1' || header === '1.0') return
  const place = { in: 'header', name: 'api-version' } as const
  throw rejectionAt('version.unsupported', 'The header api-version must be 1 or 1.0, or left out.', { place })
}

const HTML_RANGE = /^[\t ]*text\/html[\t ]*(?:;|$)/i
const CSV_RANGE = /^[\t ]*text\/csv[\t ]*(?:;|$)/i
const WEIGHT = /^[\t ]*q[\t ]*=/i

/** Whether `Accept` (RFC 9110 section 12.5.1) names `text/html` itself with a weight above 0. Wildcards do not count. */
export function acceptsHtml(accept: string | undefined): boolean {
  return names(accept, HTML_RANGE)
}

/** The same of `text/csv`. */
export function acceptsCsv(accept: string | undefined): boolean {
  return names(accept, CSV_RANGE)
}

function names(accept: string | undefined, type: RegExp): boolean {
  return (accept ?? '').split(',').some((range) => type.test(range) && hasWeight(range))
}

/** Whether a media range is acceptable at all: its weight is not 0. */
function hasWeight(range: string): boolean {
  const weight = range.split(';').find((parameter) => WEIGHT.test(parameter))
  return weight === undefined || Number(weight.slice(weight.indexOf('=') + 1)) > 0
}

/** The ranges that hold `text/html`, the most specific first. */
const RANGES_OF_HTML = ['text/html', 'text/*', '*/*'] as const

/**
 * Whether `Accept` leaves no HTML: of the ranges that hold `text/html`, the most specific has the weight 0, or there is
 * none. A request without the header takes everything.
 */
export function refusesHtml(accept: string | undefined): boolean {
  const ranges = listMembers(accept ?? '')
  if (ranges.length === 0) return false
  for (const wanted of RANGES_OF_HTML) {
    const matching = ranges.filter((range) => trimOws(range.split(';', 1)[0] ?? '').toLowerCase() === wanted)
    if (matching.length > 0) return !matching.some(hasWeight)
  }
  return true
}
