import { MAX_CHILDREN } from '../../shared/request-limits.js'
import type { Action, Navigation, Property, Resource } from '../data/data-client.js'
import type { Components } from './components.js'
import { idSchema, inputSchema, propertySchema, valueSchema } from './property-schema.js'

// The schemas of a resource. Each is a component that the operations refer to.

function isChildren({ kind }: Navigation): boolean {
  return kind === 'NAVIGATION_KIND_CHILDREN'
}

/** A row as reads and writes answer it. Members that an include brings are the only ones that may be absent. */
export function rowSchema(components: Components, resource: Resource): object {
  const { name, properties } = resource
  return components.refer('schemas', name, () => ({
    type: 'object',
    description: resource.description,
    required: properties.map((property) => property.name),
    properties: { ...members(components, properties), ...navigationSchemas(components, resource) }
  }))
}

/** A row as a write answers it: the id alone where its caller does not read the row, which `maybeUnseen` says can be. */
export function writtenSchema(components: Components, resource: Resource, maybeUnseen = false): object {
  const { name, properties, writesUnseen } = resource
  const row = rowSchema(components, resource)
  if (!writesUnseen && !maybeUnseen) return row
  const unseen = components.refer('schemas', `${name}.unseen`, () => ({
    type: 'object',
    description: 'A row that its caller may write and does not read.',
    required: ['id'],
    properties: members(
      components,
      properties.filter((property) => property.name === 'id')
    ),
    additionalProperties: false
  }))
  return { anyOf: [row, unseen] }
}

/**
 * A row as a read answers it that may take `fields`: all of the row, or, in the exact document, the members that were asked
 * for.
 */
export function shapedRowSchema(components: Components, resource: Resource): object {
  const { name, properties } = resource
  if (!components.exact) return rowSchema(components, resource)
  const selected = components.refer('schemas', `${name}.selected-fields`, () => ({
    type: 'object',
    description: 'The members that `fields` asked for.',
    properties: {
      ...members(
        components,
        properties.filter(({ selectable }) => selectable)
      ),
      ...navigationSchemas(components, resource)
    }
  }))
  return { anyOf: [rowSchema(components, resource), selected] }
}

/** The navigations of a row, each in a component, since rows and selected fields both have them. */
function navigationSchemas(components: Components, { name, navigations }: Resource): Readonly<Record<string, object>> {
  return Object.fromEntries(
    navigations.map((navigation) => [navigation.name, navigationSchema(components, name, navigation)])
  )
}

function navigationSchema(components: Components, owner: string, navigation: Navigation): object {
  if (isChildren(navigation)) {
    return {
      type: 'array',
      description: BY_CHILDREN,
      items: childSchema(components, `${owner}.${navigation.name}`, navigation)
    }
  }
  if (navigation.kind === 'NAVIGATION_KIND_MANY_TO_MANY') {
    return { type: 'array', description: BY_CHILDREN, items: targetSchema(components, navigation) }
  }
  return referenceSchema(components, navigation, 'Only with includeFKs=true, or where include names it.')
}

const BY_CHILDREN = 'Only with includeChildren=true, or where include names it.'

function referenceSchema(components: Components, navigation: Navigation, description: string): object {
  return { description, anyOf: [targetSchema(components, navigation), { type: 'null' }] }
}

function targetSchema(components: Components, { resource }: Navigation): object {
  const target = components.resource(resource)
  return target === undefined ? { type: 'object' } : rowSchema(components, target)
}

/** The schema of a child, which has its own children: `orders.lines`, `orders.lines.discounts`. */
function childSchema(components: Components, name: string, child: Navigation): object {
  const { properties, navigations, references } = child
  return components.refer('schemas', name, () => ({
    type: 'object',
    required: [...properties, ...navigations].map((one) => one.name),
    properties: {
      ...members(components, properties),
      ...Object.fromEntries(
        references.map((one) => [one.name, referenceSchema(components, one, 'Only where include names it.')])
      ),
      ...Object.fromEntries(navigations.map((one) => [one.name, navigationSchema(components, name, one)]))
    }
  }))
}

export function lookupSchema(components: Components, { name, properties }: Resource): object {
  const id = properties.find((property) => property.name === 'id')
  return components.refer('schemas', `${name}.lookup`, () =>
    components.share('schemas', `Lookup.${id?.type ?? 'any'}`, {
      type: 'object',
      required: ['items'],
      properties: {
        items: {
          type: 'array',
          items: {
            type: 'object',
            required: ['id', 'name'],
            properties: { id: id === undefined ? {} : valueSchema(id), name: { type: ['string', 'null'] } }
          }
        }
      }
    })
  )
}

/** Which of the members there are depends on the request. A whole number that is counted or summed may be of any size. */
export function totalsSchema(components: Components, { name, totals }: Resource): object {
  const measured = (property: Property): object =>
    property.type === 'int' ? { type: property.nullable ? ['integer', 'null'] : 'integer' } : propertySchema(property)
  return components.refer('schemas', `${name}.totals`, () => ({
    type: 'array',
    items: {
      type: 'object',
      properties: {
        ...members(components, totals?.dimensions ?? []),
        ...Object.fromEntries((totals?.measures ?? []).map((measure) => [measure.name, measured(measure)]))
      }
    }
  }))
}

function members(components: Components, properties: readonly Property[]): Readonly<Record<string, object>> {
  return Object.fromEntries(properties.map((property) => [property.name, member(components, property, 'answer')]))
}

/** Types whose schemas are long, and the same for most properties. */
const SHARED_TYPES: readonly string[] = ['int', 'long', 'decimal', 'dateTime', 'time', 'guid']

