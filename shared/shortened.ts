/** At most `length` characters and an ellipsis. Characters are code points: half a surrogate pair is no text. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  const characters = Array.from(text.slice(0, 2 * length))
  return characters.length <= length ? text : `${characters.slice(0, length).join('')}…`
}
