import type { Record as WireRecord } from '../../shared/gen/entity/v1/Record.js'
import type { FieldType, Value } from '../entity/fields/field.js'
import { idText, isComposite, keyOfValues } from '../entity/key.js'
import type {
  PlannedManyToMany,
  PlannedReference,
  Projection,
  ShapedProperty,
  ShownChildren
} from '../plan/model/plans.js'
import { propertyName, selectedName } from '../plan/model/projection.js'
import type { LoadedChild, LoadedRow } from '../plan/model/stores.js'

/** A value as JSON text. */
type ValueEncoder = (value: Value) => string

/** Values already have the form of the wire (entity/fields/field.ts), so only texts and words can need escaping. */
export function valueEncoder(type: FieldType | 'bytes'): ValueEncoder {
  switch (type) {
    case 'string':
      return JSON.stringify
    case 'enum':
      return JSON.stringify
    case 'bool':
    case 'int':
      return String
    case 'double':
      // JavaScript writes the shortest digits that read back the same, but for the sign of zero.
      return (value) => (Object.is(value, -0) ? '-0' : String(value))
    case 'long':
    case 'decimal':
    case 'dateTime':
    case 'date':
    case 'time':
    case 'guid':
      return (value) => (value === null ? 'null' : `"${String(value)}"`)
    case 'set':
      return JSON.stringify
    case 'json':
      return String
    case 'binary':
    case 'bytes':
      return (value) => (value === null ? 'null' : `"${Buffer.isBuffer(value) ? value.toString('base64') : ''}"`)
  }
}

/** Properties that are a single value of the row: all but the navigations. */
type ValueProperty = Exclude<ShapedProperty, { kind: 'reference' | 'manyToMany' | 'children' }>

interface ValueReader {
  /** Gets the loaded values, in the order of `selected`. */
  readonly read: (values: readonly Value[]) => Value
  readonly encode: ValueEncoder
}

/** How to read a shown value from a loaded row, and how to encode it. */
export function valueReader(property: ValueProperty, projection: Projection): ValueReader {
  const place = (name: string): number => {
    const index = projection.selected.findIndex((one) => selectedName(one) === name)
    if (index === -1) throw new TypeError(`${name} is shown but not selected`)
    return index
  }
  switch (property.kind) {
    case 'id': {
      const parts = property.key.map(({ name }) => at(place(name)))
      return { read: (values) => compositeIdOf(parts.map((read) => read(values))), encode: valueEncoder('string') }
    }
    case 'column':
      return { read: at(place(property.column.name)), encode: valueEncoder(property.column.field.type) }
    case 'joined':
      return { read: at(place(property.joined.name)), encode: valueEncoder(property.column.field.type) }
    case 'rowVersion':
      return { read: at(place('rowVersion')), encode: valueEncoder('bytes') }
    case 'computed': {
      const { from, value, type } = property.computed
      const sources = from.map((column) => at(place(column.name)))
      return { read: (values) => value(sources.map((read) => read(values))), encode: valueEncoder(type) }
    }
  }
}

/** The same for the cells of an export, whose readers would lose digits of JSON values and doubles that are no strings. */
export function cellReader(property: ValueProperty, projection: Projection): ValueReader {
  const { read, encode } = valueReader(property, projection)
  const type = typeOf(property)
  if (type === 'json') return { read, encode: JSON.stringify }
  if (type === 'double') return { read, encode: (value) => (value === null ? 'null' : `"${encode(value)}"`) }
  return { read, encode }
}

function typeOf(property: ValueProperty): FieldType | 'bytes' {
  if (property.kind === 'rowVersion') return 'bytes'
  if (property.kind === 'id') return 'string'
  return property.kind === 'computed' ? property.computed.type : property.column.field.type
}

function compositeIdOf(values: readonly Value[]): string {
  const key = keyOfValues(values)
  if (key === undefined) throw new TypeError('a part of a key is null')
  return idText(key)
}

function at(index: number): (values: readonly Value[]) => Value {
  return (values) => values[index] ?? null
}

/** A row as the JSON object of the wire contract. */
export type RowSerializer = (row: LoadedRow) => string

/** What is planned besides the rows themselves. */
interface PlannedNavigations {
  readonly references: readonly PlannedReference[]
  readonly manyToMany: readonly PlannedManyToMany[]
}

const NO_NAVIGATIONS: PlannedNavigations = { references: [], manyToMany: [] }

/** A serializer, and the projections of the referenced and the linked rows that it was compiled for. */
interface CompiledSerializer {
  readonly nested: readonly Projection[]
  readonly serialize: RowSerializer
}

const compiled = new WeakMap<Projection, CompiledSerializer[]>()

/**
 * Compiled once for each projection and the projections of the resources that it shows rows of, which depend on what the
 * caller may see of these. Each property becomes a closure that knows its index in the row and its type.
 */
export function rowSerializer(projection: Projection, planned: PlannedNavigations = NO_NAVIGATIONS): RowSerializer {
  const known = compiled.get(projection) ?? []
  const { references, manyToMany } = planned
  const fits = ({ nested }: CompiledSerializer): boolean =>
    nested.length === references.length + manyToMany.length &&
    nested.every((one, at) => one === (references[at] ?? manyToMany[at - references.length])?.projection)
  const found = known.find(fits)
  if (found !== undefined) return found.serialize
  const serialize = compile(projection, planned)
  known.push({ nested: [...references, ...manyToMany].map((one) => one.projection), serialize })
  compiled.set(projection, known)
  return serialize
}

