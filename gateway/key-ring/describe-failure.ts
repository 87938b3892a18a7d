/**
 * A failure in words that may be logged. Errors of the Azure clients carry whole requests, tokens and signatures
 * included, so only their code and message are taken, without the query of any URL in it.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  const codes = [property(error, 'statusCode'), property(error, 'code')].filter((code) => code !== undefined)
  const message = error.message.replace(/\?[^\s'"]*/g, '?***').slice(0, 300)
  return [...codes, message === '' ? error.name : message].join(' ')
}

function property(error: Error, name: 'statusCode' | 'code'): string | undefined {
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
