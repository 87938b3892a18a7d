import type { Navigation, Property, Resource } from '../data-calls.js'
import { isChildren } from './is-children.js'
import { propertySchema, valueSchema } from './property-schema.js'
import { writeSchemas } from './write-schemas.js'

/** The schemas of a resource: its row, its children, its lookup, what its writes take. */
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
  const children = navigations.filter(isChildren)
  return {
    [name]: row,
    ...Object.fromEntries(children.map((child) => [childName(name, child), childSchema(child)])),
    [`${name}.lookup`]: lookupSchema(properties),
    ...writeSchemas(resource)
  }
}

function navigationSchema(resource: string, navigation: Navigation): object {
  if (isChildren(navigation)) {
    return {
      type: 'array',
      description: 'Only with includeChildren=true.',
      items: { $ref: `#/components/schemas/${childName(resource, navigation)}` }
    }
  }
  return {
    description: 'Only with includeFKs=true.',
    anyOf: [{ $ref: `#/components/schemas/${navigation.resource}` }, { type: 'null' }]
  }
}

function childName(resource: string, { name }: Navigation): string {
  return `${resource}.${name}`
}

function childSchema({ properties }: Navigation): object {
  return { type: 'object', required: properties.map(({ name }) => name), properties: members(properties) }
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
