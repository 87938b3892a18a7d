import { MAX_CHILDREN } from '../../../shared/request-limits.js'
import type { NamedValues } from '../../entity/action.js'
import type { CreatedChildren } from '../../entity/creates-and-deletes.js'
import type { Children, Column, KeyColumns } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { isArray, isObject, type JsonMembers, type JsonValue } from '../../entity/fields/json-values.js'
import { type Keyed, keyMaker } from '../../entity/key.js'
import { Unmet } from '../../entity/types/type-rules.js'
import { parseMember, storedValue } from '../../entity/types/types.js'
import { isSettable, isSettableOfChild, isWriteOnly, type Resource } from '../model/catalogue.js'
import type { BodyFindings } from './violations.js'

// The bodies of writes and what entity files answer, as values of columns.

interface Members {
  /** Columns that this request may set. */
  readonly columns: readonly Column[]
  /** JSON pointer of the object. */
  readonly at: string
  /**
   * What a member that is left out means. `default`: the default of its column, or null. `null`, as of a PUT: null, or the
   * default where the column may not be null (docs/decisions/023), and no value for a write-only column, which the client
   * cannot have read. `kept`, as of a PATCH: no value at all. Where the default is that of the database there is no value
   * either.
   */
  readonly absent: 'default' | 'null' | 'kept'
  /** Members that another reader takes. */
  readonly others?: readonly string[]
  /** A column that may be left out although it may not be null. It then gets no value here. */
  readonly optional?: Column | undefined
}

/** The values of a JSON object's members by column. Violations and unknown members go to the findings. */
export function readMembers(
  json: JsonValue,
  { columns, at, absent, others = [], optional }: Members,
  findings: BodyFindings
): Map<Column, Value> {
  const values = new Map<Column, Value>()
  if (!isObject(json)) {
    findings.violations.addAt(
      at,
      at === '' ? 'The body must be a JSON object.' : `${at.slice(1)} must be a JSON object.`
    )
    return values
  }
  for (const column of columns) {
    if (isKept(json, column, absent) || (absent === 'kept' && isMerged(json, column))) continue
    const value = readMember(json, column, absent === 'default')
    if (value === undefined) continue
    if (value instanceof Unmet) {
      const { name } = column
      if (column !== optional || Object.hasOwn(json, name)) {
        findings.violations.addAt(`${at}/${name}`, `${`${at}/${name}`.slice(1)} ${value.message}.`, value)
      }
    } else values.set(column, value)
  }
  const taken = new Set([...columns.map(({ name }) => name), ...others])
  for (const name of Object.keys(json)) {
    if (!taken.has(name)) findings.addUnknownMember(`${at}/${escaped(name)}`)
  }
  return values
}

/** Whether the stored value stays, or a preset gives the value, since the body leaves the member out. */
function isKept(json: JsonMembers, { name, field }: Column, absent: Members['absent']): boolean {
  const isKept = absent === 'kept' || (absent === 'null' && field.hidden) || field.preset !== undefined
  return isKept && !Object.hasOwn(json, name)
}

/** Whether a member of a merge patch is merged into the stored value of the column, which decides what it becomes. */
export function isMerged(patch: JsonMembers, { name, field }: Column): boolean {
  return field.type === 'json' && Object.hasOwn(patch, name) && isObject(patch[name] ?? null)
}

/** An Error's message completes "price …". undefined for a member that is left out and that the database fills. */
function readMember(json: JsonMembers, { name, field }: Column, defaultsFirst: boolean): Value | Unmet | undefined {
  const member = Object.hasOwn(json, name) ? json[name] : undefined
  if (member !== undefined) {
    const value = parseMember(member, field)
    return value instanceof Unmet ? new Unmet(`must ${value.message}`, value.rule) : value
  }
  const byDefault = field.defaultTo ?? (field.filledByDatabase ? undefined : NO_DEFAULT)
  if (defaultsFirst && byDefault !== NO_DEFAULT) return byDefault
  if (field.nullable && !field.requiredNullable) return null
  if (!field.nullable && byDefault !== NO_DEFAULT) return byDefault
  return new Unmet(field.nullable ? 'is missing; it may be null' : 'is missing', { rule: 'required' })
}

const NO_DEFAULT = Symbol('no default')

/** A name as a token of a JSON pointer (RFC 6901 section 3). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * What a create gives the columns that its caller may not read or not write: the default, or null, and no value to those that the
 * database fills. Any other such column can be
 * created only by callers who may name it (entity/validation/validate-writes.ts).
 */
export function withheldValues(columns: readonly Column[]): Map<Column, Value> {
  return new Map(
    columns.flatMap((column): [Column, Value][] => {
      const { nullable, defaultTo, filledByDatabase, preset } = column.field
      if (!isSettable(column) || filledByDatabase || preset !== undefined) return []
      if (defaultTo === undefined && !nullable) return []
      return [[column, defaultTo ?? null]]
    })
  )
}

