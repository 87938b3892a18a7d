import { StartError } from '../../shared/start-error.js'
import type { Numbers } from './numbers.js'

// What a proto file declares, as values: the text of the file is written from them, and requests and answers are
// translated by them.

export interface MessageType {
  /** In the package, `Order.LinesItem`. */
  readonly name: string
  readonly comment: string
  readonly fields: readonly MessageField[]
  /** Name of the oneof that the fields with this label are of. */
  readonly oneof: string
  readonly nested: readonly (MessageType | EnumType)[]
  readonly reserved: readonly Reserved[]
}

export interface MessageField {
  /** Name in JSON, or the proto name where the field has no member of JSON. */
  readonly key: string
  readonly name: string
  readonly number: number
  /** `string`, `google.protobuf.Timestamp`, `Order.LinesItem`. */
  readonly type: string
  readonly label: Label
  readonly comment: string
}

type Label = 'optional' | 'repeated' | 'plain' | 'oneof'

export interface EnumType {
  readonly name: string
  readonly comment: string
  /** Without that of 0. */
  readonly words: readonly EnumWord[]
  readonly reserved: readonly Reserved[]
}

interface EnumWord {
  readonly word: string
  readonly name: string
  readonly number: number
}

interface Reserved {
  readonly number: number
  readonly name: string
}

export interface ServiceType {
  readonly name: string
  readonly comment: string
  readonly rpcs: readonly {
    readonly name: string
    readonly comment: string
    readonly request: MessageType
    readonly response: MessageType
    readonly streams: boolean
  }[]
}

/** A field that is to have a number. */
export interface FieldSpec {
  readonly key: string
  readonly type: string
  readonly label?: Label
  readonly comment: string
}

export function isEnum(type: MessageType | EnumType): type is EnumType {
  return 'words' in type
}

export function makeMessage(
  numbers: Numbers,
  declared: Pick<MessageType, 'name' | 'comment'> & Partial<Pick<MessageType, 'nested' | 'oneof'>>,
  specs: readonly FieldSpec[]
): MessageType {
  const { name, comment, nested = [], oneof = '' } = declared
  const keys = specs.map(({ key }) => key)
  const twice = keys.find((key, index) => keys.indexOf(key) < index)
  if (twice !== undefined) {
    throw new StartError(
      `${name} of the typed services has two fields called ${twice}. Give the row of its resource another name under ` +
        '"rows" of proto.lock.json, or a parameter another name.'
    )
  }
  const lockedType = ({ type, label }: FieldSpec): string => (label === 'repeated' ? `repeated ${type}` : type)
  const { members, removed } = numbers.assign(
    name,
    specs.map((spec) => ({ key: spec.key, type: lockedType(spec) })),
    ({ key }) => protoFieldName(key)
  )
  const fields = specs.map(({ key, type, label = 'optional', comment: said }, index): MessageField => {
    const { number, name: written } = members[index] ?? { number: 0, name: key }
    return { key, name: written, number, type, label, comment: said }
  })
  return { name, comment, fields, oneof, nested, reserved: removed }
}

/** The name of a field in the proto: a key of which the type has changed has a number at its end. */
export function fieldOf({ fields }: MessageType, key: string): string {
  return fields.find((field) => field.key === key)?.name ?? key
}

export function makeEnum(
  numbers: Numbers,
  declared: { readonly name: string; readonly comment: string },
  words: readonly string[]
): EnumType {
  const { name, comment } = declared
  const prefix = upperSnakeCase(name.slice(name.lastIndexOf('.') + 1))
  const { members, removed } = numbers.assign(
    name,
    words.map((word) => ({ key: word, type: 'word' })),
    ({ key }, number) => {
      const written = upperSnakeCase(key)
      // A word of other letters than those of ASCII has its number for a name, and the comment of the value says it.
      return /^[ -~]+$/.test(key) && /[a-z0-9]/i.test(key) && written !== 'UNSPECIFIED'
        ? `${prefix}_${written}`
        : `${prefix}_VALUE_${number}`
    }
  )
  return {
    name,
    comment,
    words: words.map((word, index) => ({ word, ...(members[index] ?? { number: 0, name: word }) })),
    reserved: removed
  }
}

/** The name of the value 0, which says that none was set. */
export function unspecified({ name }: EnumType): string {
  return `${upperSnakeCase(name.slice(name.lastIndexOf('.') + 1))}_UNSPECIFIED`
}

// Names of a proto package, from the names of resources and properties (https://google.aip.dev/190,
// https://protobuf.dev/programming-guides/style/).

/** `stock-items`, `stockItems` → `StockItems`. */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('')
}

/** `unitPrice`, `unit-price` → `unit_price`; `fooURL` → `foo_url`. */
export function protoFieldName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== '')
    .join('_')
    .toLowerCase()
}

export function upperSnakeCase(name: string): string {
  return protoFieldName(name).toUpperCase()
}

/**
 * The message of one row, `stock-items` → `StockItem`, by the plain rules of English plurals; a name without a plural's end
 * stays as it is. The lock keeps the name, so that it can be changed there before the first release of the proto.
 */
export function rowName(resource: string): string {
  const name = pascalCase(resource)
  if (/[^aeiou]ies$/.test(name)) return name.replace(/ies$/, 'y')
  // Boxes, branches, classes and buses lose two letters; courses, houses and sizes one.
  if (/(?:x|ch|sh|ss|zz|[^ao]us)es$/.test(name)) return name.replace(/es$/, '')
  return /[^s]s$/.test(name) ? name.slice(0, -1) : name
}
