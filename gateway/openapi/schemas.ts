import type { Action, Navigation, Property, Resource } from '../data/data-client.js'
import { inputSchema, propertySchema, valueSchema } from './property-schema.js'

function isChildren({ kind }: Navigation): boolean {
  return kind === 'NAVIGATION_KIND_CHILDREN'
}

/** The schemas of a resource: its row, its children, its lookup, and the bodies of its writes. */
export function resourceSchemas(resource: Resource): Readonly<Record<string, object>> {
  const { name, navigations, properties } = resource
  const row = {
    type: 'object',
    description: `${resource.description} With \`fields\` only the members asked for are there.`,
    properties: {
      ...members(properties),
      ...Object.fromEntries(navigations.map((navigation) => [navigation.name, navigationSchema(name, navigation)]))
    }
  }
  return {
    [name]: row,
    ...childSchemas(name, navigations),
    [`${name}.lookup`]: lookupSchema(properties),
    ...writeSchemas(resource)
  }
}

function navigationSchema(owner: string, navigation: Navigation): object {
  if (isChildren(navigation)) {
    return {
      type: 'array',
      description: 'Only with includeChildren=true.',
      items: { $ref: `#/components/schemas/${childName(owner, navigation)}` }
    }
  }
  const row = { $ref: `#/components/schemas/${navigation.resource}` }
  if (navigation.kind === 'NAVIGATION_KIND_MANY_TO_MANY') {
    return { type: 'array', description: 'Only with includeChildren=true.', items: row }
  }
  return {
    description: 'Only with includeFKs=true.',
    anyOf: [row, { type: 'null' }]
  }
}

function childName(owner: string, { name }: Navigation): string {
  return `${owner}.${name}`
}

/** The schemas of children, and of their own children: `orders.lines`, `orders.lines.discounts`. */
function childSchemas(owner: string, navigations: readonly Navigation[]): Readonly<Record<string, object>> {
  const schemas = navigations.filter(isChildren).flatMap((child): [string, object][] => {
    const name = childName(owner, child)
    return [[name, childSchema(name, child)], ...Object.entries(childSchemas(name, child.navigations))]
  })
  return Object.fromEntries(schemas)
}

function childSchema(schemaName: string, { properties, navigations }: Navigation): object {
  const nested = navigations.map((one): [string, object] => [one.name, navigationSchema(schemaName, one)])
  return {
    type: 'object',
    required: [...properties, ...navigations].map(({ name }) => name),
    properties: { ...members(properties), ...Object.fromEntries(nested) }
  }
}

function lookupSchema(properties: readonly Property[]): object {
  const id = properties.find(({ name }) => name === 'id')
  return {
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
  }
}

function members(properties: readonly Property[]): Readonly<Record<string, object>> {
  return Object.fromEntries(properties.map((property) => [property.name, propertySchema(property)]))
}

/** The schemas of the bodies of writes. Only the body of an action on a child has a member with a row version. */
function writeSchemas(resource: Resource): Readonly<Record<string, object>> {
  const { name, operations, actions } = resource
  return {
    ...(operations.includes('create') ? { [`${name}.create`]: createSchema(resource) } : {}),
    ...(operations.includes('update')
      ? { [`${name}.update`]: updateSchema(resource), [`${name}.patch`]: patchSchema(resource) }
      : {}),
    ...Object.fromEntries(actions.map((action) => [inputSchemaName(name, action.name), actionSchema(action)]))
  }
}

export function inputSchemaName(resource: string, action: string): string {
  return `${resource}.${action}.input`
}

function createSchema({ properties, navigations, createdChildren }: Resource): object {
  const children = navigations.filter((one) => isChildren(one) && createdChildren.includes(one.name))
  const schema = newObject(properties)
  return {
    ...schema,
    description:
      'Members with a default may be left out, and so may those that may be null and an owner that the token names. ' +
      'Others are ignored.',
    properties: {
      ...schema.properties,
      ...Object.fromEntries(children.map((child) => [child.name, childrenSchema(child)]))
    }
  }
}

function childrenSchema({ properties }: Navigation): object {
  return { type: 'array', items: newObject(properties) }
}

function newObject(properties: readonly Property[]): ObjectSchema {
  const settable = properties.filter(({ setOnCreate }) => setOnCreate)
  return {
    type: 'object',
    required: settable.filter(({ requiredOnCreate }) => requiredOnCreate).map(({ name }) => name),
    properties: inputMembers(settable)
  }
}

function updateSchema({ properties }: Resource): ObjectSchema {
  const settable = properties.filter(({ setOnUpdate }) => setOnUpdate)
  return {
    ...objectOf(settable),
    required: settable.filter((one) => !one.nullable && !one.optionalOnUpdate).map(({ name }) => name)
  }
}

/** What a patch has of JSON is merged into the stored value, and need not meet its schema by itself. */
function patchSchema(resource: Resource): ObjectSchema {
  const properties = resource.properties.map((one) => (one.type === 'json' ? { ...one, schema: '' } : one))
  return { ...updateSchema({ ...resource, properties }), required: [] }
}

function actionSchema({ input, childPrecondition }: Action): object {
  const { required, properties, ...schema } = objectOf(input)
  if (childPrecondition === '') return { ...schema, required, properties }
  return {
    ...schema,
    required: [...required, childPrecondition],
    properties: { ...properties, [childPrecondition]: CHILD_VERSION }
  }
}

const CHILD_VERSION = {
  type: 'string',
  contentEncoding: 'base64',
  minLength: 1,
  description: 'The `rowVersion` that the child was last read with.'
} as const

interface ObjectSchema {
  readonly type: 'object'
  readonly required: readonly string[]
  readonly properties: object
}

function objectOf(properties: readonly Property[]): ObjectSchema {
  return {
    type: 'object',
    required: properties.filter(({ nullable }) => !nullable).map(({ name }) => name),
    properties: inputMembers(properties)
  }
}

function inputMembers(properties: readonly Property[]): Readonly<Record<string, object>> {
  return Object.fromEntries(properties.map((property) => [property.name, inputSchema(property)]))
}