export const NO_PATH = 'id must be another text: no path could name the row.'

/**
 * The rows of one child collection in a create request. `shown` are the columns that the caller may name, `root` is the
 * JSON pointer of the new row in the body.
 */
export function readChildren(
  body: JsonValue,
  {
    children,
    min,
    shown,
    maySet,
    claimed,
    unreachable
  }: CreatedChildren &
    Pick<Resource, 'maySet'> & {
      readonly shown: readonly Column[]
      /** The column that may be left out, since the caller's owner claim fills it. */
      readonly claimed: () => Column | undefined
      /** Ids that no path could name. */
      readonly unreachable: readonly string[]
    },
  { root, findings }: { readonly root: string; readonly findings: BodyFindings }
): ReadonlyMap<Column, Value>[] {
  const { name, columns } = children
  const at = `${root}/${name}`
  const rows = isObject(body) && Object.hasOwn(body, name) ? body[name] : undefined
  if (rows === undefined) {
    if (min > 0 && isObject(body))
      findings.violations.addAt(at, `${name} is missing; it needs at least ${min}.`, { rule: { rule: 'required' } })
    return []
  }
  if (!isArray(rows) || rows.length < min || rows.length > MAX_CHILDREN) {
    const rule = { rule: 'items', minimum: min, maximum: MAX_CHILDREN } as const
    findings.violations.addAt(at, `${name} must be an array of ${min} to ${MAX_CHILDREN}.`, { rule })
    return []
  }
  const settable = columns.filter(
    (column) => isSettableOfChild(column, children) && maySet(column) && (shown.includes(column) || isWriteOnly(column))
  )
  const others = columns.filter((column) => !settable.includes(column))
  const withheld = withheldValues(others.filter((column) => isSettableOfChild(column, children)))
  const optional = rows.length === 0 ? undefined : claimed()
  return rows.map((row, index) => {
    const place = `${at}/${index}`
    rejectNested(row, { children, at: place }, findings)
    const nested = children.children.map((one) => one.name)
    const read = { columns: settable, at: place, absent: 'default', others: nested, optional } as const
    const members = readMembers(row, read, findings)
    const [id] = children.key
    if (unreachable.some((one) => one === members.get(id))) findings.violations.addAt(`${place}/${id.name}`, NO_PATH)
    return new Map([...withheld, ...members])
  })
}

/** Children of children are only read: a body that has some expects them to be written. */
function rejectNested(
  child: JsonValue,
  { children: { name, children }, at }: { readonly children: Children; readonly at: string },
  { violations }: BodyFindings
): void {
  if (!isObject(child)) return
  for (const { name: nested } of children.filter((one) => Object.hasOwn(child, one.name))) {
    violations.addAt(`${at}/${nested}`, `${nested} are children of ${name}, which no body of a request can hold.`)
  }
}

/**
 * The values by name that an entity file answers, by column. A name or a value that does not fit is a mistake of the
 * entity file and not of a client: a TypeError.
 */
export function assignments(named: NamedValues, columns: readonly Column[]): Map<Column, Value> {
  return new Map(
    Object.entries(named).map(([name, value]) => {
      const column = columns.find((one) => one.name === name)
      if (column === undefined) throw new TypeError(`${name} is no column`)
      if (column.field.writability === 'generated') throw new TypeError(`${name} is set by the database alone`)
      return [column, storedValue(value, column)]
    })
  )
}

/** The values of a row by name, as entity files get them. */
export function namedValues(values: Iterable<readonly [Column, Value]>): NamedValues {
  return Object.fromEntries(Array.from(values, ([{ name }, value]) => [name, value]))
}

/** A value for every column of a new row, except for a key that the database makes and for columns that it fills. */
export function completeRow(
  keyed: Keyed & { readonly columns: readonly Column[]; readonly foreignKey?: KeyColumns },
  values: ReadonlyMap<Column, Value>,
  newGuid: () => string
): Map<Column, Value> {
  const row = new Map<Column, Value>()
  for (const column of keyed.columns) {
    const { name, field } = column
    // Columns that hold the key of a root get it with the root.
    if (keyed.foreignKey?.some((one) => one.column === column.column) === true) continue
    const value = values.get(column)
    const maker = keyed.key.includes(column) ? keyMaker(column, keyed) : undefined
    if (value !== undefined) row.set(column, value)
    else if (maker === 'service') row.set(column, newGuid())
    else if (field.defaultTo !== undefined) row.set(column, field.defaultTo)
    else if (field.filledByDatabase || field.writability === 'generated') continue
    else if (field.nullable) row.set(column, null)
    else if (maker !== 'database') throw new TypeError(`${name} is not set`)
  }
  return row
}
