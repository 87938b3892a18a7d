import type { NamedValues } from '../../entity/action.js'
import type { Column, KeyedEntity } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { valueEncoder } from '../../entity/types/types.js'
import type { InsertPlan, UpdatePlan } from '../../plan/model/plans.js'
import { namedValues } from '../../plan/parsing/body.js'

// What a write has changed, as its audit entry keeps it: a JSON object with a member for each column that changed, whose
// value is `[before, after]`. Both are texts, the JSON that the wire has for the value, so that no digit is lost when the
// entry is read; null stands for no row. `[]` is a column whose values are too long to be kept.

/** Bytes of an entry. The shortest changes are kept first. */
const MAX_CHANGES = 64 * 1024

/** The columns that a history holds. Secrets are in none; the key is that of the entry. */
function keptColumns({ columns, key }: KeyedEntity): Column[] {
  return columns.filter((column) => !column.field.hidden && !key.includes(column))
}

function isMadeByDatabase({ field }: Column): boolean {
  return field.filledByDatabase || field.writability === 'generated'
}

/** Whether only the database knows what an insert, or this update, leaves in the columns of the history. */
export function isReadAfter(entity: KeyedEntity, { defaulted = [] }: Pick<UpdatePlan, 'defaulted'> = {}): boolean {
  return entity.history && (defaulted.length > 0 || keptColumns(entity).some(isMadeByDatabase))
}

/** What an update has changed, where the plan and the row before it say everything. */
export function updatedColumns({ entity, values }: UpdatePlan, before: NamedValues = {}): string | undefined {
  return entity.history ? changesOf(entity, before, { ...before, ...namedValues(values) }) : undefined
}

/** What a new row has, where its values say everything. */
export function createdColumns({ entity, values }: Pick<InsertPlan, 'entity' | 'values'>): string | undefined {
  return entity.history ? changesOf(entity, undefined, namedValues(values)) : undefined
}

/** `before`: undefined for a new row; `after`: undefined for a deleted one. undefined where the entity has no history. */
export function changesOf(
  entity: KeyedEntity,
  before: NamedValues | undefined,
  after: NamedValues | undefined
): string | undefined {
  if (!entity.history) return undefined
  const members = keptColumns(entity).flatMap((column) => memberOf(column, before, after) ?? [])
  const sizes = new Map(members.map(({ name, text }) => [name, Buffer.byteLength(text)]))
  let left = MAX_CHANGES
  const kept = new Set<string>()
  for (const [name, size] of [...sizes].toSorted(([, one], [, other]) => one - other)) {
    if (size > left) break
    left -= size
    kept.add(name)
  }
  return `{${members.map(({ name, text }) => (kept.has(name) ? text : `${JSON.stringify(name)}:[]`)).join()}}`
}

/** undefined where nothing changed. A new or deleted row says nothing of its columns without a value. */
function memberOf(
  { name, field }: Column,
  before: NamedValues | undefined,
  after: NamedValues | undefined
): { readonly name: string; readonly text: string } | undefined {
  const [old, now] = [before?.[name] ?? null, after?.[name] ?? null]
  if (old === now || (Buffer.isBuffer(old) && Buffer.isBuffer(now) && old.equals(now))) return undefined
  if (isLong(old) || isLong(now)) return { name, text: `${JSON.stringify(name)}:[]` }
  const encode = valueEncoder(field.type)
  const texts = [before === undefined ? null : encode(old), after === undefined ? null : encode(now)]
  return texts[0] === texts[1] ? undefined : { name, text: `${JSON.stringify(name)}:${JSON.stringify(texts)}` }
}

/** Whether a value is longer than all of an entry. To encode it would take its time for nothing. */
function isLong(value: Value): boolean {
  return (typeof value === 'string' || Buffer.isBuffer(value)) && value.length > MAX_CHANGES
}
