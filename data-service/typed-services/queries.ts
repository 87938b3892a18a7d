import type { Filter__Output } from '../../shared/gen/entity/v1/Filter.js'
import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { Resource } from '../../shared/gen/entity/v1/Resource.js'
import type { Selection__Output } from '../../shared/gen/entity/v1/Selection.js'
import type { Shape__Output } from '../../shared/gen/entity/v1/Shape.js'
import type { FieldType } from '../entity/fields/field.js'
import { type Operator, operatorsOf } from '../entity/fields/operators.js'
import type { Numbers } from './numbers.js'
import { type RowType, typeWithin } from './rows.js'
import {
  type EnumType,
  fieldOf,
  type FieldSpec,
  makeEnum,
  makeMessage,
  type MessageType,
  pascalCase,
  protoFieldName
} from './schema.js'
import { type Message, scalarText, type ValueType } from './values.js'

// Filters, orders and parts of rows in typed messages, and the texts that they stand for in the generic ones.

/** Messages of conditions, which all resources share. */
export class Conditions {
  readonly #numbers: Numbers
  readonly #shared = new Map<string, MessageType>()

  constructor(numbers: Numbers) {
    this.#numbers = numbers
  }

  get types(): readonly MessageType[] {
    return [...this.#shared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The condition on a property. That of an enum or a set is a type of its own within `filter`. */
  of(
    { name = '', type = '' }: Property,
    value: ValueType,
    { filter, nested }: { readonly filter: string; readonly nested: MessageType[] }
  ): MessageType {
    const fieldType = type as FieldType // A word of Describe.
    if (value.conditions === '') {
      const own = this.#make(`${filter}.${pascalCase(name)}Condition`, fieldType, operandType(fieldType, value))
      nested.push(own)
      return own
    }
    const shared = `${value.conditions}Condition`
    // An enum that is a text has the condition of texts.
    const made = this.#shared.get(shared) ?? this.#make(shared, type === 'enum' ? 'string' : fieldType, value.proto)
    this.#shared.set(shared, made)
    return made
  }

  #make(name: string, type: FieldType, operand: string): MessageType {
    const nested: MessageType[] = []
    const specs = operatorsOf(type).flatMap(({ comparison, arity, word }): FieldSpec[] => {
      const spec = { label: 'oneof', comment: `The operator \`${word}\`.` } as const
      switch (arity) {
        case 'one':
          return [{ ...spec, key: comparison, type: operand }]
        case 'two':
          nested.push(
            makeMessage(this.#numbers, { name: `${name}.Range`, comment: 'Both ends are part of it.' }, [
              { key: 'low', type: operand, comment: 'The least value.' },
              { key: 'high', type: operand, comment: 'The greatest value.' }
            ])
          )
          return [{ ...spec, key: comparison, type: `${name}.Range` }]
        case 'list':
          nested.push(
            makeMessage(this.#numbers, { name: `${name}.Values`, comment: 'At least one value.' }, [
              { key: 'values', type: operand, label: 'repeated', comment: 'One of these.' }
            ])
          )
          return [{ ...spec, key: IN, type: `${name}.Values` }]
        case 'none': {
          const comment = 'True keeps rows without a value, false those with one.'
          return comparison === 'isEmpty' ? [{ ...spec, key: comparison, type: 'bool', comment }] : []
        }
      }
    })
    return makeMessage(this.#numbers, { name, comment: 'One condition.', oneof: 'operator', nested }, specs)
  }
}

/** `in` is a keyword of the languages that the proto is compiled for. */
const IN = 'in_values'

/** A set is compared with one of its words. */
function operandType(type: FieldType, { proto }: ValueType): string {
  return type === 'set' ? proto.replace(/Set$/, '') : proto
}

/** How the rows of a resource are chosen and ordered. */
export interface QueryType {
  readonly types: readonly (MessageType | EnumType)[]
  /** Fields of a request that lists or exports rows. */
  readonly fields: readonly FieldSpec[]
  readonly selection: (request: Message) => Selection__Output
}

