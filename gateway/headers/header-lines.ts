/** The values of a header's lines, one a line. `rawHeaders` are names and values in turn; `name` is lower-case. */
export function headerLines(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
}
