const SHOWN_ELSEWHERE = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'v', 'err'])

/** Control, format and other characters that are no text, and separators of lines: a terminal might obey them. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/**
 * A line of pino's JSON for people; null for a line that is none.
 *
 * @param {string} line
 * @returns {Record<string, unknown> | null}
 */
export function parseLogLine(line) {
  if (!line.startsWith('{')) return null
  try {
    return /** @type {Record<string, unknown>} */ (JSON.parse(line))
  } catch {
    return null
  }
}

/**
 * `12:00:01 gateway       info  listening url=http://127.0.0.1:3000`, an error's stack below it.
 *
 * @param {string} source
 * @param {Record<string, unknown>} entry
 */
export function readable(source, entry) {
  const { time: logged } = entry
  const time = typeof logged === 'number' || typeof logged === 'string' ? new Date(logged) : new Date()
  const level = text(entry['level'])
  const details = Object.entries(entry)
    .filter(([key]) => !SHOWN_ELSEWHERE.has(key))
    .map(([key, value]) => ` ${printable(key)}=${text(value)}`)
  const head = `${time.toTimeString().slice(0, 8)} ${source.padEnd(12)} ${level.padEnd(5)} ${text(entry['msg'])}`
  return head + details.join('') + stackOf(entry['err'])
}

/** @param {unknown} error */
function stackOf(error) {
  if (typeof error !== 'object' || error === null) return ''
  const { stack, message } = /** @type {{ stack?: unknown, message?: unknown }} */ (error)
  const told = stack ?? message
  return typeof told === 'string' ? `\n${told.split('\n').map(printable).join('\n')}` : `\n${text(told)}`
}

/** @param {unknown} value */
function text(value) {
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

/**
 * With `\u{...}` in place of each character that is not printable.
 *
 * @param {string} value
 */
export function printable(value) {
  return value.replace(UNPRINTABLE, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`)
}