export function makeQuery(
  { name: resource = '', properties = [] }: Resource,
  row: RowType,
  { numbers, conditions }: { readonly numbers: Numbers; readonly conditions: Conditions }
): QueryType {
  const types: (MessageType | EnumType)[] = []
  const fields: FieldSpec[] = []
  const rowName = row.message.name
  const filtered = properties.filter(({ filterable }) => filterable)
  const nested: MessageType[] = []
  const compared = filtered.flatMap((property) => {
    const member = row.members.find(({ key }) => key === property.name)
    if (member?.kind !== 'value') return []
    const condition = conditions.of(property, member.type, { filter: `${rowName}Filter`, nested })
    return [{ property, value: member.type, condition }]
  })
  const filter = makeMessage(
    numbers,
    {
      name: `${rowName}Filter`,
      comment: `Conditions on ${resource}, all of which must hold, several on one property included.`,
      nested
    },
    compared.map(({ property: { name = '', operators = [] }, condition }) => ({
      key: name,
      type: condition.name,
      label: 'repeated',
      comment: `Conditions on ${name}. Its operators: ${operators.join(', ')}.`
    }))
  )
  if (compared.length > 0) {
    types.push(filter)
    fields.push({ key: 'filter', type: filter.name, label: 'plain', comment: 'Which rows; all without it.' })
    const comment = 'At most ten groups: of the conditions of each, one at least must hold.'
    fields.push({ key: 'any_of', type: filter.name, label: 'repeated', comment })
  }
  const sortable = properties.flatMap(({ name = '', sortable: can }) => (can ? [name] : []))
  const order = makeEnum(
    numbers,
    { name: `${rowName}SortProperty`, comment: `What ${resource} are sorted by.` },
    sortable
  )
  if (sortable.length > 0) {
    const sort = makeMessage(numbers, { name: `${rowName}Sort`, comment: 'One key of the order.' }, [
      { key: 'property', type: order.name, label: 'plain', comment: 'Sorted by its values.' },
      { key: 'descending', type: 'bool', label: 'plain', comment: 'Whether the greatest comes first.' }
    ])
    types.push(order, sort)
    fields.push({
      key: 'sort',
      type: sort.name,
      label: 'repeated',
      comment: 'At most four keys. The id is always the last, in the direction of the key before it.'
    })
  }
  if (properties.some(({ searchable }) => searchable)) {
    const comment =
      'Words with white space between: each must be contained in a searchable property, or begin a word of one where a ' +
      'full-text index serves the search.'
    fields.push({ key: 'search', type: 'string', comment })
  }
  const words = new Map(order.words.map(({ word, name }) => [name, word]))
  const filtersOf = (asked: Message): Filter__Output[] =>
    compared.flatMap(({ property, value }, index) =>
      ((asked[filter.fields[index]?.name ?? ''] ?? []) as readonly Message[]).map((one) =>
        filterOf(property, value, one)
      )
    )
  return {
    types,
    fields,
    selection: (request) => {
      const asked = (request['filter'] ?? {}) as Message // Of our own codec, as what follows.
      const groups = (request['any_of'] ?? []) as readonly Message[]
      const keys = (request['sort'] ?? []) as readonly Message[]
      const search = request['search'] as string | undefined
      return {
        filters: filtersOf(asked),
        anyOf: groups.map((group) => ({ filters: filtersOf(group) })),
        ...(keys.length === 0
          ? {}
          : {
              // A number that the enum does not have is no name of a property, and is rejected as such.
              sortColumn: keys.map(({ property }) => words.get(scalarText(property)) ?? scalarText(property)).join(),
              sortDirection: keys.map(({ descending }) => (descending === true ? 'desc' : 'asc')).join()
            }),
        ...(search === undefined ? {} : { search })
      }
    }
  }
}

/** A condition in the texts of the generic service, whose parser says what it does not take. */
function filterOf({ name = '', type = '' }: Property, value: ValueType, condition: Message): Filter__Output {
  const field = scalarText(condition['operator'])
  const operand = condition[field]
  const operator = operatorsOf(type as FieldType).find((one) => fieldOfOperator(one) === field)
  const of = (word: string, text: string): Filter__Output => ({ property: name, operator: word, value: text })
  if (operator === undefined) return of('', '')
  switch (operator.arity) {
    case 'none':
      return of(operand === true ? 'is empty' : 'is not empty', '')
    case 'one':
      return of(operator.word, type === 'set' ? value.toText({ words: [operand] }) : value.toText(operand))
    case 'two': {
      const { low, high } = operand as Message // Of our own codec.
      return of(operator.word, [low ?? '', high ?? ''].map((end) => quotedItem(value.toText(end))).join())
    }
    case 'list': {
      const { values = [] } = operand as { readonly values?: readonly unknown[] } // Of our own codec.
      // In texts a list without items is one empty item, which a string may equal.
      if (values.length === 0) return of(`${operator.word} without values`, '')
      return of(operator.word, values.map((item) => quotedItem(value.toText(item))).join())
    }
  }
}

function fieldOfOperator({ comparison, arity }: Operator): string {
  return arity === 'list' ? IN : protoFieldName(comparison)
}

