const HTML = /^[\t ]*text\/html[\t ]*(?:;|$)/i
const WEIGHT = /^[\t ]*q[\t ]*=/i

/** Whether `Accept` (RFC 9110 section 12.5.1) names `text/html` with a weight above 0; a wildcard does not. */
export function acceptsHtml(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    if (!HTML.test(range)) return false
    const weight = range.split(';').find((parameter) => WEIGHT.test(parameter))
    return weight === undefined || Number(weight.slice(weight.indexOf('=') + 1)) > 0
  })
}
