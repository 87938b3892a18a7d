import type { Action, Navigation, Property, Resource } from '../data-calls.js'
import { inputSchema } from './property-schema.js'
import { isChildren } from './is-children.js'

/** The schemas of what a resource's writes take. No member of them is a row version but that of a child acted on. */
export function writeSchemas(resource: Resource): Readonly<Record<string, object>> {
  const { name, operations, actions } = resource
  return {
    ...(operations.includes('create') ? { [`${name}.create`]: createSchema(resource) } : {}),
    ...(operations.includes('update') ? { [`${name}.update`]: updateSchema(resource) } : {}),
    ...Object.fromEntries(actions.map((action) => [inputSchemaName(name, action.name), actionSchema(action)]))
  }
}

export function inputSchemaName(resource: string, action: string): string {
  return `${resource}.${action}.input`
}

/** Which members must be there is not said: some have a default, and an owner comes from the caller. */
function createSchema({ properties, navigations, createdChildren }: Resource): object {
  const children = navigations.filter((one) => isChildren(one) && createdChildren.includes(one.name))
  return {
    type: 'object',
    description: 'Members with a default may be left out, and so may those that may be null. Others are ignored.',
    properties: {
      ...members(properties.filter(({ setOnCreate }) => setOnCreate)),
      ...Object.fromEntries(children.map((child) => [child.name, childrenSchema(child)]))
    }
  }
}

function childrenSchema({ properties }: Navigation): object {
  return {
    type: 'array',
    items: { type: 'object', properties: members(properties.filter(({ setOnCreate }) => setOnCreate)) }
  }
}

function updateSchema({ properties }: Resource): object {
  return objectOf(properties.filter(({ setOnUpdate }) => setOnUpdate))
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

function objectOf(properties: readonly Property[]): {
  readonly type: 'object'
  readonly required: readonly string[]
  readonly properties: object
} {
  return {
    type: 'object',
    required: properties.filter(({ nullable }) => !nullable).map(({ name }) => name),
    properties: members(properties)
  }
}

function members(properties: readonly Property[]): Readonly<Record<string, object>> {
  return Object.fromEntries(properties.map((property) => [property.name, inputSchema(property)]))
}