/** So that commas and white space in it are its own. */
function quotedItem(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** Parameters of a read or an operation. */
export interface ParameterTypes {
  readonly fields: readonly FieldSpec[]
  /** The texts of those that a request has, by their names. */
  readonly texts: (request: MessageType, message: Message) => Record<string, string>
}

/** `keyOf` tells parameters from other fields of the request that have their name. */
export function makeParameters(
  parameters: readonly Property[],
  within: Parameters<typeof typeWithin>[1],
  keyOf = (name: string): string => name
): ParameterTypes {
  const taken = parameters.map((property) => {
    const { name = '', description = '', nullable = false } = property
    const type = typeWithin(property, within)
    const comment = description === '' ? (nullable ? 'May be left out.' : 'Required.') : description
    return { name, type, spec: { key: keyOf(name), type: type.proto, comment } }
  })
  return {
    fields: taken.map(({ spec }) => spec),
    texts: (request, message) =>
      Object.fromEntries(
        taken.flatMap(({ name, type, spec: { key } }): [string, string][] => {
          const value = message[fieldOf(request, key)]
          return value === undefined || value === null ? [] : [[name, type.toText(value)]]
        })
      )
  }
}

/** Fields of a request that say which parts of a row are answered. */
export function shapeFields({ navigations = [] }: Resource): FieldSpec[] {
  const kinds = navigations.map(({ kind }) => kind)
  const include = (key: string, comment: string): FieldSpec => ({ key, type: 'bool', label: 'plain', comment })
  return [
    { key: 'read_mask', type: 'google.protobuf.FieldMask', label: 'plain', comment: 'Which fields; all without it.' },
    ...(kinds.includes('NAVIGATION_KIND_REFERENCE')
      ? [include('include_references', 'Whether the rows that the row refers to come with it.')]
      : []),
    ...(hasCollections({ navigations })
      ? [include('include_children', 'Whether children, and rows behind a link, come with it.')]
      : []),
    ...(navigations.length === 0 ? [] : [INCLUDE])
  ]
}

const INCLUDE: FieldSpec = {
  key: 'include',
  type: 'string',
  label: 'repeated',
  comment:
    'At most ten names of navigations that come with it, as in JSON; one within another behind a dot: lines.product.'
}

/** Whether rows may come with rows of collections. */
function hasCollections({ navigations = [] }: Resource): boolean {
  return navigations.some(({ kind }) => kind !== 'NAVIGATION_KIND_REFERENCE')
}

export const UNSHOWN_VALUES: FieldSpec = {
  key: 'unshown_values',
  type: 'string',
  label: 'repeated',
  comment:
    'Stored values that are none of their type, each absent from its row: 7; property=amount, with the percent-encoded id of the row. At most 20, then more=5.'
}

/** What an answer with rows of the resource says of what they lack. */
export function lackFields({ navigations = [] }: Resource): FieldSpec[] {
  if (navigations.length === 0) return [UNSHOWN_VALUES]
  const comment =
    'The collections of which a row has its first 1000 rows only; one within another navigation as lines.parts.'
  return [{ key: 'truncated_includes', type: 'string', label: 'repeated', comment }, UNSHOWN_VALUES]
}

/** The values of these fields, but for empty ones. */
export function lacksOf({
  truncatedIncludes = [],
  unshownValues = []
}: {
  readonly truncatedIncludes?: readonly string[]
  readonly unshownValues?: readonly string[]
}): Message {
  return {
    ...(truncatedIncludes.length === 0 ? {} : { truncated_includes: truncatedIncludes }),
    ...(unshownValues.length === 0 ? {} : { unshown_values: unshownValues })
  }
}

/** Names of a field mask in JSON. A name that the row does not have is passed on, to be rejected. */
export function fieldsOf(row: RowType, request: Message): Pick<Shape__Output, 'fields'> {
  const { paths = [] } = (request['read_mask'] ?? {}) as { readonly paths?: readonly string[] } // Of our own codec.
  if (paths.length === 0) return {}
  return { fields: paths.map((path) => row.members.find(({ field }) => field === path)?.key ?? path).join() }
}

export function requestedShape(row: RowType, request: Message): Shape__Output {
  const { include = [] } = request as { readonly include?: readonly string[] } // Of our own codec.
  return {
    ...fieldsOf(row, request),
    ...(request['include_references'] === true ? { includeFks: 'true' } : {}),
    ...(request['include_children'] === true ? { includeChildren: 'true' } : {}),
    ...(include.length === 0 ? {} : { include: include.join() })
  }
}
