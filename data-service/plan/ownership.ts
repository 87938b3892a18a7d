import type { Authenticated } from '../auth/caller.js'
import type { OwnRows } from '../entity/access.js'
import type { Column } from '../entity/entity.js'
import type { Operand } from '../entity/value.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Resource } from './catalogue.js'
import type { RowScope } from './scope.js'

export interface OwnershipPolicy {
  /** undefined: every use of an ownership rule is a configuration error. */
  readonly bypassRole: string | undefined
  /** Of owner filters that name none of their own. `id` is the id of the route where it has one. */
  readonly parameterName: string
}

const INT_MAX = 2n ** 31n - 1n

/** Whether the caller sees and touches every row (source.md, bypass predicate). */
export function bypasses(caller: Authenticated, { bypassRole }: Pick<OwnershipPolicy, 'bypassRole'>): boolean {
  if (bypassRole === undefined) {
    throw new DomainError('configuration', 'The service is not configured for this request.', {
      cause: new Error('OWNER_BYPASS_ROLE is not set, and an ownership rule was used.')
    })
  }
  const wanted = bypassRole.toLowerCase()
  return caller.roles.some((role) => role.toLowerCase() === wanted)
}

/** The rows of one owner. */
export function ownedRows(column: Column, owner: bigint): RowScope {
  const condition = {
    path: { through: null, column },
    comparison: 'equals',
    operands: [asOperand(owner, column)]
  } as const
  return { kind: 'rows-where', conditions: [condition] }
}

/** The column that holds the owner. */
export function ownerColumn({ entity }: Resource, { property }: OwnRows): Column {
  const column = entity.columns.find((one) => one.name === property)
  if (column === undefined) throw new TypeError(`${entity.name} has no ${property}`)
  return column
}

export function noOwner(): DomainError {
  return new DomainError('ownership.denied', 'The access token names no owner.')
}

export function anotherOwner(): DomainError {
  return new DomainError('ownership.denied', 'This belongs to another owner.')
}

/** An owner beyond the column's 32 bits owns nothing there: one above the greatest int equals none. */
function asOperand(owner: bigint, { field }: Column): Operand {
  if (field.type !== 'int') return owner.toString()
  return Number(isInt(owner) ? owner : INT_MAX + 1n)
}

function isInt(owner: bigint): boolean {
  return owner <= INT_MAX && owner >= -INT_MAX - 1n
}

/** The owner claim as a value of the owner column; undefined where no row of the table can be theirs. */
export function ownerValue(owner: bigint, { field }: Column): Operand | undefined {
  if (field.type !== 'int') return owner.toString()
  return isInt(owner) ? Number(owner) : undefined
}
