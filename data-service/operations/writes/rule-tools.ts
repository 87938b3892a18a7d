import { DomainError } from '../../../shared/errors.js'
import type {
  CountReferencing,
  FindByIds,
  FindReferencing,
  FindByUnique,
  GetAggregate,
  NamedValues,
  Aggregate,
  RuleTools
} from '../../entity/action.js'
import type { Authenticated } from '../../entity/caller.js'
import type { Children, KeyedEntity } from '../../entity/entity.js'
import type { Operand } from '../../entity/fields/field.js'
import type { Reference } from '../../entity/fields/columns.js'
import type { RowKey } from '../../entity/key.js'
import type { Catalogue } from '../../plan/model/catalogue.js'
import { keyOfId } from '../../plan/parsing/keys.js'
import { allRows } from '../../plan/model/plans.js'
import type { LockedRow, StoredRow, UnitOfWork } from '../../plan/model/stores.js'
import type { Planning } from '../../plan/planning.js'
import {
  planCountReferencing,
  planFind,
  planFindReferencing,
  planFindByUnique,
  planLock,
  type RandomSource
} from '../../plan/plan-writes.js'
import { tokenCaller } from '../../plan/row-scopes.js'

const MAX_IDS = 1000

/** The tools of one transaction. */
export function ruleTools({
  unit,
  caller,
  lockedRoots,
  now,
  deps: { planning, randomBytes }
}: {
  readonly unit: UnitOfWork
  readonly caller: Authenticated
  readonly lockedRoots: LockedRoots
  readonly now: string
  readonly deps: Pick<RandomSource, 'randomBytes'> & { readonly planning: Planning }
}): RuleTools {
  const { catalogue, ownership } = planning
  return {
    caller: tokenCaller(caller, ownership),
    findByIds: findByIdsIn(unit, catalogue),
    findByUnique: findByUniqueIn(unit, catalogue),
    getAggregate: getAggregateIn(unit, catalogue, lockedRoots),
    findReferencing: findReferencingIn(unit, catalogue),
    countReferencing: countReferencingIn(unit, catalogue),
    now,
    newCode: () => newCode(randomBytes)
  }
}

/** Finds rows by their ids, for an action, within its transaction. */
function findByIdsIn(unit: UnitOfWork, catalogue: Catalogue): FindByIds {
  return async (rows, ids) => {
    const { entity, children } = parseTarget(rows, catalogue)
    const distinct = [...new Set(ids)]
    const found = new Map<Operand, NamedValues>()
    for (let from = 0; from < distinct.length; from += MAX_IDS) {
      const part = distinct.slice(from, from + MAX_IDS)
      const stored = await unit.find(
        planFind(
          entity,
          children,
          part.map((id) => keyOfId(id, children ?? entity))
        )
      )
      for (const id of part) {
        const row = stored.get(String(id))
        if (row !== undefined) found.set(id, namedRow(row))
      }
    }
    return found
  }
}

/** The roots that a transaction has put under lock by getAggregate: those that it may change besides its own. */
export class LockedRoots {
  readonly #rows = new Map<string, LockedRow>()

  add(resource: string, id: Operand, row: LockedRow): void {
    this.#rows.set(rowKeyText(resource, id), row)
  }

  /** The row as it was read, for one change: its version is another one afterwards. Throws TypeError for any other row. */
  take(resource: string, id: Operand): LockedRow {
    const row = this.#rows.get(rowKeyText(resource, id))
    if (row === undefined) throw new TypeError(`${resource} ${String(id)} is not under lock by getAggregate`)
    this.#rows.delete(rowKeyText(resource, id))
    return row
  }
}

function rowKeyText(resource: string, id: Operand): string {
  return `${resource} ${String(id)}`
}

/** Finds a root with its children for an action. It finds rows of every owner: the action has to check access. */
function getAggregateIn(unit: UnitOfWork, catalogue: Catalogue, roots: LockedRoots): GetAggregate {
  return async (resource, id) => {
    const entity = catalogue.keyedEntity(resource)
    const key = keyOfId(id, entity)
    const locked = await unit.lock(planLock({ entity, key, scope: allRows, children: lockedChildren(entity) }))
    if (locked === undefined) return undefined
    roots.add(resource, id, locked)
    return aggregateOf(locked)
  }
}

