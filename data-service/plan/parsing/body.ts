import { decodeBase64 } from '../../../shared/transport/wire.js'
import type { NamedValues } from '../../entity/action.js'
import { type CreatedChildren, MAX_CHILDREN } from '../../entity/creates-and-deletes.js'
import type { Children, Column, KeyColumns } from '../../entity/entity.js'
import type { Field, Value } from '../../entity/fields/field.js'
import { type Keyed, keyMaker } from '../../entity/key.js'
import { GUID } from '../../entity/fields/names.js'
import {
  fitDecimal,
  formatDecimal,
  isWithin,
  parseDecimal,
  parseDouble,
  parseInteger,
  rangeOf
} from '../../entity/fields/numbers.js'
import { isSettable, isSettableOfChild, isWriteOnly, type Resource } from '../model/catalogue.js'
import {
  integerOf,
  isArray,
  isObject,
  JsonNumber,
  type JsonObject,
  jsonText,
  type JsonValue,
  numberParts
} from './json-values.js'
import {
  integerRange,
  oneOf,
  oneOfWords,
  outOfBounds,
  parseCustom,
  parseDate,
  parseDateTime,
  parseTime
} from './values.js'
import { type BodyFindings, Unmet } from './violations.js'

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
function isKept(json: JsonObject, { name, field }: Column, absent: Members['absent']): boolean {
  const isKept = absent === 'kept' || (absent === 'null' && field.hidden) || field.preset !== undefined
  return isKept && !Object.hasOwn(json, name)
}

/** Whether a member of a merge patch is merged into the stored value of the column, which decides what it becomes. */
export function isMerged(patch: JsonObject, { name, field }: Column): boolean {
  return field.type === 'json' && Object.hasOwn(patch, name) && isObject(patch[name] ?? null)
}

/** An Error's message completes "price …". undefined for a member that is left out and that the database fills. */
function readMember(json: JsonObject, { name, field }: Column, defaultsFirst: boolean): Value | Unmet | undefined {
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

/** A JSON number with no more digits survives a reader or writer that uses doubles. */
const SAFE_DIGITS = 15
/** Digits, far beyond what any column holds, so that no exponent of a client's choice makes a long text. */
const LONGEST_NUMBER = 100

/**
 * A member of a body as a value of the column (contract.md section 3), or an Unmet whose message completes "price
 * must …".
 */
export function parseMember(json: JsonValue, field: Field): Value | Unmet {
  if (json === null) return field.nullable ? null : new Unmet('not be null', { rule: 'notNull' })
  const value =
    field.type === 'json' ? jsonText(json) : typeof json === 'string' ? fromText(json, field) : fromOther(json, field)
  if (value instanceof Unmet) return value
  const violation = outOfBounds(value, field)
  if (violation !== undefined) return violation
  return stored(value, field) ?? mismatch(field)
}

type StoredValue = Exclude<Value, null>

/**
 * A value of the base type, within its bounds, as it is stored: in the scale of the column, and as the application's own
 * type has it. undefined for a value that is not of the own type.
 */
function stored(value: StoredValue, field: Field): StoredValue | undefined {
  if (typeof value === 'object') return value
  const decimal = field.type === 'decimal' ? parseDecimal(String(value)) : undefined
  const fitted = decimal === undefined ? value : fitDecimal(decimal, field, 'exact')
  const parsed = fitted === undefined ? undefined : parseCustom(fitted, field)
  if (parsed !== undefined && parsed !== fitted && outOfBounds(parsed, field) !== undefined) {
    throw new TypeError(`${field.custom?.name ?? field.type} makes a value that its base does not take`)
  }
  return parsed
}

function fromText(text: string, field: Field): string | Buffer | Unmet {
  const { type } = field
  switch (type) {
    case 'string':
    case 'enum':
      return text
    case 'long':
      return (text.length <= LONGEST_NUMBER ? parseInteger(text)?.toString() : undefined) ?? mismatch(field)
    case 'decimal':
      return /^-?\d+(\.\d+)?$/.test(text) && text.length <= LONGEST_NUMBER ? text : mismatch(field)
    case 'dateTime':
      return (text.length > 10 ? parseDateTime(text, field.precision) : undefined) ?? mismatch(field)
    case 'date':
      return parseDate(text) ?? mismatch(field)
    case 'time':
      return parseTime(text, field.precision) ?? mismatch(field)
    case 'guid':
      return GUID.test(text.toLowerCase()) ? text.toLowerCase() : mismatch(field)
    case 'bool':
    case 'int':
    case 'double':
    case 'set':
    case 'json':
      return wrongType(field)
    case 'binary':
      return decodeBase64(text) ?? mismatch(field)
  }
}

function fromOther(
  json: Exclude<JsonValue, string | null>,
  field: Field
): number | string | boolean | readonly string[] | Unmet {
  if (typeof json === 'boolean') return field.type === 'bool' ? json : wrongType(field)
  if (json instanceof JsonNumber) return fromNumber(json, field)
  if (isArray(json) && field.type === 'set') return wordsIn(json, field)
  return wrongType(field)
}

/** The words of a set, in the order in which the column has them. */
function wordsIn(json: readonly JsonValue[], field: Field): readonly string[] | Unmet {
  const words = field.words.filter((word) => json.includes(word))
  return words.length === json.length ? words : mismatch(field)
}

function fromNumber(number: JsonNumber, field: Field): number | string | Unmet {
  const parts = numberParts(number)
  if (field.type === 'int') {
    const value = integerOf(parts)
    return value !== undefined && isWithin(value, rangeOf(field)) ? Number(value) : mismatch(field)
  }
  if (field.type === 'double') return parseDouble(number.text, field.storage) ?? mismatch(field)
  if (field.type === 'long') {
    const value = integerOf(parts)
    if (value === undefined) return mismatch(field)
    if (Number.isSafeInteger(Number(value))) return value.toString()
    return new Unmet('be sent as a string of digits: a JSON number this long may lose some')
  }
  if (field.type !== 'decimal') return mismatch(field)
  if (parts.significant > SAFE_DIGITS) {
    return new Unmet(`be sent as a string of digits: a JSON number of more than ${SAFE_DIGITS} digits may lose some`)
  }
  return decimalText(parts) ?? mismatch(field)
}

/** A number in the scale that it was written in, which may be more than that of the column. undefined where it is too long. */
function decimalText({ negative, digits, exponent, scale }: ReturnType<typeof numberParts>): string | undefined {
  if (digits === '') return scale > LONGEST_NUMBER ? '0' : `0${scale > 0 ? `.${'0'.repeat(scale)}` : ''}`
  if (Math.abs(exponent) > LONGEST_NUMBER || scale > LONGEST_NUMBER) return undefined
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent + scale)
  return formatDecimal(negative ? -magnitude : magnitude, scale)
}

