import { READ_OPERATIONS, type ReadAccess } from './access.js'
import type { Entity } from './entity.js'
import type { FieldType } from './field.js'
import { suggestion } from './suggestion.js'

/** Owner claims are 64-bit integers (contract.md section 6). */
const OWNER_TYPES: readonly FieldType[] = ['int', 'long']

/** Mistakes in who may read: unknown permissions, owner properties that cannot hold an owner, a missing word. */
export function accessMistakes(entity: Entity, permissions: readonly string[]): string[] {
  return READ_OPERATIONS.flatMap((operation) => {
    // An entity file that got round its types may say nothing at all.
    const access: ReadAccess | undefined = entity.access[operation]
    if (access === undefined) {
      return ['access says nothing of its reads: everyone, permission(…) or ownRows(…).']
    }
    if (access.kind === 'permission') return permissionMistakes(access.permission, permissions)
    return access.kind === 'ownRows' ? ownerMistakes(entity, access.property) : []
  })
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
