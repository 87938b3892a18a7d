import type { ReadAccess, WriteAccess } from '../../data-service/entity/access.js'
import type { CustomRead } from '../../data-service/entity/custom-read.js'
import type { Column, Entity } from '../../data-service/entity/entity.js'
import { entities } from '../../examples/store/entities/index.js'
import { declaredRows } from './declared-rows.js'
import type { CustomReadRule, Guard, OwnerFilter, Rule } from './rule.js'
import { RULES } from '../examples/every-entity/rules.js'

/**
 * What judges an entity: the hand-written rule where there is one. The first tests of a new entity hold it to what its
 * own file declares.
 */
export function ruleOf(entity: Entity): Rule {
  return RULES[entity.name] ?? declared(entity)
}

function declared(entity: Entity): Rule {
  const { columns, computed, joined, access, writeAccess, writes, deletion, actions, customReads } = entity
  const visible = columns.filter(({ field }) => !field.hidden)
  const byPermission = permissionsIn(entity)
  return {
    kind: writes.size === 0 ? 'read' : writes.has('update') ? 'CRUD' : 'root',
    versioned: entity.versioned,
    properties: [...visible, ...computed, ...joined]
      .map(({ name }) => name)
      .filter((name) => !Object.hasOwn(byPermission, name)),
    byPermission,
    searchable: entity.searchable,
    read: guard(entity, access.list),
    get: guard(entity, access.get),
    write: writeAccess && guard(entity, writeAccess),
    deletable: Object.fromEntries(deletion.required.map(({ column, anyOf }) => [column.name, anyOf])),
    actions: Object.fromEntries(Array.from(actions.values(), ({ name, permission }) => [name, permission])),
    customReads: Object.fromEntries(Array.from(customReads.values(), (read) => [read.name, customRead(read)])),
    ownerFilter: filter(entity)
  }
}

/** The properties that take a permission, by the columns that they come from. */
function permissionsIn({ columns, computed, joined, children }: Entity): Rule['byPermission'] {
  const taken = (...sources: readonly Column[]): string[] => sources.flatMap(({ field }) => field.readableBy ?? [])
  const named: readonly (readonly [string, readonly string[]])[] = [
    ...columns.map((column) => [column.name, taken(column)] as const),
    ...computed.map(({ name, from }) => [name, taken(...from)] as const),
    ...joined.map(({ name, through, further, property }) => {
      const sources = [through.via]
      let target = entities.find((one) => one.name === through.to)
      for (const step of further) {
        const reference = target?.references.find((one) => one.name === step)
        sources.push(...(reference === undefined ? [] : [reference.via]))
        target = entities.find((one) => one.name === reference?.to)
      }
      return [name, taken(...sources, ...(target?.columns.filter((one) => one.name === property) ?? []))] as const
    }),
    ...children.flatMap((child) =>
      child.columns.map((column) => [`${child.name}.${column.name}`, taken(column)] as const)
    )
  ]
  return Object.fromEntries(named.filter(([, permissions]) => permissions.length > 0))
}

function guard(entity: Entity, access: ReadAccess | WriteAccess): Guard {
  switch (access.kind) {
    case 'everyone':
      return 'everyone'
    case 'permission':
      return { permission: access.permission }
    case 'ownRows':
      return { column: access.property }
    case 'rows':
    case 'anyOf':
    case 'allOf':
      return declaredRows(entity, access)
  }
}

function customRead({ items: [first], bare, where }: CustomRead): CustomReadRule {
  const values = new Map(where.map(({ column, value }) => [column.name, value]))
  return { property: first?.name ?? 'id', bare, where: Object.fromEntries(values) }
}

function filter({ ownerFilter }: Entity): OwnerFilter | undefined {
  if (ownerFilter === undefined) return undefined
  const { owner, parameter = 'id', routes } = ownerFilter
  const excused = [...routes].flatMap(([route, replacement]) => (replacement === undefined ? [] : [route]))
  return { column: owner.name, parameter, on: [...routes.keys()], mayBeAbsent: excused }
}
