import type { Navigation } from '../../shared/gen/entity/v1/Navigation.js'
import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { Resource } from '../../shared/gen/entity/v1/Resource.js'
import type { Numbers } from './numbers.js'
import { type EnumType, type FieldSpec, makeEnum, makeMessage, type MessageType, pascalCase } from './schema.js'
import {
  elementsOf,
  enumValueType,
  type JsonMember,
  type Message,
  scalarText,
  setValueType,
  type ValueType,
  valueTypeOf
} from './values.js'

/** A message with members of JSON: a row, the input of an action, an item of a read. */
export interface RowType {
  readonly message: MessageType
  readonly members: readonly RowMember[]
}

type RowMember = {
  /** Name in JSON. */
  readonly key: string
  /** Name in the proto. */
  readonly field: string
} & (
  { readonly kind: 'value'; readonly type: ValueType } | { readonly kind: 'row' | 'rows'; readonly of: () => RowType }
)

/** What a message of properties needs besides them. */
export interface RowDeclaration {
  /** In the package. */
  readonly name: string
  readonly comment: string
  readonly properties: readonly Property[]
  readonly navigations?: readonly Navigation[]
  /** The row messages of resources, which refer to one another. */
  readonly rowOf?: (resource: string) => { readonly name: string; readonly of: () => RowType }
}

export function makeRow(numbers: Numbers, declared: RowDeclaration): RowType {
  const { name, comment, properties, navigations = [], rowOf } = declared
  const nested: (MessageType | EnumType)[] = []
  const values = properties.map((property) => {
    const type = typeWithin(name, property, { numbers, nested })
    return { property, type }
  })
  const children = navigations.map((navigation) => {
    const { name: key = '', kind, resource = '', properties: own = [], navigations: inner = [] } = navigation
    const many = kind !== 'NAVIGATION_KIND_REFERENCE'
    if (rowOf !== undefined && own.length === 0) return { key, many, ...rowOf(resource) }
    const row = makeRow(numbers, {
      ...declared,
      name: `${name}.${pascalCase(key)}Item`,
      comment: `One of the ${key}.`,
      properties: own,
      navigations: inner
    })
    nested.push(row.message)
    return { key, many, name: row.message.name, of: () => row }
  })
  const specs: FieldSpec[] = [
    ...values.map(({ property, type }) => ({
      key: property.name ?? '',
      type: type.proto,
      comment: commentOf(property, type)
    })),
    ...children.map(({ key, many, name: type }) => ({
      key,
      type,
      label: many ? ('repeated' as const) : ('plain' as const),
      comment: many ? 'Where children are included.' : 'Where references are included.'
    }))
  ]
  const message = makeMessage(numbers, { name, comment, nested }, specs)
  const fieldOf = (index: number): string => message.fields[index]?.name ?? ''
  const members = [
    ...values.map(({ property, type }, index): RowMember => {
      return { kind: 'value', key: property.name ?? '', field: fieldOf(index), type }
    }),
    ...children.map(({ key, many, of }, index): RowMember => {
      return { kind: many ? 'rows' : 'row', key, field: fieldOf(values.length + index), of }
    })
  ]
  return { message, members }
}

