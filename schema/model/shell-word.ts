/** Quotes a text as one word of a POSIX shell, for commands that a person copies. */
export function shellWord(text: string): string {
  return /^[\w=,./][\w=,./-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
