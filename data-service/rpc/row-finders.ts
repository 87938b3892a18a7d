import { DomainError } from '../../shared/errors.js'
import type {
  FindByIds,
  FindReferencing,
  FindByUnique,
  GetAggregate,
  NamedValues,
  Aggregate
} from '../entity/action.js'
import type { Children, Entity } from '../entity/entity.js'
import type { Operand } from '../entity/field.js'
import type { Catalogue } from '../plan/catalogue.js'
import { allRows } from '../plan/plans.js'
import type { LockedRow, StoredRow, UnitOfWork } from '../plan/stores.js'
import { planFind, planFindReferencing, planFindByUnique, planLock } from '../plan/plan-writes.js'

const MOST_IDS = 1000

/** Rows for an action to look at, read within its transaction. */
export function findByIdsIn(unit: UnitOfWork, catalogue: Catalogue): FindByIds {
  return async (rows, ids) => {
    const { entity, children } = target(rows, catalogue)
    const distinct = [...new Set(ids)]
    const found = new Map<Operand, NamedValues>()
    for (let from = 0; from < distinct.length; from += MOST_IDS) {
      const part = distinct.slice(from, from + MOST_IDS)
      const stored = await unit.find(planFind(entity, children, part))
      for (const id of part) {
        const row = stored.get(String(id))
        if (row !== undefined) found.set(id, named(row))
      }
    }
    return found
  }
}

/** A root with its children for an action to look at; whoever may see it is the action's to judge. */
export function getAggregateIn(unit: UnitOfWork, catalogue: Catalogue): GetAggregate {
  return async (resource, id) => {
    const { entity } = catalogue.resource(resource)
    const locked = await unit.lock(planLock({ entity, id, scope: allRows, children: ownChildren(entity) }))
    return locked && whole(locked)
  }
}

/** The rows that refer to one row, which is held so that none is added to them. */
export function findReferencingIn(unit: UnitOfWork, catalogue: Catalogue): FindReferencing {
  return async (resource, property, id) => {
    const { entity } = catalogue.resource(resource)
    const reference = entity.references.find(({ via }) => via.name === property)
    if (reference === undefined) throw new TypeError(`${resource} has no reference by ${property}`)
    // Whoever writes the foreign key waits here; what was committed until then is seen below.
    const target = catalogue.resource(reference.to).entity
    await unit.lock(planLock({ entity: target, id, scope: allRows, children: [] }))
    const plan = planFindReferencing({
      entity,
      children: ownChildren(entity),
      column: reference.via,
      id,
      most: MOST_IDS
    })
    const rows = await unit.findReferencing(plan)
    if (rows !== undefined) return rows.map(whole)
    throw new DomainError('state.invalid', `There are more than ${MOST_IDS} ${resource} with the same ${property}.`)
  }
}

/** A row by one of its unique columns. */
export function findByUniqueIn(unit: UnitOfWork, catalogue: Catalogue): FindByUnique {
  return async (resource, property, value) => {
    const { entity } = catalogue.resource(resource)
    const column = entity.columns.find(({ name }) => name === property)
    if (column === undefined) throw new TypeError(`${resource} has no ${property}`)
    const row = await unit.findByUnique(planFindByUnique(entity, column, value))
    return row && named(row)
  }
}

/** `products` or `products.variants`. */
function target(rows: string, catalogue: Catalogue): { entity: Entity; children: Children | null } {
  const [resource = '', name] = rows.split('.')
  const { entity } = catalogue.resource(resource)
  const children = entity.children.find((one) => one.name === name) ?? null
  if (name !== undefined && children === null) throw new TypeError(`${resource} has no ${name}`)
  return { entity, children }
}

/** Those that a transaction reaches. */
function ownChildren({ children }: Entity): Children[] {
  return children.filter(({ store }) => store === 'primary')
}

function whole(row: LockedRow): Aggregate {
  return {
    root: named(row),
    children: Object.fromEntries(Array.from(row.children, ([name, rows]) => [name, rows.map(named)]))
  }
}

function named({ values }: StoredRow): NamedValues {
  return Object.fromEntries(values)
}
