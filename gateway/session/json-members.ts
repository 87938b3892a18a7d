import { refusal, type Fault } from '../../shared/domain-error.js'
import { shortened } from '../../shared/shortened.js'

/** The members of a body that is JSON (checkJsonBody). Throws `body.invalid` unless it is an object, each said once. */
export function jsonMembers(body: Buffer): Readonly<Record<string, unknown>> {
  const text = body.toString('utf8')
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refusal([bodyFault('', 'The body must be a JSON object.')])
  }
  const repeated = repeatedMember(text)
  if (repeated === undefined) return { ...value }
  throw refusal([bodyFault('', `The body says ${JSON.stringify(shortened(repeated, 100))} twice.`)])
}

/**
 * The name of a member that one object of well-formed JSON has twice; JSON.parse would keep the last of them in silence.
 * A parser that tells of them takes tens of times as long, and these bodies come from anybody.
 */
function repeatedMember(text: string): string | undefined {
  // Of each object that is open, and of each array, which has none.
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') open.push(new Set())
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = stringEnd(text, at)
      const names = open.at(-1)
      if (names !== undefined && isName(text, end)) {
        const name = String(JSON.parse(text.slice(at, end)))
        if (names.has(name)) return name
        names.add(name)
      }
      at = end - 1
    }
  }
  return undefined
}

/** Where the string that begins at `start` is over, its closing quotation mark included. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** Whether a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

/** `pointer` is a JSON pointer. */
export function bodyFault(pointer: string, detail: string): Fault {
  return { code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }
}
