/** Whether `Accept` (RFC 9110 section 12.5.1) names `text/html` with a weight above 0; a wildcard does not. */
export function acceptsHtml(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    if (type !== 'text/html') return false
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter))
    return weight === undefined || Number(weight.replace(/^q\s*=\s*/, '')) > 0
  })
}
