import type { JsonShape } from '../../shared/gen/entity/v1/JsonShape.js'
import type { Member } from '../../shared/gen/entity/v1/Member.js'
import type { Navigation } from '../../shared/gen/entity/v1/Navigation.js'
import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { Resource } from '../../shared/gen/entity/v1/Resource.js'
import type { Numbers } from './numbers.js'
import {
  type EnumType,
  fieldOf,
  type FieldSpec,
  makeEnum,
  makeMessage,
  type MessageType,
  pascalCase
} from './schema.js'
import {
  elementsOf,
  enumValueType,
  type JsonMember,
  type Message,
  scalarText,
  setValueType,
  textOfWords,
  type ValueType,
  valueTypeOf
} from './values.js'

/** A message with members of JSON: a row, the input of an action, an item of a read, the body of an operation. */
export interface RowType {
  readonly message: MessageType
  readonly members: readonly RowMember[]
  /** Whether its JSON is the value of its only member, and no object. */
  readonly bare: boolean
}

type RowMember = {
  /** Name in JSON. */
  readonly key: string
  /** Name in the proto. */
  readonly field: string
} & MemberForm

type MemberForm =
  | {
      readonly kind: 'value'
      readonly type: ValueType
      /** Whether a body has null for an absent field, since it may be null but has to be there. */
      readonly nullWhereAbsent: boolean
    }
  | { readonly kind: 'values'; readonly type: ValueType }
  | { readonly kind: 'row' | 'rows'; readonly of: () => RowType }

/** A member of a message, before it has a number. */
interface MemberPart {
  readonly spec: FieldSpec
  readonly form: MemberForm
}

/** Where the types are declared that a member needs of its own. */
interface Within {
  /** The message that has the member. */
  readonly message: string
  readonly numbers: Numbers
  readonly nested: (MessageType | EnumType)[]
}

/** What a message of properties needs besides them. */
export interface RowDeclaration {
  /** In the package. */
  readonly name: string
  readonly comment: string
  readonly properties: readonly Property[]
  /** Those that requests send and no answer has. */
  readonly writeOnly?: readonly Property[]
  readonly navigations?: readonly Navigation[]
  /** The row messages of resources, which refer to one another. */
  readonly rowOf?: (resource: string) => { readonly name: string; readonly of: () => RowType }
}

export function makeRow(numbers: Numbers, declared: RowDeclaration): RowType {
  const { name, comment, properties, writeOnly = [], navigations = [], rowOf } = declared
  const within: Within = { message: name, numbers, nested: [] }
  const values = [...properties, ...writeOnly].map((property) => valuePart(property, within))
  const children = navigations.map((navigation): MemberPart => {
    const { name: key = '', kind, resource = '', properties: own = [], navigations: inner = [] } = navigation
    const { writeOnly: ofChildren = [], references = [] } = navigation
    const many = kind !== 'NAVIGATION_KIND_REFERENCE'
    const comment = many ? 'Where children are included.' : 'Where references are included.'
    if (rowOf !== undefined && own.length === 0) return rowPart({ key, many, comment }, rowOf(resource))
    const row = makeRow(numbers, {
      ...declared,
      name: `${name}.${pascalCase(key)}Item`,
      comment: `One of the ${key}.`,
      properties: own,
      writeOnly: ofChildren,
      navigations: [...references, ...inner]
    })
    within.nested.push(row.message)
    return rowPart({ key, many, comment }, { name: row.message.name, of: () => row })
  })
  return withParts([...values, ...children], { ...within, comment })
}

/** A message with the members of an object that an operation takes or answers. */
export function makeObject(
  numbers: Numbers,
  { name, comment, members }: { readonly name: string; readonly comment: string; readonly members: readonly Member[] }
): RowType {
  const within: Within = { message: name, numbers, nested: [] }
  const parts = members.map(({ property, name: key = '', shape }) =>
    shape ? shapePart(key, shape, within) : valuePart(property ?? {}, within)
  )
  return withParts(parts, { ...within, comment })
}

/** The message of an answer that is an object or a list, in the field `key`, with further fields that the answer has not. */
export function makeAnswer(
  { key, shape, further }: { readonly key: string; readonly shape: JsonShape; readonly further: readonly FieldSpec[] },
  { numbers, ...named }: { readonly name: string; readonly comment: string; readonly numbers: Numbers }
): RowType {
  const within: Within = { message: named.name, numbers, nested: [] }
  return withParts([shapePart(key, shape, within)], { ...within, comment: named.comment }, { bare: true, further })
}

