import type { Column } from '../entity/entity.js'
import type { Value } from '../entity/value.js'
import type { BodyFindings } from './body-findings.js'
import { isObject, type JsonObject, type JsonValue } from './json-value.js'
import { parseMember } from './parse-member.js'

export interface Members {
  /** Columns that this request may set. */
  readonly columns: readonly Column[]
  /** JSON pointer of the object. */
  readonly at: string
  /** On a create, what is left out takes its default; elsewhere only null stands in for it. */
  readonly defaults: boolean
  /** Members that somebody else reads. */
  readonly others?: readonly string[]
  /** A column that may be left out although it may not be null. */
  readonly lenient?: Column | undefined
}

/** The values of a JSON object's members; what is wrong and what nobody takes goes to the findings. */
export function readMembers(
  json: JsonValue,
  { columns, at, defaults, others = [], lenient }: Members,
  findings: BodyFindings
): Map<Column, Value> {
  const values = new Map<Column, Value>()
  if (!isObject(json)) {
    findings.faults.addAt(at, at === '' ? 'The body must be a JSON object.' : `${at.slice(1)} must be a JSON object.`)
    return values
  }
  for (const column of columns) {
    const value = readMember(json, column, defaults)
    if (value instanceof Error) {
      const { name } = column
      if (column !== lenient || Object.hasOwn(json, name)) {
        findings.faults.addAt(`${at}/${name}`, `${`${at}/${name}`.slice(1)} ${value.message}.`)
      }
    } else values.set(column, value)
  }
  const taken = new Set([...columns.map(({ name }) => name), ...others])
  for (const name of Object.keys(json)) {
    if (!taken.has(name)) findings.ignore(`${at}/${escaped(name)}`)
  }
  return values
}

/** An Error's message completes "price …". */
function readMember(json: JsonObject, { name, field }: Column, defaults: boolean): Value | Error {
  const member = Object.hasOwn(json, name) ? json[name] : undefined
  if (member !== undefined) {
    const value = parseMember(member, field)
    return value instanceof Error ? new Error(`must ${value.message}`) : value
  }
  if (defaults && field.defaultTo !== undefined) return field.defaultTo
  if (field.nullable && !field.stated) return null
  return new Error(field.nullable ? 'is missing; it may be null' : 'is missing')
}

/** RFC 6901 section 3. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