/** The type of a property's values. The enum of its words becomes a type within the message. */
export function typeWithin(
  message: string,
  property: Property,
  { numbers, nested }: { readonly numbers: Numbers; readonly nested: (MessageType | EnumType)[] }
): ValueType {
  const { name = '', type = '', words = [] } = property
  if (type !== 'enum' && type !== 'set') return valueTypeOf(property)
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

function commentOf({ name = '', type = '', description = '', nullable = false }: Property, of: ValueType): string {
  if (type === 'bytes' && name === 'rowVersion') return 'The version of the row, which guarded writes take.'
  const absent = nullable ? 'Absent for null.' : ''
  const text = [description, of.comment, absent].filter((part) => part !== '').join(' ')
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
  for (const { name = '', description = '', properties = [], navigations = [] } of resources) {
    const comment = `${description} Each field has presence: an absent one is null, or was not asked for.`
    rows.set(name, makeRow(numbers, { name: nameOf(name), comment, properties, navigations, rowOf }))
  }
  return rows
}

/** The message of a row that an answer shows. */
export function readRow({ members }: RowType, json: JsonMember): Message {
  if (typeof json !== 'object' || json === null) return {}
  const source = json as Readonly<Record<string, JsonMember | null | undefined>> // An object of JSON.
  return Object.fromEntries(
    members.flatMap((member): [string, unknown][] => {
      const value = Object.hasOwn(source, member.key) ? source[member.key] : undefined
      if (value === undefined || value === null) return []
      if (member.kind === 'value') return [[member.field, member.type.fromJson(value)]]
      const inner = member.of()
      if (member.kind === 'row') return [[member.field, readRow(inner, value)]]
      return [[member.field, elementsOf(value).map((one) => readRow(inner, one))]]
    })
  )
}

/** A body in JSON, with the names of those members whose text is no JSON, and which stand in it as null. */
export interface WrittenBody {
  readonly text: string
  /** JSON pointers. */
  readonly malformed: readonly string[]
}

/**
 * The body that a message stands for: a member for each field that is present. `names` are paths of a field mask, of which
 * each is a member, null where the field is absent; a path that the message does not have is a member too, since the
 * service says what it takes.
 */
export function writeBody(row: RowType, message: Message, names: BodyNames = {}): WrittenBody {
  const malformed: string[] = []
  const { only, nulls = [] } = names
  const written = new Map(memberTexts(row, message, { at: '', malformed }))
  const keyOf = (path: string): string => row.members.find(({ field }) => field === path)?.key ?? path
  const chosen = only === undefined ? [...written.keys()] : only.map(keyOf)
  const keys = new Set([...chosen, ...nulls.map(keyOf)])
  const kept = Array.from(keys, (key) => `${JSON.stringify(key)}:${written.get(key) ?? 'null'}`)
  return { text: `{${kept.join()}}`, malformed }
}

interface BodyNames {
  /** Members of the body; every present field without it. */
  readonly only?: readonly string[] | undefined
  /** Members that are null, and not left out. */
  readonly nulls?: readonly string[]
}

function memberTexts(
  { members }: RowType,
  message: Message,
  { at, malformed }: { readonly at: string; readonly malformed: string[] }
): (readonly [key: string, text: string])[] {
  return members.flatMap((member): (readonly [string, string])[] => {
    const { key, field } = member
    const value = message[field]
    if (value === undefined || value === null) return []
    const pointer = `${at}/${key}`
    if (member.kind === 'value') {
      const text = member.type.toJson(value)
      if (text === undefined) malformed.push(pointer)
      return [[key, text ?? 'null']]
    }
    const object = (one: unknown, place: string): string =>
      // Of our own codec.
      `{${memberTexts(member.of(), one as Message, { at: place, malformed })
        .map(([name, text]) => `${JSON.stringify(name)}:${text}`)
        .join()}}`
    if (!Array.isArray(value)) return [[key, object(value, pointer)]]
    const rows: readonly unknown[] = value
    // An absent list and an empty one are the same in a message.
    if (rows.length === 0) return []
    return [[key, `[${rows.map((one, index) => object(one, `${pointer}/${index}`)).join()}]`]]
  })
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
  readonly idType: ValueType
}

/** The id as it stands in a path; empty where none was sent, which is no id. */
export function idText({ idType }: ResourceTypes, request: Message): string {
  const { id } = request
  return id === undefined ? '' : idType.toText(id)
}

/** The owner whose rows are asked for, where the resource has an owner filter. */
export function ownerFields({ ownerProperty = '' }: Resource): FieldSpec[] {
  if (ownerProperty === '') return []
  return [{ key: 'owner', type: 'int64', comment: `Whose rows, by ${ownerProperty}; those of the caller without it.` }]
}

export function ownerOf({ owner }: Message): { readonly ownerParameter?: string } {
  return owner === undefined ? {} : { ownerParameter: scalarText(owner) }
}
