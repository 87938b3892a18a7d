import { hasRowVersion } from '../entity/fields/row-version.js'
import { setImmediate as turn } from 'node:timers/promises'
import { rejectionAt } from '../../shared/errors.js'
import type { Record as WireRecord } from '../../shared/gen/entity/v1/Record.js'
import type { FieldType, Value } from '../entity/fields/field.js'
import { jsonBytes, type JsonWriter } from '../entity/fields/json-text.js'
import { UnshownValues } from '../entity/fields/unshown.js'
import { idText, isComposite, keyOfValues } from '../entity/key.js'
import {
  areSameOthers,
  type PlannedNavigations,
  type PlannedReference,
  type Projection,
  rowsOfOthers,
  type ShapedProperty,
  type ShownChildren
} from '../plan/model/plans.js'
import { propertyName, selectedName } from '../plan/model/projection.js'
import type { LoadedChild, LoadedRow } from '../plan/model/stores.js'
import { valueEncoder, valueWriter } from '../entity/types/types.js'

/** Properties that are a single value of the row: all but the navigations. */
export type ValueProperty = Exclude<ShapedProperty, { kind: 'reference' | 'manyToMany' | 'children' }>

interface ValueReader {
  /** Gets the loaded values, by their places in `selected`. */
  readonly read: (valueAt: (place: number) => Value) => Value
  readonly encode: (value: Value) => string
}

/** How to read a shown value from a loaded row, and how to encode it. */
export function valueReader(property: ValueProperty, projection: Projection): ValueReader {
  const place = (name: string): number => placeOf(name, projection)
  switch (property.kind) {
    case 'id':
    case 'computed': {
      const { places, combine } = sourcesOf(property, projection)
      return { read: (valueAt) => combine(places.map(valueAt)), encode: valueEncoder(typeOf(property)) }
    }
    case 'column':
      return { read: at(place(property.column.name)), encode: valueEncoder(property.column.field.type) }
    case 'joined':
      return { read: at(place(property.joined.name)), encode: valueEncoder(property.column.field.type) }
    case 'rowVersion':
      return { read: at(place('rowVersion')), encode: valueEncoder('bytes') }
  }
}

interface ValueSources {
  /** Where their values are in `selected`. */
  readonly places: readonly number[]
  readonly combine: (values: readonly Value[]) => Value
}

/** The columns that a value is made of, and how. */
export function sourcesOf(
  property: ValueProperty & { readonly kind: 'id' | 'computed' },
  projection: Projection
): ValueSources {
  const places = (columns: readonly { readonly name: string }[]): number[] =>
    columns.map(({ name }) => placeOf(name, projection))
  if (property.kind === 'id') return { places: places(property.key), combine: compositeIdOf }
  const { from, value } = property.computed
  return { places: places(from), combine: value }
}

/** Where a value is in `selected`. */
export function placeOf(name: string, { selected }: Projection): number {
  const index = selected.findIndex((one) => selectedName(one) === name)
  if (index === -1) throw new TypeError(`${name} is shown but not selected`)
  return index
}

/** The same for the cells of an export, whose readers would lose digits of JSON values and doubles that are no strings. */
export function cellReader(property: ValueProperty, projection: Projection): ValueReader {
  const { read, encode } = valueReader(property, projection)
  const type = typeOf(property)
  if (type === 'json') return { read, encode: JSON.stringify }
  if (type === 'double') return { read, encode: (value) => (value === null ? 'null' : `"${encode(value)}"`) }
  return { read, encode }
}

/** The type of a property's values on the wire. */
export function typeOf(property: ValueProperty): FieldType | 'bytes' {
  if (property.kind === 'rowVersion') return 'bytes'
  if (property.kind === 'id') return 'string'
  return property.kind === 'computed' ? property.computed.type : property.column.field.type
}

function compositeIdOf(values: readonly Value[]): string {
  const key = keyOfValues(values)
  if (key === undefined) throw new TypeError('a part of a key is null')
  return idText(key)
}

function at(index: number): ValueReader['read'] {
  return (valueAt) => valueAt(index)
}

/** Writes a row as the JSON object of the wire contract. */
export type RowSerializer = (row: LoadedRow, out: JsonWriter) => void

