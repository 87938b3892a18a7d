/** A piece of SQL that a catalogue shows: a type, a default, a CHECK, or a whole CREATE statement. */
export interface SqlToken {
  /** `word` is a keyword, a name without quotes or a number; `name` one in quotes; `string` a text; all else are symbols. */
  readonly kind: 'word' | 'name' | 'string' | 'symbol'
  /** Without quotes and escapes. Words as they are written. */
  readonly value: string
  /** Where it begins and ends in the SQL. */
  readonly start: number
  readonly end: number
}

/** In a string of MySQL and MariaDB a backslash begins an escape; in one of SQLite it is a character like others. */
export type Escapes = 'backslash' | 'none'

/** The tokens of SQL, without comments. Takes linear time. What is cut off in the middle of a string ends there. */
export function sqlTokens(sql: string, escapes: Escapes): SqlToken[] {
  const tokens: SqlToken[] = []
  let at = 0
  const take = (kind: SqlToken['kind'], value: string, end: number): void => {
    tokens.push({ kind, value, start: at, end })
    at = end
  }
  while (at < sql.length) {
    const one = sql.charAt(at)
    const next = sql.charAt(at + 1)
    if (/\s/.test(one)) at++
    else if (one === '-' && next === '-') at = after(sql, '\n', at)
    else if (one === '/' && next === '*') at = after(sql, '*/', at + 2)
    else if (one === "'") take('string', ...readQuoted(sql, at, escapes))
    else if (one === '"' || one === '`') take('name', ...readQuoted(sql, at, 'none'))
    else if (one === '[') {
      const end = after(sql, ']', at)
      take('name', sql.slice(at + 1, end - 1), end)
    } else if (WORD.test(one)) {
      let end = at + 1
      while (end < sql.length && WORD.test(sql.charAt(end))) end++
      take('word', sql.slice(at, end), end)
    } else take('symbol', one, at + 1)
  }
  return tokens
}

const WORD = /[\w$.\u0080-\uffff]/

function after(sql: string, end: string, from: number): number {
  const found = sql.indexOf(end, from)
  return found < 0 ? sql.length : found + end.length
}

/** What the escapes of MySQL stand for; any other character after a backslash stands for itself. */
const UNESCAPED: Readonly<Record<string, string>> = { '0': '\0', b: '\b', n: '\n', r: '\r', t: '\t', Z: '\x1a' }

/** The text in quotes that begins at `start`, and where it ends. The quote itself is doubled inside. */
function readQuoted(sql: string, start: number, escapes: Escapes): [value: string, end: number] {
  const quote = sql.charAt(start)
  const parts: string[] = []
  let at = start + 1
  while (at < sql.length) {
    const one = sql.charAt(at)
    if (escapes === 'backslash' && one === '\\') {
      const escaped = sql.charAt(at + 1)
      parts.push(UNESCAPED[escaped] ?? escaped)
      at += 2
    } else if (one === quote) {
      if (sql.charAt(at + 1) !== quote) return [parts.join(''), at + 1]
      parts.push(quote)
      at += 2
    } else {
      parts.push(one)
      at++
    }
  }
  return [parts.join(''), at]
}

/** Whether a token is one of these symbols or words, in any letter case. */
export function isToken(token: SqlToken | undefined, ...texts: readonly string[]): boolean {
  if (token === undefined || (token.kind !== 'symbol' && token.kind !== 'word')) return false
  return texts.includes(token.value.toUpperCase())
}

/** The tokens between the bracket at `open` and its partner, and where that one is. */
export function bracketed(
  tokens: readonly SqlToken[],
  open: number
): { readonly inner: readonly SqlToken[]; readonly close: number } {
  let depth = 0
  for (let at = open; at < tokens.length; at++) {
    if (isToken(tokens[at], '(')) depth++
    else if (isToken(tokens[at], ')')) depth--
    if (depth === 0) return { inner: tokens.slice(open + 1, at), close: at }
  }
  return { inner: tokens.slice(open + 1), close: tokens.length }
}

/** The parts of a list that commas outside of brackets separate. */
export function listed(tokens: readonly SqlToken[]): (readonly SqlToken[])[] {
  const parts: SqlToken[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (isToken(token, '(')) depth++
    else if (isToken(token, ')')) depth--
    if (depth === 0 && isToken(token, ',')) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}

/**
 * The column and the words of a CHECK that says nothing but `column IN ('a', 'b')`, in any number of brackets. undefined for
 * any other one.
 */
export function wordsOfCheck(
  check: string,
  escapes: Escapes
): { readonly column: string; readonly words: readonly string[] } | undefined {
  const all = sqlTokens(check, escapes)
  // MySQL 8 puts the character set before each word, `_utf8mb4'a'`.
  let tokens = all.filter(({ value }, at) => !(value.startsWith('_') && all[at + 1]?.kind === 'string'))
  for (;;) {
    const { inner, close } = isToken(tokens[0], '(') ? bracketed(tokens, 0) : { inner: [], close: 0 }
    if (close !== tokens.length - 1 || close === 0) break
    tokens = [...inner]
  }
  const [column, word, open] = tokens
  if (column === undefined || (column.kind !== 'word' && column.kind !== 'name')) return undefined
  if (!isToken(word, 'IN') || !isToken(open, '(')) return undefined
  const { inner, close } = bracketed(tokens, 2)
  if (close !== tokens.length - 1) return undefined
  const words = listed(inner).map(([only, second]) =>
    only?.kind === 'string' && second === undefined ? only.value : undefined
  )
  return words.every((one) => one !== undefined) ? { column: column.value, words } : undefined
}
