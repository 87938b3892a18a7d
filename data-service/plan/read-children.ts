import type { CreatedChildren } from '../entity/creation.js'
import type { Column } from '../entity/entity.js'
import type { Value } from '../entity/value.js'
import type { BodyFindings } from './body-findings.js'
import { isArray, isObject, type JsonValue } from './json-value.js'
import { readMembers } from './read-members.js'

const MOST_CHILDREN = 1000

/** The rows of one child collection in a create request's body. */
export function readChildren(
  body: JsonValue,
  { children, min }: CreatedChildren,
  findings: BodyFindings
): ReadonlyMap<Column, Value>[] {
  const { name, columns } = children
  const at = `/${name}`
  const rows = isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
  if (rows === undefined) {
    if (min > 0 && isObject(body)) findings.faults.addAt(at, `${name} is missing; it needs at least ${min}.`)
    return []
  }
  if (!isArray(rows) || rows.length < min || rows.length > MOST_CHILDREN) {
    findings.faults.addAt(at, `${name} must be an array of ${min} to ${MOST_CHILDREN}.`)
    return []
  }
  const settable = columns.filter((column) => column.name !== 'id' && column.field.writability !== 'never')
  return rows.map((row, index) =>
    readMembers(row, { columns: settable, at: `${at}/${index}`, defaults: true }, findings)
  )
}