const NO_NAVIGATIONS: PlannedNavigations = { references: [], manyToMany: [], children: [] }

/** A serializer, and the plans of the rows of other resources that it was compiled for. */
interface CompiledSerializer {
  readonly others: ReturnType<typeof rowsOfOthers>
  readonly serialize: RowSerializer
}

/** Serializers that are kept for each projection. Callers choose what is shown within a row. */
const MAX_SERIALIZERS = 64

const compiledSerializers = new WeakMap<Projection, CompiledSerializer[]>()

/**
 * Compiled once for each projection and the projections of the resources that it shows rows of, which depend on what the
 * caller may see of these. Each property becomes a closure that knows its index in the row and its type.
 */
export function rowSerializer(projection: Projection, planned: PlannedNavigations = NO_NAVIGATIONS): RowSerializer {
  const known = compiledSerializers.get(projection) ?? []
  const others = rowsOfOthers(planned)
  const found = known.find((one) => areSameOthers(one.others, others))
  if (found !== undefined) return found.serialize
  const serialize = compile(projection, planned)
  known.push({ others, serialize })
  if (known.length > MAX_SERIALIZERS) known.shift()
  compiledSerializers.set(projection, known)
  return serialize
}

function compile(projection: Projection, planned: PlannedNavigations): RowSerializer {
  const members = projection.shown.map((property, index) => ({
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(propertyName(property))}:`,
    write: memberWriter(property, projection, planned)
  }))
  if (members.length === 0) return (_, out) => out.text('{}')
  const writeRow = (of: typeof members, row: LoadedRow, out: JsonWriter): void => {
    for (const { prefix, write } of of) {
      out.text(prefix)
      write(row, out)
    }
    out.text('}')
  }
  const withoutVersion = members.map((member, index) =>
    projection.shown[index]?.kind === 'rowVersion' ? { ...member, write: writeNull } : member
  )
  const showsVersion = projection.shown.some(({ kind }) => kind === 'rowVersion')
  return (row, out) => {
    const { at, unshown } = out
    const before = unshown?.count
    writeRow(members, row, out)
    if (!showsVersion || unshown?.count === before) return
    // Whoever wrote the row back would write null over the value, so the row has no version to be written with.
    out.at = at
    out.unshown = new UnshownValues()
    writeRow(withoutVersion, row, out)
    out.unshown = unshown
  }
}

function writeNull(_: LoadedRow, out: JsonWriter): void {
  out.text('null')
}

function memberWriter(
  property: ShapedProperty,
  projection: Projection,
  { references, manyToMany, children }: PlannedNavigations
): RowSerializer {
  switch (property.kind) {
    case 'reference': {
      const { name } = property.reference
      const planned = references.find((one) => one.reference === property.reference)
      if (planned === undefined) throw new TypeError(`reference ${name} is shown but not planned`)
      return referenceWriter(planned)
    }
    case 'manyToMany': {
      const { name } = property.navigation
      const planned = manyToMany.find((one) => one.navigation === property.navigation)
      if (planned === undefined) throw new TypeError(`${name} is shown but not planned`)
      const nested = rowSerializer(planned.projection, planned.within)
      return (row, out) => writeArray(row.manyToMany.get(name) ?? [], nested, out)
    }
    case 'children': {
      const { name } = property.children
      const planned = children.find((one) => one.children === property.children)
      const item = childSerializer(property, planned?.followed)
      return (row, out) => writeArray(row.children.get(name) ?? [], item, out)
    }
    case 'column':
      return columnWriter(property.column.name, placeOf(property.column.name, projection), property.column.field.type)
    case 'joined':
      return columnWriter(property.joined.name, placeOf(property.joined.name, projection), property.column.field.type)
    case 'rowVersion':
      return columnWriter('rowVersion', placeOf('rowVersion', projection), 'bytes')
    case 'id':
    case 'computed': {
      const { places, combine } = sourcesOf(property, projection)
      const write = valueWriter(typeOf(property))
      const name = propertyName(property)
      return (row, out) => {
        const { at } = out
        try {
          write(combine(places.map((index) => oneValue(row, index))), out)
        } catch (error) {
          out.hide(error, { property: name, at })
          out.text('null')
        }
      }
    }
  }
}

function referenceWriter({ reference, projection, within }: PlannedReference) {
  const nested = rowSerializer(projection, within)
  return ({ references }: Partial<Pick<LoadedRow, 'references'>>, out: JsonWriter): void => {
    const referenced = references?.get(reference.name)
    if (referenced) nested(referenced, out)
    else out.text('null')
  }
}

/** One value. The others are not decoded for it. */
export function oneValue(row: LoadedRow, index: number): Value {
  return row.stored === undefined ? (row.values[index] ?? null) : row.stored.value(index)
}

function columnWriter(
  name: string,
  index: number,
  type: FieldType | 'bytes'
): (row: LoadedRow | LoadedChild, out: JsonWriter) => void {
  const write = valueWriter(type)
  return (row, out) => {
    if (row.stored === undefined) return write(row.values[index] ?? null, out)
    const { at } = out
    try {
      row.stored.write(index, out)
    } catch (error) {
      out.hide(error, { property: name, at })
      out.text('null')
    }
  }
}

/**
 * Bytes of JSON that an answer of several rows has at most. Rows are counted as they are read, and some values are longer in
 * JSON: NULL takes one bit in a row, and a control character six bytes in JSON.
 */
const MAX_WRITTEN = 16 * 1024 * 1024

function refuseAbove(written: number): void {
  if (written <= MAX_WRITTEN) return
  throw rejectionAt(
    'fields.invalid',
    `The answer would have more than ${MAX_WRITTEN / 1024 / 1024} MiB of JSON. Ask for fewer fields, for a smaller page, or include less.`,
    { place: { in: 'parameter', name: 'fields' } }
  )
}

/**
 * Throws `fields.invalid` once it has become too long, unless it has one item. What stands before the first array of a row does not
 * count: one row is answered however large it is, but its arrays are bounded together.
 */
export function writeArray<Item>(
  items: readonly Item[],
  write: (item: Item, out: JsonWriter) => void,
  out: JsonWriter
): void {
  const from = (out.arraysFrom ??= out.at)
  out.text('[')
  let isFirst = true
  for (const item of items) {
    if (!isFirst) {
      refuseAbove(out.at - from)
      out.text(',')
    }
    isFirst = false
    write(item, out)
  }
  out.text(']')
}

/**
 * Writes the shown columns in order, then the row version, if the children have one, references that were asked for, and
 * their own children. All columns of a child are loaded.
 */
function childSerializer(
  { children, shown, nested }: ShownChildren,
  followed: readonly PlannedReference[] = []
): (child: LoadedChild, out: JsonWriter) => void {
  const { key, columns } = children
  const member = (name: string, index: number, type: FieldType | 'bytes') => ({
    name,
    write: columnWriter(name, index, type)
  })
  const idAt = key.map((column) => columns.indexOf(column))
  const id = {
    name: 'id',
    write: ({ values }: LoadedChild, out: JsonWriter): void =>
      out.string(compositeIdOf(idAt.map((at) => values[at] ?? null)))
  }
  const members = [
    ...(isComposite(children) ? [id] : []),
    ...shown.map((column) => member(column.name, columns.indexOf(column), column.field.type)),
    ...(hasRowVersion(children) ? [member('rowVersion', columns.length, 'bytes')] : []),
    ...followed.map((one) => ({ name: one.reference.name, write: referenceWriter(one) })),
    ...nested.map((one) => {
      const { name } = one.children
      const item = childSerializer(one)
      return {
        name,
        write: (child: LoadedChild, out: JsonWriter) => writeArray(child.children.get(name) ?? [], item, out)
      }
    })
  ].map(({ name, write }, index) => ({ prefix: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`, write }))
  if (members.length === 0) return (_, out) => out.text('{}')
  return (child, out) => {
    for (const { prefix, write } of members) {
      out.text(prefix)
      write(child, out)
    }
    out.text('}')
  }
}