/**
 * The schema of a member of an answer, or of an input. In the exact document it is where the member is; in the other one long
 * ones that are alike are one component.
 */
function member(components: Components, property: Property, of: 'answer' | 'input'): object {
  const schema = of === 'input' ? inputSchema(property) : propertySchema(property)
  const { type, nullable, precision, scale, fractionDigits, minimum, maximum, description, defaultValue } = property
  const own = [minimum, maximum, description, defaultValue, property.schema, property.writableBy]
  const isPlain = own.every((one) => one === '') && !property.preset
  if (components.exact || !SHARED_TYPES.includes(type) || !isPlain) return schema
  const digits = type === 'decimal' ? `-${precision}-${scale}` : fractionDigits > 0 ? `-${fractionDigits}` : ''
  const name = `Value.${type}${digits}${of === 'input' ? '.input' : ''}${nullable ? '.orNull' : ''}`
  return components.share('schemas', name, schema)
}

/** Properties that a body may set, those that no answer shows last. */
export function settableProperties(
  { properties, writeOnly }: Pick<Resource, 'properties' | 'writeOnly'>,
  by: 'setOnCreate' | 'setOnUpdate'
): readonly Property[] {
  return [...properties, ...writeOnly].filter((property) => property[by])
}

/** What bodies of creates are described by: see DESCRIBED_ONCE of the parameters. */
export const CREATED =
  'Members with a default may be left out, and so may those that may be null and those that the token names. Others are ' +
  'ignored.'

/** The body of a create, and of each item of a batch. */
export function createSchema(components: Components, resource: Resource): object {
  const { navigations, createdChildren } = resource
  return components.refer('schemas', `${resource.name}.create`, () => {
    const children = navigations.filter((one) => isChildren(one) && createdChildren.includes(one.name))
    const schema = newObject(components, resource)
    return {
      ...schema,
      ...(components.exact ? { description: CREATED } : {}),
      properties: {
        ...schema.properties,
        ...Object.fromEntries(children.map((child) => [child.name, childrenSchema(components, child)]))
      }
    }
  })
}

function childrenSchema(components: Components, children: Navigation): object {
  return { type: 'array', maxItems: MAX_CHILDREN, items: newObject(components, children) }
}

function newObject(components: Components, of: Pick<Resource, 'properties' | 'writeOnly'>): ObjectSchema {
  const settable = settableProperties(of, 'setOnCreate')
  return {
    type: 'object',
    required: settable.filter(({ requiredOnCreate }) => requiredOnCreate).map(({ name }) => name),
    properties: inputMembers(components, settable)
  }
}

/** The body of a PUT. */
export function updateSchema(components: Components, resource: Resource): object {
  const settable = settableProperties(resource, 'setOnUpdate')
  return components.refer('schemas', `${resource.name}.update`, () => ({
    type: 'object',
    properties: inputMembers(components, settable),
    required: settable.filter((one) => !one.nullable && !one.optionalOnUpdate).map((one) => one.name)
  }))
}

/** The body of a PATCH. What it has of JSON is merged into the stored value, and need not meet its schema by itself. */
export function patchSchema(components: Components, resource: Resource): object {
  const settable = settableProperties(resource, 'setOnUpdate').map((one) =>
    one.type === 'json' ? { ...one, schema: '' } : one
  )
  return components.refer('schemas', `${resource.name}.patch`, () => ({
    type: 'object',
    properties: inputMembers(components, settable)
  }))
}

/** An item of a batch of changes. It is no update request, and so has the version of its row. */
export function changeSchema(components: Components, resource: Resource): object {
  return components.refer('schemas', `${resource.name}.change`, () => ({
    allOf: [guardedItem(components, resource), patchSchema(components, resource)]
  }))
}

/** An item of a batch of deletes. */
export function deletedSchema(components: Components, resource: Resource): object {
  return components.refer('schemas', `${resource.name}.deleted`, () => guardedItem(components, resource))
}

/** Those of one type of ids are one. */
function guardedItem(components: Components, { properties }: Resource): object {
  const id = properties.find(({ name }) => name === 'id')
  return components.share('schemas', `RowWithVersion.${id?.type ?? 'string'}`, {
    type: 'object',
    required: ['id', 'rowVersion'],
    properties: {
      id: id === undefined ? { type: 'string' } : idSchema(id),
      rowVersion: { ...CHILD_VERSION, description: 'The `rowVersion` that the row was last read with.' }
    }
  })
}

/** The body of an action. Only that of an action on a child has a member with a row version. */
export function actionSchema(components: Components, resource: string, action: Action): object {
  const { name, input, childPrecondition } = action
  return components.refer('schemas', `${resource}.${name}.input`, () => {
    const schema = { type: 'object', properties: inputMembers(components, input) }
    const required = input.filter((member) => member.requiredOnCreate || !member.nullable).map((member) => member.name)
    if (childPrecondition === '') return { ...schema, ...(required.length === 0 ? {} : { required }) }
    return {
      ...schema,
      required: [...required, childPrecondition],
      properties: { ...schema.properties, [childPrecondition]: CHILD_VERSION }
    }
  })
}

const CHILD_VERSION = {
  type: 'string',
  contentEncoding: 'base64',
  minLength: 1,
  pattern: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  description: 'The `rowVersion` that the child was last read with.'
} as const

interface ObjectSchema {
  readonly type: 'object'
  readonly required: readonly string[]
  readonly properties: object
}

function inputMembers(components: Components, properties: readonly Property[]): Readonly<Record<string, object>> {
  return Object.fromEntries(properties.map((property) => [property.name, member(components, property, 'input')]))
}
