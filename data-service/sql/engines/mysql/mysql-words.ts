import type { WordDialect } from '../statement.js'

/**
 * Words of texts, which the server separates at everything but letters, digits and the underscore, in texts as in a full-text
 * index of InnoDB. A condition of every row says what a word is: the index has fewer words and equates more of them, so it
 * only finds the rows to look at.
 */
export const mysqlWords: WordDialect = {
  begins: (text, operand) => `CONCAT(' ', REGEXP_REPLACE(${text}, '[^[:alnum:]_]+', ' ')) LIKE ${operand}`,
  // A word has letters and digits alone, and none of them is special to LIKE.
  bind: (word) => `% ${word}%`,
  query: (words) => {
    const indexed = words.filter(isIndexed)
    return indexed.length === 0 ? undefined : indexed.map((word) => `+${word}*`).join(' ')
  },
  match: (columns, operand) => `MATCH (${columns.join(', ')}) AGAINST (${operand} IN BOOLEAN MODE)`
}

/** INFORMATION_SCHEMA.INNODB_FT_DEFAULT_STOPWORD, without words that are too short anyway. */
const STOPWORDS = 'about are com for from how that the this was what when where who will with und www'.split(' ')

/** Letters and digits that every version of both servers takes for such, and compares as the columns do. */
const KNOWN = /^(?:(?=[\p{L}\p{Nd}])[0-9A-Za-z\u00C0-\u024F\u0386-\u03CE\u0400-\u04FF])+$/u

/** Characters of the shortest and the longest word that is in an index, unless the server has other settings. */
const [SHORTEST, LONGEST] = [3, 84]

/** Whether an index has every word that begins so. */
function isIndexed(word: string): boolean {
  if (word.length < SHORTEST || word.length > LONGEST || !KNOWN.test(word)) return false
  const lower = word.toLowerCase()
  return !STOPWORDS.some((stopword) => stopword.startsWith(lower))
}
