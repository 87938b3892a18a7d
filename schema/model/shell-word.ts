/** The text as one word of a POSIX shell, in commands that a person is told. */
export function shellWord(text: string): string {
  return /^[\w=,./][\w=,./-]*$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
