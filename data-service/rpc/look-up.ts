import type { LookUp, LookUpBy, LookUpWhole, NamedValues } from '../entity/action.js'
import type { Children, Entity } from '../entity/entity.js'
import type { Operand } from '../entity/value.js'
import type { Catalogue } from '../plan/catalogue.js'
import { planFind, planFindUnique, planLock } from '../plan/plan-write.js'
import { allRows } from '../plan/scope.js'
import type { StoredRow, UnitOfWork } from '../plan/write-store.js'

const MOST_IDS = 1000

/** Rows for an action to look at, read within its transaction. */
export function lookUpIn(unit: UnitOfWork, catalogue: Catalogue): LookUp {
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
export function lookUpWholeIn(unit: UnitOfWork, catalogue: Catalogue): LookUpWhole {
  return async (resource, id) => {
    const { entity } = catalogue.resource(resource)
    const children = entity.children.filter(({ store }) => store === 'primary')
    const locked = await unit.lock(planLock({ entity, id, scope: allRows, children }))
    if (locked === undefined) return undefined
    return {
      root: named(locked),
      children: Object.fromEntries(Array.from(locked.children, ([name, rows]) => [name, rows.map(named)]))
    }
  }
}

/** A row by one of its unique columns. */
export function lookUpByIn(unit: UnitOfWork, catalogue: Catalogue): LookUpBy {
  return async (resource, property, value) => {
    const { entity } = catalogue.resource(resource)
    const column = entity.columns.find(({ name }) => name === property)
    if (column === undefined) throw new TypeError(`${resource} has no ${property}`)
    const row = await unit.findUnique(planFindUnique(entity, column, value))
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

function named({ values }: StoredRow): NamedValues {
  return Object.fromEntries(values)
}
