import { READ_OPERATIONS, type ReadAccess, type ReadOperation } from './access.js'
import type { Entity } from './entity.js'
import type { FieldType } from './field.js'
import { suggestion } from './suggestion.js'

/** Owner claims are 64-bit integers (contract.md section 6). */
const OWNER_TYPES: readonly FieldType[] = ['int', 'long']

/** Mistakes in who may read: unknown permissions, owner properties that cannot hold an owner, a missing word. */
export function accessMistakes(entity: Entity, permissions: readonly string[]): string[] {
  return [
    ...READ_OPERATIONS.flatMap((operation) => readMistakes(entity, entity.access[operation], permissions)),
    ...exportMistakes(entity)
  ]
}

/** An entity file that got round its types may say nothing at all. */
export function readMistakes(entity: Entity, access: ReadAccess | undefined, permissions: readonly string[]): string[] {
  switch (access?.kind) {
    case undefined:
      return ['access says nothing of its reads: everyone, permission(…) or ownRows(…).']
    case 'everyone':
      return []
    case 'permission':
      return permissionMistakes(access.permission, permissions)
    case 'ownRows':
      return ownerMistakes(entity, access.property)
  }
}

/** Where a list is scoped or gated, its export is in the same way (source.md, read-scope hook). */
function exportMistakes(entity: Entity): string[] {
  return (['list', 'paged'] as const).flatMap((operation) => {
    const [here, there] = [protection(entity, 'export'), protection(entity, operation)]
    return here === there
      ? []
      : [`\`export\` is for ${here}, but \`${operation}\` for ${there}: they must be the same.`]
  })
}

/**
 * What stands before a read, in words. A row scope needs no filter besides, being the narrower of the two, and a filter
 * that may be done without is none.
 */
function protection({ access, ownerFilter }: Entity, operation: ReadOperation): string {
  const word: ReadAccess | undefined = access[operation]
  if (word === undefined) return 'nobody'
  if (word.kind === 'ownRows') return `the owners by ${word.property}`
  const who = word.kind === 'everyone' ? 'everyone' : `callers with ${word.permission}`
  const filtered = ownerFilter?.routes.has(operation) === true && ownerFilter.routes.get(operation) === undefined
  return filtered ? `${who} behind the owner filter` : who
}

/** A permission that no role has. */
export function permissionMistakes(name: string, permissions: readonly string[]): string[] {
  if (permissions.includes(name)) return []
  return [`permission \`${name}\` is given to no role in auth/roles.ts.${suggestion(name, permissions)}`]
}

/** An owner property that cannot hold an owner. */
export function ownerMistakes({ columns }: Entity, property: string): string[] {
  const owner = columns.find((one) => one.name === property)
  if (owner === undefined) {
    const near = suggestion(
      property,
      columns.map((one) => one.name)
    )
    return [`owner \`${property}\` is not a field.${near}`]
  }
  if (OWNER_TYPES.includes(owner.field.type)) return []
  return [`owner \`${property}\` must be int or long, not ${owner.field.type}.`]
}
