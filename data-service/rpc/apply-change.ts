import type { Change, ChildChanges } from '../entity/action.js'
import type { Children, Column } from '../entity/entity.js'
import type { Operand, Value } from '../entity/value.js'
import { assignments } from '../plan/assignments.js'
import type { Condition } from '../plan/condition.js'
import type { ParsedUpdate } from '../plan/parse-write.js'
import { planChildDelete, planChildInsert, planChildUpdate, planUpdate, type Makers } from '../plan/plan-write.js'
import type { ChildPlan } from '../plan/write-plan.js'
import type { StoredRow } from '../plan/write-store.js'
import { stale } from './conflict.js'
import type { GuardedRow } from './guarded-row.js'
import type { WriteSteps } from './write-steps.js'

export interface RootChange {
  readonly change: Change
  /** Columns that the request itself sets; the change's own come on top. */
  readonly values: ReadonlyMap<Column, Value>
  readonly required: readonly Condition[]
  readonly makers: Makers
}

/** The root's UPDATE, which always happens, then its children, then other roots. */
export async function applyChange(
  { resource, id }: ParsedUpdate,
  { change, values, required, makers, row }: RootChange & { readonly row: GuardedRow },
  steps: WriteSteps
): Promise<void> {
  const { entity } = resource
  const { locked, scope } = row
  const all = new Map([...values, ...assignments(change.set ?? {}, settable(entity.columns))])
  const updated = await steps.unit.update(planUpdate(entity, { id, scope, locked, required, values: all }))
  if (!updated) throw stale('lost race: the UPDATE matched no row')
  for (const [name, changes] of Object.entries(change.children ?? {})) {
    const children = entity.children.find((one) => one.name === name)
    if (children === undefined) throw new TypeError(`${entity.name} has no ${name}`)
    const known = locked.children.get(name) ?? []
    for (const plan of childPlans({ children, rootId: id, changes, known }, makers)) {
      if (!(await steps.unit.writeChild(plan))) throw stale(`lost race: a write of ${name} matched no row`)
    }
  }
  await steps.insertNamed(change.create ?? [])
}

/** Removals first: what is unique in them is free for what comes after. */
function childPlans(
  of: {
    readonly children: Children
    readonly rootId: Operand
    readonly changes: ChildChanges
    readonly known: readonly StoredRow[]
  },
  makers: Makers
): ChildPlan[] {
  const { changes, known } = of
  const columns = settable(of.children.columns)
  const child = (id: Operand): StoredRow => {
    const found = known.find(({ values }) => values.get('id') === id)
    if (found === undefined) throw new TypeError(`${of.children.name} ${String(id)} is not among those loaded`)
    return found
  }
  return [
    ...(changes.remove ?? []).map((id) => planChildDelete(of, child(id))),
    ...(changes.update ?? []).map(({ id, set }) => planChildUpdate(of, child(id), assignments(set, columns))),
    ...(changes.insert ?? []).map((row) => planChildInsert(of, assignments(row, columns), makers))
  ]
}

function settable(columns: readonly Column[]): Column[] {
  return columns.filter(({ name }) => name !== 'id')
}