type RecordPlan = PlannedNavigations & { readonly projection: Projection }

/** Makes records of loaded rows. A record has the raw row version exactly when its JSON shows it. */
export function recordEncoder(
  plan: RecordPlan,
  unshown?: UnshownValues
): (row: LoadedRow) => WireRecord & { readonly json: Buffer; readonly rowVersion?: Buffer } {
  const { projection } = plan
  const serialize = rowSerializer(projection, plan)
  const showsVersion = projection.shown.some(({ kind }) => kind === 'rowVersion')
  const versionAt = showsVersion ? placeOf('rowVersion', projection) : -1
  return (row) => {
    const before = unshown?.count
    const json = jsonBytes((out) => serialize(row, out), unshown)
    if (!showsVersion || unshown?.count !== before) return { json }
    const version = row.stored === undefined ? row.values[versionAt] : row.stored.value(versionAt)
    return Buffer.isBuffer(version) ? { json, rowVersion: version } : { json }
  }
}

/** Milliseconds after which the event loop has a turn while rows are written. */
const WRITING = 10

/** The rows as records. What others ask for comes between those of a large answer. */
export async function recordsOf(
  rows: readonly LoadedRow[],
  plan: RecordPlan,
  unshown: UnshownValues
): Promise<WireRecord[]> {
  const encode = recordEncoder(plan, unshown)
  const records: WireRecord[] = []
  let bytes = 0
  let until = performance.now() + WRITING
  for (const row of rows) {
    if (records.length > 0) refuseAbove(bytes)
    const record = encode(row)
    bytes += record.json.length
    records.push(record)
    if (performance.now() < until) continue
    await turn()
    until = performance.now() + WRITING
  }
  return records
}