/** A field that is an object or a list. */
function shapePart(key: string, shape: JsonShape, within: Within): MemberPart {
  const { kind, members = [], item, nested: inner, minItems = 0, maxItems = 0 } = shape
  const { message, numbers, nested } = within
  const name = `${message}.${pascalCase(key)}`
  if (kind !== 'SHAPE_KIND_LIST') {
    const row = makeObject(numbers, { name, comment: `The value of ${key}.`, members })
    nested.push(row.message)
    return rowPart({ key, many: false, comment: `The ${key}.` }, { name, of: () => row })
  }
  const comment = `${minItems} to ${maxItems}.`
  if (item && item.nullable !== true) {
    const type = typeWithin({ ...item, name: key }, within)
    const said = [item.description ?? '', type.comment, comment].filter((part) => part !== '').join(' ')
    return { spec: { key, type: type.proto, label: 'repeated', comment: said }, form: { kind: 'values', type } }
  }
  // Neither null nor a list can be repeated, so these are messages with one member, of which JSON knows nothing.
  const itemName = { name: `${name}Item`, comment: `One of ${key}.` }
  const ofItem: Within = { message: itemName.name, numbers, nested: [] }
  const row =
    !item && !inner
      ? makeObject(numbers, { ...itemName, members })
      : withParts(
          [item ? valuePart({ ...item, name: 'value' }, ofItem) : shapePart('items', inner ?? {}, ofItem)],
          { ...ofItem, comment: itemName.comment },
          { bare: true }
        )
  nested.push(row.message)
  return rowPart({ key, many: true, comment }, { name: row.message.name, of: () => row })
}

function valuePart(property: Property, within: Within): MemberPart {
  const { name: key = '', nullable = false, requiredOnCreate = false } = property
  const type = typeWithin(property, within)
  return {
    spec: { key, type: type.proto, comment: commentOf(property, type) },
    form: { kind: 'value', type, nullWhereAbsent: nullable && requiredOnCreate }
  }
}

function rowPart(
  { key, many, comment }: { readonly key: string; readonly many: boolean; readonly comment: string },
  { name, of }: { readonly name: string; readonly of: () => RowType }
): MemberPart {
  const label = many ? 'repeated' : 'plain'
  return { spec: { key, type: name, label, comment }, form: { kind: many ? 'rows' : 'row', of } }
}

function withParts(
  parts: readonly MemberPart[],
  { message: name, comment, numbers, nested }: Within & { readonly comment: string },
  { bare = false, further = [] }: { readonly bare?: boolean; readonly further?: readonly FieldSpec[] } = {}
): RowType {
  const message = makeMessage(numbers, { name, comment, nested }, [...parts.map(({ spec }) => spec), ...further])
  const members = parts.map(({ spec: { key }, form }, index): RowMember => ({
    key,
    field: message.fields[index]?.name ?? '',
    ...form
  }))
  return { message, members, bare }
}

/** The type of a property's values. The enum of its words becomes a type within the message. */
export function typeWithin(property: Property, { message, numbers, nested }: Within): ValueType {
  const { name = '', type = '', words = [] } = property
  if (type !== 'enum' && type !== 'set') return valueTypeOf(property)
  // It was a text before. Another type would be another field, and callers of before would miss the one that they know.
  if (type === 'enum' && numbers.lockedType(message, name) === 'string') return textOfWords(words)
  const declared = makeEnum(
    numbers,
    { name: `${message}.${pascalCase(name)}`, comment: `The words of ${name}.` },
    words
  )
  nested.push(declared)
  if (type === 'enum') return enumValueType(declared)
  const set = makeMessage(numbers, { name: `${declared.name}Set`, comment: `Some words of ${name}, or none.` }, [
    { key: 'words', type: declared.name, label: 'repeated', comment: 'In the order of the enum.' }
  ])
  nested.push(set)
  return setValueType(set.name, declared)
}

function commentOf(property: Property, of: ValueType): string {
  const { name = '', type = '', description = '', nullable = false, defaultValue = '' } = property
  if (type === 'bytes' && name === 'rowVersion') return 'The version of the row, which guarded writes take.'
  const absent = defaultValue === '' ? (nullable ? 'Absent for null.' : '') : `Absent for ${defaultValue}.`
  const unread = property.writeOnly === true ? 'In requests only: no answer has it.' : ''
  const text = [description, of.comment, absent, unread].filter((part) => part !== '').join(' ')
  return text === '' ? `As ${name} of the DTO.` : text
}

