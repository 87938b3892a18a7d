import { createHash } from 'node:crypto'
import { DomainError } from '../../shared/errors.js'
import { long } from '../entity/fields/words.js'
import { idText, type RowKey } from '../entity/key.js'
import { referenceableRows } from './authorize.js'
import type { KeyedResource } from './model/catalogue.js'
import type { KeyedEntity } from '../entity/entity.js'
import { type Condition, type GetPlan, type HistoryPlan, ownPath, type Path } from './model/plans.js'
import { CursorCodec } from './parsing/cursors.js'
import { parseId } from './parsing/keys.js'
import { parsePaging, type PagingParams } from './parsing/query.js'
import { planned, type PlanningContext } from './planning.js'
import { checkRead, type ReadParams } from './plan-reads.js'

// The history of a row: its audit entries with what each write changed, for whoever reads the row by its id.

/** An entry has 64 KiB at most, so that a page has about 3 MiB. */
const MOST_ENTRIES = 50

interface HistoryParams extends ReadParams, Pick<PagingParams, 'pageSize' | 'after'> {
  readonly id: string
}

interface PlannedHistory {
  readonly resource: KeyedResource
  /** The row, of which its id is read. Who does not see it sees no history. */
  readonly row: GetPlan
  readonly page: HistoryPlan
  /** Which of these the caller sees. */
  readonly shown: ReadonlySet<'subject' | 'requestId'>
  /** Whether the caller sees the history of a row that is no longer there. */
  readonly seesDeleted: boolean
  readonly cursors: CursorCodec
}

export function planHistory(params: HistoryParams, context: PlanningContext): PlannedHistory {
  const resource = context.planning.catalogue.keyedResource(params.resource, context.caller)
  const { entity, projections } = resource
  if (!entity.history) throw new DomainError('route.not-found', 'This resource has no history.')
  const maxPageSize = Math.min(context.planning.maxPageSize, MOST_ENTRIES)
  const { scope, parsed } = checkRead({ resource, read: 'get', params }, context, (violations) => {
    const key = parseId(params.id, entity, violations)
    const cursors = new CursorCodec({ resource: `${entity.name}/${idText(key)}/history`, conditions: [], sort: ORDER })
    const { pageSize, after } = params
    const asked = { ...(pageSize === undefined ? {} : { pageSize }), ...(after === undefined ? {} : { after }) }
    return { key, cursors, paging: parsePaging(asked, { maxPageSize, cursors }, violations) }
  })
  const { key, cursors, paging } = parsed
  const id = resource.properties.get('id')
  if (id === undefined) throw new TypeError(`${entity.name} has no id`)
  const trail = auditTrailFor(context)
  // Nothing tells who could have read a row that is gone, so only those who read every row see it.
  const seesDeleted = trail !== undefined && scope.kind === 'all-rows'
  const lastChangeOf = scope.kind === 'all-rows' ? [] : propertiesOf(scope.conditions, entity)
  const before = paging.start.kind === 'offset' ? undefined : paging.start.position.keys[0]
  return {
    resource,
    row: planned({ operation: 'get', entity, scope, key, projection: projections.of([id]), ...ALONE } as const),
    page: planned({
      operation: 'history',
      entity,
      rowId: auditedId(key),
      before: before === undefined ? undefined : String(before),
      from: seesDeleted ? 'the first entry' : { lastChangeOf },
      limit: paging.pageSize
    } as const),
    shown: shownOf(trail),
    seesDeleted,
    cursors
  }
}

const ALONE = { references: [], manyToMany: [], children: [], askedBy: undefined } as const

const ORDER = [{ path: ownPath({ name: 'id', column: 'id', field: long() }), descending: true }] as const

/** The resource of the audit entries, for a caller who reads all of them. */
function auditTrailFor(context: PlanningContext): KeyedResource | undefined {
  const { catalogue, auditTrail } = context.planning
  if (auditTrail === undefined) return undefined
  const trail = catalogue.keyedResource(auditTrail, context.caller)
  return referenceableRows(trail, context)?.kind === 'all-rows' ? trail : undefined
}

function shownOf(trail: KeyedResource | undefined): PlannedHistory['shown'] {
  const columns = Array.from(trail?.properties.values() ?? [], (one) =>
    one.kind === 'column' ? one.column.column : ''
  )
  return new Set([
    ...(columns.includes('subject') ? (['subject'] as const) : []),
    ...(columns.includes('request_id') ? (['requestId'] as const) : [])
  ])
}

/** The properties that conditions look at. Throws `capability.denied` where a history cannot tell when one of them changed. */
function propertiesOf(conditions: readonly Condition[], entity: KeyedEntity): string[] {
  const paths = (condition: Condition): readonly Path[] => {
    if ('anyOf' in condition) return condition.anyOf.flatMap(paths)
    return 'allOf' in condition ? condition.allOf.flatMap(paths) : [condition.path]
  }
  const looked = conditions.flatMap(paths)
  // A key never changes.
  const changing = looked.filter(({ through, column }) => through !== null || !entity.key.includes(column))
  if (changing.some(({ through, column }) => through !== null || column.field.hidden)) {
    throw new DomainError('capability.denied', 'The history of these rows is for callers who read every row.')
  }
  return [...new Set(changing.map(({ column }) => column.name))].toSorted()
}

/** Characters that fit into the column of the audit entry. Only a text that was cut has so many, so that no id equals one. */
const LONGEST_ROW_ID = 64

/** The text of the id as audit entries have it. A longer one is cut, and ends in a hash of the whole, so that it can still be searched for. */
export function auditedId(key: RowKey): string {
  const id = idText(key)
  if (id.length < LONGEST_ROW_ID) return id
  const characters = Array.from(id)
  if (characters.length < LONGEST_ROW_ID) return id
  const hash = createHash('sha256').update(id).digest('base64url')
  return `${characters.slice(0, LONGEST_ROW_ID - hash.length - 1).join('')}~${hash}`
}
