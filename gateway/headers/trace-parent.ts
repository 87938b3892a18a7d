const TRACE_PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/

/**
 * The same trace, one step further: the caller's trace id and flags with a span id of our own (W3C Trace Context).
 * undefined where the caller sent none, or one that must be ignored.
 */
export function continueTrace(header: string | undefined, newSpanId: () => string): string | undefined {
  if (header === undefined) return undefined
  const [, version = '', trace = '', parent = '', flags = '', rest] = TRACE_PARENT.exec(header.trim()) ?? []
  if (trace === '' || version === 'ff' || ZEROS.test(trace) || ZEROS.test(parent)) return undefined
  if (version === '00' && rest !== undefined) return undefined
  return `00-${trace}-${newSpanId()}-${flags}`
}