/** The rows as one JSON array. What others ask for comes between the rows of a large one. */
export async function jsonOfRows(
  rows: readonly LoadedRow[],
  plan: RecordPlan,
  unshown: UnshownValues
): Promise<Buffer> {
  const serialize = rowSerializer(plan.projection, plan)
  const parts: Buffer[] = []
  let written = 0
  let bytes = 0
  const writePart = (out: JsonWriter): void => {
    const until = performance.now() + WRITING
    if (written === 0) out.text('[')
    do {
      const row = rows[written]
      if (row === undefined) break
      if (written > 0) {
        refuseAbove(bytes + out.at)
        out.text(',')
      }
      serialize(row, out)
      written += 1
    } while (performance.now() < until)
    if (written === rows.length) out.text(']')
  }
  do {
    if (parts.length > 0) await turn()
    const part = jsonBytes(writePart, unshown)
    bytes += part.length
    parts.push(part)
  } while (written < rows.length)
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x5c, 0x2c, 0x5b, 0x5d, 0x7b, 0x7d
]

/** A part of a JSON text: from its first byte to the one behind its last. */
interface JsonPart {
  readonly start: number
  readonly end: number
}

/**
 * The members of all objects, or the items of all arrays, that are `level` brackets deep. The text is looked at a byte at a time
 * and never taken apart: one of 3 MiB has a million values.
 */
function* partsAt(level: number, json: Buffer): Generator<JsonPart, void> {
  let [depth, start] = [0, 0]
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at)
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      depth += 1
      if (depth === level) start = at + 1
    } else if (depth === level && (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT)) {
      if (at > start) yield { start, end: at }
      start = at + 1
    }
    if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth -= 1
  }
}

function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1
  return at
}

/** The items of a JSON array, each as its bytes. */
export function itemsOfArray(json: Buffer): Buffer[] {
  return Array.from(partsAt(1, json), ({ start, end }) => json.subarray(start, end))
}

/**
 * A JSON object as rowSerializer writes it, or an array of them, without some members of the object. All other bytes stay
 * as they are.
 */
export function withoutMembers(json: Buffer, names: ReadonlySet<string>): Buffer {
  const begins = Array.from(names, (name) => Buffer.from(`${JSON.stringify(name)}:`))
  const kept: Buffer[] = []
  let [copied, isFirst] = [0, true]
  for (const { start, end } of partsAt(json[0] === OPEN_ARRAY ? 2 : 1, json)) {
    if (json[start - 1] === OPEN_OBJECT) {
      kept.push(json.subarray(copied, start))
      isFirst = true
    }
    copied = end
    if (begins.some((begin) => json.subarray(start, start + begin.length).equals(begin))) continue
    // Of another member the comma before it is a part.
    kept.push(json.subarray(isFirst ? start : start - 1, end))
    isFirst = false
  }
  kept.push(json.subarray(copied))
  return Buffer.concat(kept)
}
