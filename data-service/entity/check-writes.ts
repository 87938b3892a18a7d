import type { Permission } from './access.js'
import { permissionMistakes, ownerMistakes } from './check-access.js'
import type { Column, Entity } from './entity.js'
import { WRITE_OPERATIONS, type WriteOperation } from './write-access.js'

const MOST_CHILDREN = 1000

/** Mistakes in who may write what, and in how rows come to be. */
export function writeMistakes(entity: Entity, permissions: readonly string[]): string[] {
  return [...operationMistakes(entity), ...accessMistakes(entity, permissions), ...creationMistakes(entity)]
}

function operationMistakes({ writes, creation, updateRule }: Entity): string[] {
  const known: readonly string[] = WRITE_OPERATIONS
  const mistakes = [...writes].filter((one) => !known.includes(one)).map((one) => `\`${one}\` is no write.`)
  const needs = (operation: WriteOperation, used: boolean, what: string): void => {
    if (used && !writes.has(operation)) mistakes.push(`${what} without \`${operation}\` among writes.`)
  }
  needs('create', creation.prepare !== undefined || creation.children.length > 0, 'creates')
  needs('update', updateRule !== undefined, 'updates')
  return mistakes
}

function accessMistakes(entity: Entity, permissions: readonly string[]): string[] {
  const { writes, actions, writeAccess } = entity
  if (writeAccess === undefined) {
    return writes.size + actions.size > 0 ? ['access says nothing of its writes: permission(…) or ownRows(…).'] : []
  }
  if (writeAccess.kind === 'permission') return permissionMistakes(writeAccess.permission, permissions)
  // An entity file that got round its types may say something else.
  const { kind }: { readonly kind: string } = writeAccess
  if (kind !== 'ownRows') return [`access.write must be permission(…) or ownRows(…), not ${kind}.`]
  const owner = entity.columns.find((one) => one.name === writeAccess.property)
  const mistakes = ownerMistakes(entity, writeAccess.property)
  if (owner !== undefined && writes.has('update') && owner.field.writability === 'always') {
    mistakes.push(`owner \`${owner.name}\` must be onCreate: a PUT would give the row away.`)
  }
  if (owner !== undefined && writes.has('create') && owner.field.writability === 'never') {
    mistakes.push(`owner \`${owner.name}\` must be onCreate: a bypass caller has to name one.`)
  }
  return mistakes
}

function creationMistakes({ columns, creation, writes }: Entity): string[] {
  if (!writes.has('create')) return []
  const mistakes = creation.prepare === undefined ? unfilled(columns, '') : []
  for (const { children, min } of creation.children) {
    if (children.store !== 'primary') mistakes.push(`\`${children.name}\` is in another store and no part of a write.`)
    if (!Number.isInteger(min) || min < 0 || min > MOST_CHILDREN) {
      mistakes.push(`\`${children.name}\` needs min from 0 to ${MOST_CHILDREN}, not ${min}.`)
    }
    if (creation.prepare === undefined) mistakes.push(...unfilled(children.columns, `${children.name}.`))
  }
  return mistakes
}

/** Columns that nobody would give a value. */
function unfilled(columns: readonly Column[], prefix: string): string[] {
  return columns
    .filter(({ name, field }) => name !== 'id' && field.writability === 'never')
    .filter(({ field }) => !field.nullable && field.defaultTo === undefined)
    .map(({ name }) => `\`${prefix}${name}\` is set by no request and may not be null: creates.prepare has to set it.`)
}

/** A permission that an action needs. */
export function neededPermission(permission: Permission | undefined, permissions: readonly string[]): string[] {
  return permission === undefined ? [] : permissionMistakes(permission, permissions)
}
