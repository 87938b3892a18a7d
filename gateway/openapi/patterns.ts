// Regular expressions (ECMA-262, without flags) for JSON schemas. They match texts in the spellings that the service takes.

/** A pattern for the text in any letter case: `[iI][dD]`. */
export function anyLetterCase(text: string): string {
  return Array.from(text, (character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
    return lower === upper ? escaped(character) : `[${lower}${upper}]`
  }).join('')
}

/** A whole text that one of the patterns matches, with white space around it. */
export function trimmed(patterns: readonly string[]): string {
  return `^\\s*(?:${patterns.join('|')})\\s*$`
}

/** `starts with`, `startsWith`, `STARTS_WITH` and `starts-with` for `starts with` (contract.md section 4). */
export function anyOperatorSpelling(words: readonly string[]): string {
  const folded = words.map((word) => Array.from(word.replaceAll(' ', ''), anyLetterCase).join(BETWEEN))
  return `^${BETWEEN}(?:${folded.join('|')})${BETWEEN}$`
}

const BETWEEN = '[ _-]*'

function escaped(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/, '\\$&')
}
