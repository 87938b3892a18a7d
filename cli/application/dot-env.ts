import { readFileSync } from 'node:fs'
import type { Environment } from '../../shared/settings.js'
import { Failure } from './command.js'

/**
 * The settings in a file of lines `NAME=value`; none if there is no such file. Throws a Failure that names every line that
 * is something else. Node's own parser (util.parseEnv) leaves such lines out without a word, or takes the lines after them
 * for a part of them. The Failure shows nothing of the lines, which may hold secrets.
 */
export function readDotEnv(file: string): Environment {
  // The decoder strips a byte order mark at the start.
  const lines = decoded(readIfThere(file), file).split(/\r?\n/)
  const settings = new Map<string, string>()
  const mistakes: string[] = []
  for (const [index, line] of lines.entries()) {
    const setting = readLine(line.trim())
    if (typeof setting === 'string') mistakes.push(`${file}, line ${index + 1}: ${setting}`)
    else if (setting !== undefined) settings.set(setting.name, setting.value)
  }
  if (mistakes.length > 0) throw new Failure(mistakes.join('\n'))
  return Object.fromEntries(settings)
}

function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0)
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure(`${file} cannot be read: ${reason}. It must be a file of settings, or not be there.`, {
      cause: error
    })
  }
}

function decoded(bytes: Buffer, file: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    // UTF-16 without a byte order mark is valid UTF-8 that is full of U+0000.
    if (!text.includes('\0')) return text
  } catch (error) {
    throw new Failure(notUtf8(file), { cause: error })
  }
  throw new Failure(notUtf8(file))
}

function notUtf8(file: string): string {
  return `${file} is not UTF-8 (UTF-16, perhaps). Save it as UTF-8.`
}

/** A name and what follows the `=`. */
const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=(.*)$/

/** The setting of a line; undefined for a comment and a blank line; a sentence that says what is wrong with any other. */
function readLine(line: string): { readonly name: string; readonly value: string } | string | undefined {
  if (line === '' || line.startsWith('#')) return undefined
  if (/[^\t\P{Cc}]/u.test(line)) return 'It holds a control character. Lines end with LF or CRLF.'
  const [, name, rest] = ASSIGNMENT.exec(line) ?? []
  if (name === undefined || rest === undefined) return 'It must be NAME=value, a comment that begins with #, or blank.'
  const text = rest.trim()
  const [quote] = /^["'`]/.exec(text) ?? []
  if (quote === undefined) {
    const [value = ''] = text.split('#', 1)
    if (value === text || /(?:^|[ \t])$/.test(value)) return { name, value: value.trimEnd() }
    return 'A value with # in it must stand in quotes; a comment begins after a space.'
  }
  const end = text.indexOf(quote, 1)
  if (end < 0) return `The quote ${quote} must be closed in the same line. In double quotes \\n is a line break.`
  if (!/^[ \t]*(?:#|$)/.test(text.slice(end + 1))) {
    return `Only a comment may follow the closing ${quote}. A value that holds it must stand in other quotes.`
  }
  const value = text.slice(1, end)
  return { name, value: quote === '"' ? value.replaceAll('\\n', '\n') : value }
}