/** Finds the rows that refer to one row, and locks that row so that no further one can be added. */
export function findReferencingIn(unit: UnitOfWork, catalogue: Catalogue): FindReferencing {
  return async (resource, property, id) => {
    const referred = await lockReferred({ resource, property, id }, unit, catalogue)
    const plan = planFindReferencing({ ...referred, children: lockedChildren(referred.entity), maxRows: MAX_IDS })
    const rows = await unit.findReferencing(plan)
    if (rows !== undefined) return rows.map(aggregateOf)
    throw new DomainError('state.invalid', `There are more than ${MAX_IDS} ${resource} with the same ${property}.`)
  }
}

/** Counts the rows that refer to one row, and locks that row so that no further one can be added. */
export function countReferencingIn(unit: UnitOfWork, catalogue: Catalogue): CountReferencing {
  return async (resource, property, { id, where = {} }) => {
    const referred = await lockReferred({ resource, property, id }, unit, catalogue)
    return unit.countReferencing(planCountReferencing({ ...referred, where }))
  }
}

/**
 * Locks the row that rows of a resource refer to by a property, or by a reference of several columns. Writers of the
 * foreign key wait for this lock; what was committed before it is seen by the statements that follow.
 */
async function lockReferred(
  of: { readonly resource: string; readonly property: string; readonly id: Operand },
  unit: UnitOfWork,
  catalogue: Catalogue
): Promise<{ readonly entity: KeyedEntity; readonly reference: Reference; readonly key: RowKey }> {
  const { resource, property, id } = of
  const entity = catalogue.keyedEntity(resource)
  const reference = entity.references.find(({ name, via }) =>
    via.length === 1 ? via[0].name === property : name === property
  )
  if (reference === undefined) throw new TypeError(`${resource} has no reference by ${property}`)
  const target = catalogue.keyedEntity(reference.to)
  const key = keyOfId(id, target)
  await unit.lock(planLock({ entity: target, key, scope: allRows, children: [] }))
  return { entity, reference, key }
}

/** Finds a row by one of its unique columns. */
function findByUniqueIn(unit: UnitOfWork, catalogue: Catalogue): FindByUnique {
  return async (resource, property, value) => {
    const entity = catalogue.keyedEntity(resource)
    const column = entity.columns.find(({ name }) => name === property)
    if (column === undefined) throw new TypeError(`${resource} has no ${property}`)
    const row = await unit.findByUnique(planFindByUnique(entity, column, value))
    return row && namedRow(row)
  }
}

/** The entity, and the children if any, of `products` or `products.variants`. */
function parseTarget(rows: string, catalogue: Catalogue): { entity: KeyedEntity; children: Children | null } {
  const [resource = '', name] = rows.split('.')
  const entity = catalogue.keyedEntity(resource)
  const children = entity.children.find((one) => one.name === name) ?? null
  if (name !== undefined && children === null) throw new TypeError(`${resource} has no ${name}`)
  return { entity, children }
}

/**
 * The children that are under the lock of their root: those of the primary database, without the rows that are written as
 * rows of another resource.
 */
export function lockedChildren({ children }: KeyedEntity): Children[] {
  return children.filter(
    ({ store, resource, rootWrites }) => store === 'primary' && (resource === undefined || rootWrites === 'all')
  )
}

function aggregateOf(row: LockedRow): Aggregate {
  return { root: namedRow(row), children: namedChildren(row) }
}

/** A row as rules see it. */
export function namedRow({ values }: StoredRow): NamedValues {
  return Object.fromEntries(values)
}

export function namedChildren({ children }: LockedRow): Readonly<Record<string, readonly NamedValues[]>> {
  return Object.fromEntries(Array.from(children, ([name, rows]) => [name, rows.map(namedRow)]))
}

/** Letters and digits that are not easily confused (Crockford's base32). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 12

/** 60 random bits as text that people can read out. */
function newCode(randomBytes: (size: number) => Buffer): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
}