/** An Unmet for JSON of another type: an integer has no range to say then. */
function wrongType(field: Field): Unmet {
  return mismatch(field, false)
}

/** An Unmet that says what the column takes. */
function mismatch(field: Field, isOfType = true): Unmet {
  const { type, custom } = field
  const isInteger = isOfType && (type === 'int' || type === 'long')
  const rule = type === 'enum' ? oneOf(field) : isInteger ? integerRange(field) : ({ rule: 'type', type } as const)
  // What an application's own type takes is known by its sentence.
  return new Unmet(`be ${taken(field)}`, custom === undefined ? rule : undefined)
}

/** What the column takes, to complete "price must be …". */
function taken(field: Field): string {
  const { type, minimum, maximum, precision, custom } = field
  if (custom !== undefined) return custom.expected
  const between = (): string => `from ${minimum ?? rangeOf(field).min} to ${maximum ?? rangeOf(field).max}`
  switch (type) {
    case 'string':
      return 'a string'
    case 'bool':
      return 'true or false'
    case 'int':
      return `a whole number ${between()}`
    case 'long':
      return `a string with a whole number ${between()}`
    case 'decimal':
      return 'a string with a decimal number such as "19.90"'
    case 'double':
      return `a JSON number that ${field.storage === 'float' ? '32 bits' : 'a double'} can hold (IEEE 754)`
    case 'dateTime': {
      const digits = precision > 3 ? `${precision} digits of a second's fraction` : 'milliseconds'
      return `a date and time such as "2026-01-31T08:00:00Z" (RFC 3339, at most ${digits})`
    }
    case 'date':
      return 'a date such as "2026-01-31"'
    case 'time':
      return 'a time of the day such as "08:00:00"'
    case 'guid':
      return 'a GUID such as "6f9619ff-8b86-d011-b42d-00c04fc964ff"'
    case 'enum':
      return oneOfWords(field)
    case 'set':
      return `an array of ${field.words.join(', ')}, each at most once`
    case 'json':
      return 'JSON'
    case 'binary':
      return 'a string of padded base64'
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

/**
 * A value that an application made, as its column stores it. Throws TypeError for one that the column does not take, which
 * is a defect and no mistake of a client.
 */
export function storedValue(value: Value, { name, field }: Column): Value {
  if (value === null && field.nullable) return null
  if (value !== null && isOfType(value, field) && outOfBounds(value, field) === undefined) {
    const taken = stored(value, field)
    if (taken !== undefined) return taken
  }
  throw new TypeError(`${name} does not take ${String(value)}`)
}

function isOfType(value: StoredValue, field: Field): boolean {
  switch (field.type) {
    case 'int':
      return typeof value === 'number' && Number.isInteger(value)
    case 'double':
      return typeof value === 'number' && parseDouble(String(value), field.storage) !== undefined
    case 'bool':
      return typeof value === 'boolean'
    case 'string':
    case 'enum':
    case 'decimal':
      return typeof value === 'string'
    case 'long':
      return typeof value === 'string' && parseInteger(value) !== undefined
    case 'dateTime':
      return typeof value === 'string' && parseDateTime(value, field.precision) === value
    case 'date':
      return typeof value === 'string' && parseDate(value) === value
    case 'time':
      return typeof value === 'string' && parseTime(value, field.precision) === value
    case 'guid':
      return typeof value === 'string' && GUID.test(value)
    case 'set':
      return Array.isArray(value) && value.every((word: unknown) => field.words.some((one) => one === word))
    case 'json':
      return typeof value === 'string' && isJson(value)
    case 'binary':
      return Buffer.isBuffer(value)
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
