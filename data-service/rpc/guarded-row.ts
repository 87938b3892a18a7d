import type { NamedValues } from '../entity/action.js'
import type { Children } from '../entity/entity.js'
import type { ParsedUpdate } from '../plan/parse-write.js'
import { planLock } from '../plan/plan-write.js'
import type { RowScope } from '../plan/scope.js'
import { writableRows } from '../plan/write-access.js'
import type { LockedRow, StoredRow } from '../plan/write-store.js'
import { stale } from './conflict.js'
import { notFound } from './not-found.js'
import type { WriteSteps } from './write-steps.js'

/** A root under lock, in a version that the caller knows. */
export interface GuardedRow {
  readonly locked: LockedRow
  readonly scope: RowScope
}

/** Throws `ownership.denied`, `not-found` for an absent row or another's, then `conflict` for one that has changed. */
export async function guardedRow(
  { resource, writer, id, expected }: Pick<ParsedUpdate, 'resource' | 'writer' | 'id' | 'expected'>,
  children: readonly Children[],
  { unit }: WriteSteps
): Promise<GuardedRow> {
  const { entity } = resource
  const scope = writableRows(resource, writer)
  const locked = await unit.lock(planLock({ entity, id, scope, children }))
  if (locked === undefined) throw notFound()
  if (!expected.some((version) => version.equals(locked.version))) throw stale('stale: the row has another version')
  return { locked, scope }
}

export function namedRow({ values }: StoredRow): NamedValues {
  return Object.fromEntries(values)
}
