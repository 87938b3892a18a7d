const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/

/** Text after percent-decoding; undefined where it is no percent-encoded UTF-8. */
export function percentDecoded(text: string): string | undefined {
  // An error that is thrown and caught costs microseconds, and a path or query may hold thousands of such pieces.
  if (BAD_ESCAPE.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
