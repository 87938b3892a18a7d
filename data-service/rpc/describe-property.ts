import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { Column } from '../entity/entity.js'
import type { Resource } from '../plan/catalogue.js'
import { aliasesOf } from '../plan/parse-operator.js'
import type { ShapedProperty } from '../plan/read-plan.js'

/** A property of a resource in the catalogue's words; undefined for navigations. */
export function describeProperty(property: ShapedProperty, resource: Resource): Property | undefined {
  switch (property.kind) {
    case 'column':
      return {
        ...describeColumn(property.column),
        ...settable(property.column, resource),
        ...queryable(property.column.name, resource),
        selectable: true
      }
    case 'joined': {
      const { name, field } = property.joined
      return {
        ...describeColumn({ ...property.column, name, field }),
        ...queryable(name, resource)
      }
    }
    case 'computed': {
      const { name, type, nullable } = property.computed
      return { name, type, nullable }
    }
    case 'rowVersion':
      return { ...rowVersion, selectable: true }
    case 'reference':
    case 'children':
      return undefined
  }
}

/** Every row of a root or a child has one. */
export const rowVersion: Property = { name: 'rowVersion', type: 'bytes' }

export function describeColumn({ name, field }: Column): Property {
  const { type, nullable } = field
  return {
    name,
    type,
    nullable,
    minLength: type === 'string' ? field.minLength : 0,
    maxLength: type === 'string' ? field.maxLength : 0,
    minimum: field.minimum ?? '',
    maximum: field.maximum ?? '',
    precision: type === 'decimal' ? field.precision : 0,
    scale: type === 'decimal' ? field.scale : 0
  }
}

/** A child's column; children are set with their root's creation alone. */
export function describeChildColumn(column: Column, created: boolean): Property {
  const setOnCreate = created && isSettable(column)
  return { ...describeColumn(column), setOnCreate, requiredOnCreate: setOnCreate && mustBeGiven(column) }
}

function settable(
  column: Column,
  { entity }: Resource
): Pick<Property, 'setOnCreate' | 'requiredOnCreate' | 'setOnUpdate'> {
  const setOnCreate = entity.writes.has('create') && isSettable(column)
  const { writeAccess } = entity
  const isOwner = writeAccess?.kind === 'ownRows' && writeAccess.property === column.name
  return {
    setOnCreate,
    requiredOnCreate: setOnCreate && !isOwner && mustBeGiven(column),
    setOnUpdate: entity.writes.has('update') && isSettable(column) && column.field.writability === 'always'
  }
}

function mustBeGiven({ field }: Column): boolean {
  return !field.nullable && field.defaultTo === undefined
}

function isSettable({ name, field }: Column): boolean {
  return name !== 'id' && field.writability !== 'never'
}

function queryable(
  name: string,
  resource: Resource
): Pick<Property, 'filterable' | 'sortable' | 'operators' | 'operatorAliases'> {
  const filterable = resource.filterable.get(name.toLowerCase())
  const operators = filterable?.operators ?? []
  return {
    filterable: filterable !== undefined,
    sortable: resource.sortable.has(name.toLowerCase()),
    operators: [...operators],
    operatorAliases: filterable === undefined ? [] : [...aliasesOf(filterable.field.type, operators)]
  }
}
