import { DomainError } from '../../shared/errors.js'
import type { RowType } from './rows.js'
import type { Message } from './values.js'

// Bodies of requests: the JSON that messages stand for.

/** A body in JSON, with the names of those members whose text is no JSON, and which stand in it as null. */
export interface WrittenBody {
  readonly text: string
  /** JSON pointers. */
  readonly malformed: readonly string[]
}

/** Rows of a request, children included: more than twice those that a batch may have. */
const MAX_BODY_ROWS = 5000

/** Counts the rows of a request, since each costs microseconds before anybody looks who its caller is. */
export class RowCount {
  #left = MAX_BODY_ROWS

  /** Throws `request.malformed` where the request has more rows than any may have. */
  add(rows: number): void {
    this.#left -= rows
    if (this.#left < 0) throw new DomainError('request.malformed', `The request has more than ${MAX_BODY_ROWS} rows.`)
  }
}

/**
 * The body that a message stands for: a member for each field that is present. `names` are paths of a field mask, of which
 * each is a member, null where the field is absent. A path that the message does not have is a member too, since the
 * service says what it takes; `unknownPaths` finds those.
 */
export function writeBody(row: RowType, message: Message, names: BodyNames = {}): WrittenBody {
  const malformed: string[] = []
  const { only, nulls = [], without = [] } = names
  const { rows = new RowCount() } = names
  const written = new Map(memberTexts(row, message, { at: '', malformed, rows }))
  const keyOf = (path: string): string => row.members.find(({ field }) => field === path)?.key ?? path
  const chosen = only === undefined ? [...written.keys()] : only.map(keyOf)
  const nullKeys = nulls.map(keyOf)
  for (const key of nullKeys) written.delete(key)
  const keys = new Set([...chosen, ...nullKeys].filter((key) => !without.includes(key)))
  const kept = Array.from(keys, (key) => `${JSON.stringify(key)}:${written.get(key) ?? 'null'}`)
  return { text: `{${kept.join()}}`, malformed }
}

/** Paths of a field mask that name no field of the message, and no member of its JSON. */
export function unknownPaths({ members }: RowType, paths: readonly string[]): string[] {
  return paths.filter((path) => !members.some(({ key, field }) => field === path || key === path))
}

/** Fields that are present and that the paths of a field mask leave out, as they are called in the proto. */
export function fieldsBeside({ members }: RowType, message: Message, paths: readonly string[]): string[] {
  const left = members.filter(({ key, field }) => !paths.includes(field) && !paths.includes(key))
  return left.flatMap(({ field }) => (isPresent(message[field]) ? [field] : []))
}

/** An absent list and an empty one are the same in a message. */
function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
}

interface BodyNames {
  /** Members of the body; every present field without it. */
  readonly only?: readonly string[] | undefined
  /** Members that are null, and not left out, whatever the message has for them. */
  readonly nulls?: readonly string[]
  /** Members that are no part of the body, whatever the message has for them. */
  readonly without?: readonly string[]
  /** Of a request with several bodies. */
  readonly rows?: RowCount
}

interface TextPlace {
  /** JSON pointer. */
  readonly at: string
  readonly malformed: string[]
  readonly rows: RowCount
}

function memberTexts(
  { members, bare }: RowType,
  message: Message,
  { at, malformed, rows }: TextPlace
): (readonly [key: string, text: string])[] {
  return members.flatMap((member): (readonly [string, string])[] => {
    const { key, field } = member
    const value = message[field]
    if (value === undefined || value === null) {
      return member.kind === 'value' && member.nullWhereAbsent ? [[key, 'null']] : []
    }
    const pointer = bare ? at : `${at}/${key}`
    const textOf = (one: unknown, place: string): string => {
      if ('of' in member) return rowText(member.of(), one as Message, { at: place, malformed, rows }) // Of our own codec.
      const text = member.type.toJson(one)
      if (text === undefined) malformed.push(place)
      return text ?? 'null'
    }
    if (member.kind === 'value' || member.kind === 'row') return [[key, textOf(value, pointer)]]
    const items = value as readonly unknown[] // Of our own codec.
    // An absent list and an empty one are the same in a message.
    if (items.length === 0) return []
    if ('of' in member) rows.add(items.length)
    return [[key, `[${items.map((one, index) => textOf(one, `${pointer}/${index}`)).join()}]`]]
  })
}

function rowText(row: RowType, message: Message, place: TextPlace): string {
  const texts = memberTexts(row, message, place)
  if (row.bare) return texts[0]?.[1] ?? (row.members[0]?.kind === 'value' ? 'null' : '[]')
  return `{${texts.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`
}

/** The body of a batch: an array of the bodies of its rows, which pointers count from `first`. */
export function batchBody(bodies: readonly WrittenBody[], first = 0): WrittenBody {
  return {
    text: `[${bodies.map(({ text }) => text).join()}]`,
    malformed: bodies.flatMap(({ malformed }, index) => malformed.map((pointer) => `/${first + index}${pointer}`))
  }
}