function compile(projection: Projection, planned: PlannedNavigations): RowSerializer {
  const members = projection.shown.map((property) => ({
    prefix: `${JSON.stringify(propertyName(property))}:`,
    text: memberText(property, projection, planned)
  }))
  return (row) => {
    let json = '{'
    for (const { prefix, text } of members) json += (json.length === 1 ? prefix : `,${prefix}`) + text(row)
    return `${json}}`
  }
}

function memberText(
  property: ShapedProperty,
  projection: Projection,
  { references, manyToMany }: PlannedNavigations
): RowSerializer {
  if (property.kind === 'reference') {
    const { name } = property.reference
    const planned = references.find((one) => one.reference === property.reference)
    if (planned === undefined) throw new TypeError(`reference ${name} is shown but not planned`)
    const nested = rowSerializer(planned.projection)
    return (row) => {
      const referenced = row.references.get(name)
      return referenced ? nested(referenced) : 'null'
    }
  }
  if (property.kind === 'manyToMany') {
    const { name } = property.navigation
    const planned = manyToMany.find((one) => one.navigation === property.navigation)
    if (planned === undefined) throw new TypeError(`${name} is shown but not planned`)
    const nested = rowSerializer(planned.projection)
    return (row) => `[${(row.manyToMany.get(name) ?? []).map(nested).join()}]`
  }
  if (property.kind === 'children') {
    const { name } = property.children
    const item = childSerializer(property)
    return (row) => `[${(row.children.get(name) ?? []).map(item).join()}]`
  }
  const { read, encode } = valueReader(property, projection)
  return (row) => encode(read(row.values))
}

/**
 * Writes the shown columns in order, then the row version, if the children have one, and their own children. All columns of
 * a child are loaded.
 */
function childSerializer({ children, shown, nested }: ShownChildren): (child: LoadedChild) => string {
  const { key, columns, versionColumn } = children
  const idAt = key.map((column) => columns.indexOf(column))
  const idOf = isComposite(children)
    ? (values: LoadedRow['values']) => `"id":${JSON.stringify(compositeIdOf(idAt.map((at) => values[at] ?? null)))}`
    : () => ''
  const version = { prefix: '"rowVersion":', index: columns.length, encode: valueEncoder('bytes') }
  const members = [
    ...shown.map((column) => ({
      prefix: `${JSON.stringify(column.name)}:`,
      index: columns.indexOf(column),
      encode: valueEncoder(column.field.type)
    })),
    ...(versionColumn === undefined ? [] : [version])
  ]
  const own = nested.map((one) => ({
    name: one.children.name,
    prefix: `,${JSON.stringify(one.children.name)}:`,
    item: childSerializer(one)
  }))
  return ({ values, children: loaded }) => {
    let json = `{${idOf(values)}`
    for (const { prefix, index, encode } of members) {
      json += `${json.length === 1 ? prefix : `,${prefix}`}${encode(values[index] ?? null)}`
    }
    for (const { name, prefix, item } of own) json += `${prefix}[${(loaded.get(name) ?? []).map(item).join()}]`
    return `${json}}`
  }
}

/** Makes records of loaded rows. A record has the raw row version exactly when its JSON shows it. */
export function recordEncoder(
  plan: PlannedNavigations & { readonly projection: Projection }
): (row: LoadedRow) => WireRecord & { readonly json: Buffer; readonly rowVersion?: Buffer } {
  const { projection } = plan
  const serialize = rowSerializer(projection, plan)
  const showsVersion = projection.shown.some(({ kind }) => kind === 'rowVersion')
  const versionAt = showsVersion ? projection.selected.findIndex((one) => selectedName(one) === 'rowVersion') : -1
  return (row) => {
    const json = Buffer.from(serialize(row))
    const version = row.values[versionAt]
    return Buffer.isBuffer(version) ? { json, rowVersion: version } : { json }
  }
}

/** A string, a bracket or a comma of a JSON text, or what stands between them. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],]|[^"{}[\],]+/g

/**
 * A JSON object as rowSerializer writes it, or an array of them, without some members of the object. All other bytes stay
 * as they are.
 */
export function withoutMembers(json: Buffer, names: ReadonlySet<string>): Buffer {
  const text = json.toString('utf8')
  const begins = Array.from(names, (name) => `${JSON.stringify(name)}:`)
  const cut = (object: string): string =>
    `{${partsOf(object)
      .filter((member) => !begins.some((begin) => member.startsWith(begin)))
      .join()}}`
  return Buffer.from(text.startsWith('[') ? `[${partsOf(text).map(cut).join()}]` : cut(text))
}

/** The members of a JSON object, or the items of an array, each as its text. */
function partsOf(json: string): string[] {
  const parts: string[] = ['']
  let depth = 0
  for (const [token] of json.slice(1, -1).matchAll(TOKEN)) {
    if (token === '{' || token === '[') depth++
    else if (token === '}' || token === ']') depth--
    if (token === ',' && depth === 0) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${token}`)
  }
  return parts
}