/** The messages of rows of every resource. */
export function makeRows(
  numbers: Numbers,
  resources: readonly Resource[],
  nameOf: (resource: string) => string
): ReadonlyMap<string, RowType> {
  const rows = new Map<string, RowType>()
  const found = (resource: string): RowType => {
    const row = rows.get(resource)
    if (row === undefined) throw new TypeError(`there is no resource ${resource}`)
    return row
  }
  const rowOf = (resource: string) => ({ name: nameOf(resource), of: () => found(resource) })
  for (const { name = '', description = '', properties = [], writeOnly = [], navigations = [] } of resources) {
    const comment = `${description} Each field has presence: an absent one is null, or was not asked for.`
    rows.set(name, makeRow(numbers, { name: nameOf(name), comment, properties, writeOnly, navigations, rowOf }))
  }
  return rows
}

/** The message of a row that an answer shows. */
export function readRow({ members, bare }: RowType, json: JsonMember | null): Message {
  const [only] = members
  const whole = bare && only !== undefined ? { [only.key]: json } : json
  if (typeof whole !== 'object' || whole === null) return {}
  const source = whole as Readonly<Record<string, JsonMember | null | undefined>> // An object of JSON.
  return Object.fromEntries(
    members.flatMap((member): [string, unknown][] => {
      const value = Object.hasOwn(source, member.key) ? source[member.key] : undefined
      if (value === undefined || value === null) return []
      if (member.kind === 'value') return [[member.field, member.type.fromJson(value)]]
      if (member.kind === 'values') return [[member.field, elementsOf(value).map(member.type.fromJson)]]
      const inner = member.of()
      if (member.kind === 'row') return [[member.field, readRow(inner, value)]]
      return [[member.field, elementsOf(value).map((one) => readRow(inner, one))]]
    })
  )
}

/** What the rpcs of one resource are made of. */
export interface ResourceTypes {
  /** Route segment. */
  readonly name: string
  readonly numbers: Numbers
  readonly resource: Resource
  readonly row: RowType
  /** `StockItems` */
  readonly plural: string
}

/** Whether requests name the rows of a resource: all that have a key have an `id`. */
export function hasIds({ properties = [] }: Resource): boolean {
  return properties.some(({ name }) => name === 'id')
}

/** Those of rows that requests name. */
export interface KeyedTypes extends ResourceTypes {
  readonly idType: ValueType
}

/** Types of which an absent field without presence is the number 0. */
const NUMERIC_TYPES: ReadonlySet<string> = new Set(['int32', 'int64', 'uint64', 'double'])

/** The id as it stands in a path; empty where none was sent, which is no id. A number that was not sent is 0. */
export function pathId({ idType }: KeyedTypes, type: MessageType, request: Message): string {
  return pathText({ key: 'id', type: idType }, type, request)
}

/** The same of any value that names a row. */
export function pathText(
  { key, type }: { readonly key: string; readonly type: ValueType },
  requestType: MessageType,
  request: Message
): string {
  const value = request[fieldOf(requestType, key)]
  if (value === undefined) return NUMERIC_TYPES.has(type.proto) ? '0' : ''
  return type.toText(value)
}

/** A unique property, whose values name rows. */
export interface UniqueField {
  readonly key: string
  readonly type: ValueType
}

export function uniqueFields({ resource: { properties = [] }, row }: ResourceTypes): readonly UniqueField[] {
  return row.members.flatMap((member) => {
    const isUnique = properties.some(({ name, unique = false }) => unique && name === member.key)
    return isUnique && member.kind === 'value' ? [{ key: member.key, type: member.type }] : []
  })
}

/** The owner whose rows are asked for, where the resource has an owner filter. */
export function ownerFields({ ownerProperty = '' }: Resource): FieldSpec[] {
  if (ownerProperty === '') return []
  return [{ key: 'owner', type: 'int64', comment: `Whose rows, by ${ownerProperty}; those of the caller without it.` }]
}

export function ownerOf({ owner }: Message): { readonly ownerParameter?: string } {
  return owner === undefined ? {} : { ownerParameter: scalarText(owner) }
}
