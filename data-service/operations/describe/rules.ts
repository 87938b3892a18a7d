import type { Access } from '../../../shared/gen/entity/v1/Access.js'
import type { Action as WireAction } from '../../../shared/gen/entity/v1/Action.js'
import type { PropertyValues } from '../../../shared/gen/entity/v1/PropertyValues.js'
import type { ReadAccess as WireReadAccess } from '../../../shared/gen/entity/v1/ReadAccess.js'
import type { Resource as WireResource } from '../../../shared/gen/entity/v1/Resource.js'
import type { ReadAccess } from '../../entity/access.js'
import type { Action, RequiredColumns } from '../../entity/action.js'
import { readsOf } from '../../entity/operations.js'
import type { Resource } from '../../plan/model/catalogue.js'

// What the catalogue tells of who may do what, and in which states. Of properties that the caller may not see it tells nothing.

/** Who may read and write a resource, and the states in which its rows can be deleted. */
export function describeRules(
  resource: Resource
): Pick<WireResource, 'readAccess' | 'writeAccess' | 'writeAccesses' | 'writesUnseen' | 'deleteStates'> {
  const { writeAccess, writesUnseen, writes, deletion } = resource.entity
  const writeAccesses = describeTogether([...writeAccess], resource)
  const [only, ...others] = writeAccesses
  return {
    readAccess: describeReads(resource),
    ...(only === undefined || others.length > 0 ? {} : { writeAccess: only.access }),
    writeAccesses,
    writesUnseen,
    deleteStates: writes.has('delete') ? describeStates(deletion.required, resource) : []
  }
}

/** What an action takes besides the write access, the states in which it can be done, and the state that follows. */
export function describeActionRules(
  { permission, handsOver, required, becomes }: Action,
  resource: Resource
): Pick<WireAction, 'permission' | 'handsOver' | 'states' | 'becomes'> {
  return {
    permission: permission ?? '',
    handsOver,
    states: describeStates(required, resource),
    becomes: describeStates(becomes, resource)
  }
}

function describeReads(resource: Resource): WireReadAccess[] {
  const { entity } = resource
  const { access, customReads } = entity
  const rules = [
    ...readsOf(entity).map((operation) => [operation, access[operation]] as const),
    ...Array.from(customReads, ([name, read]) => [name, read.access] as const)
  ]
  return describeTogether(rules, resource)
}

/** Operations with the same rule are told together. */
function describeTogether(
  rules: readonly (readonly [operation: string, rule: ReadAccess])[],
  resource: Resource
): { readonly operations: string[]; readonly access: Access }[] {
  const told = new Map<string, { readonly operations: string[]; readonly access: Access }>()
  for (const [operation, rule] of rules) {
    const described = describeAccess(rule, resource)
    const text = JSON.stringify(described)
    const known = told.get(text)
    if (known === undefined) told.set(text, { operations: [operation], access: described })
    else known.operations.push(operation)
  }
  return [...told.values()]
}

function describeAccess(access: ReadAccess, resource: Resource): Access {
  switch (access.kind) {
    case 'everyone':
      return { kind: 'ACCESS_KIND_EVERYONE' }
    case 'permission':
      return { kind: 'ACCESS_KIND_PERMISSION', permission: access.permission }
    case 'ownRows':
      return { kind: 'ACCESS_KIND_OWN_ROWS', property: isShown(access.property, resource) ? access.property : '' }
    case 'rows':
      return { kind: 'ACCESS_KIND_ROWS' }
    case 'anyOf':
      return { kind: 'ACCESS_KIND_ANY_OF', parts: access.parts.map((part) => describeAccess(part, resource)) }
    case 'allOf':
      return { kind: 'ACCESS_KIND_ALL_OF', parts: access.parts.map((part) => describeAccess(part, resource)) }
  }
}

function describeStates(states: RequiredColumns, resource: Resource): PropertyValues[] {
  const shown = states.filter(({ column }) => isShown(column.name, resource))
  return shown.map(({ column, anyOf }) => ({
    property: column.name,
    values: anyOf.map((value) => JSON.stringify(value))
  }))
}

function isShown(name: string, { properties }: Resource): boolean {
  return properties.has(name.toLowerCase())
}
