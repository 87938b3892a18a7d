/** At most `length` characters and an ellipsis. Characters are code points: half a surrogate pair is no text. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  // A code point has two UTF-16 units at most, and one unit more tells whether anything is left out.
  const characters = Array.from(text.slice(0, 2 * length + 1))
  return characters.length <= length ? text : `${characters.slice(0, length).join('')}…`
}
