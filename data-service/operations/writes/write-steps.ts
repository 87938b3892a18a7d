import { type NamedValues, reject, type RuleTools } from '../../entity/action.js'
import type { Authenticated } from '../../entity/caller.js'
import type { Column, KeyedEntity } from '../../entity/entity.js'
import type { JsonObject } from '../../entity/event.js'
import { idText, keyOfValues, type RowKey, unreachableIds } from '../../entity/key.js'
import type { KeyedResource } from '../../plan/model/catalogue.js'
import type { Planning } from '../../plan/planning.js'
import {
  allRows,
  type GetPlan,
  type InsertPlan,
  type NewChildren,
  type UpdatePlan,
  type WriteScope
} from '../../plan/model/plans.js'
import type { AuditEntry, KeyClaim, LoadedRow, StoredRow, UnitOfWork } from '../../plan/model/stores.js'
import { outsideScope } from '../../plan/authorize.js'
import { auditedId } from '../../plan/plan-history.js'
import { widthOf } from '../../entity/types/types.js'
import {
  type RandomSource,
  planCountOutside,
  planInsert,
  planLook,
  planUnseen,
  planWritten
} from '../../plan/plan-writes.js'
import { type Place, placeInScope, placeOfAll } from '../../plan/scope-of-values.js'
import { changesOf, createdColumns, isReadAfter, updatedColumns } from './changes.js'
import type { GuessCounts } from './guess-counts.js'
import { placeOf, recordEncoder } from '../json.js'
import { rejectionError, throwAt } from './rejections.js'
import { LockedRoots, namedRow, ruleTools } from './rule-tools.js'
import type { WriteShares } from './write-shares.js'

/** What the write handlers need. Clock and randomness are passed in, so that tests can decide them. */
export interface WriteDeps extends RandomSource {
  readonly planning: Planning
  readonly shares: WriteShares
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly idempotency: {
    /** Milliseconds for which a response is stored. */
    readonly retention: number
    /** Whether a create without a key is rejected. */
    readonly required: boolean
  }
  readonly guesses: GuessCounts
  /** The types under which an event of a type is stored: one for its handler, and one for each webhook (outbox/outbox.ts). */
  readonly storedTypes: (type: string) => readonly string[]
}

/** The response to a write. With an idempotency key, a repeated request gets the same one. */
export interface WriteResponse {
  readonly json: Buffer
  /** What is stored under the key in place of `json`, which holds a secret. */
  readonly kept?: Buffer
  /** Of no bytes for a row without a version. */
  readonly rowVersion: Buffer
  /** As in the path of the row. */
  readonly id: string
  readonly ignored: readonly string[]
  /** The URL of the new row after a create; otherwise empty. */
  readonly location: string
  /** What a part of an import came to, as JSON. Absent for other writes. */
  readonly outcome?: string
}

type InsertedRow = Parameters<typeof planInsert>[1]

/** How a write of a row is told. */
interface Written {
  /** The row is read within it before the COMMIT. */
  readonly scope: WriteScope
  /** For the audit entry: `create`, `update`, or the name of an action. */
  readonly action: string
  /** Likewise: what the write changed (changes.ts). undefined without a history. */
  readonly changes?: string | undefined
  readonly ignored: readonly string[]
}

/** What the audit entry of a write says about it. */
type Audited = Pick<Written, 'action' | 'changes'>

/** Characters that fit into the column of the audit entry. */
const LONGEST_SUBJECT = 512

/** The steps that all writes have in common, within one transaction. `now` is the same moment for all of them. */
export class WriteSteps {
  readonly unit: UnitOfWork
  /** `2026-01-31T08:00:00.000Z`. */
  readonly now: string
  readonly deps: WriteDeps
  /** The roots under lock that the write may change besides its own. */
  readonly lockedRoots = new LockedRoots()
  /** Rows that a batch has read under their locks before it writes them, by the text of their id. */
  lockedBefore: ReadonlyMap<string, StoredRow> = new Map()
  readonly caller: Authenticated
  readonly requestId: string
  /** How the rows of the request itself are written, for their hooks. */
  readonly via: 'request' | 'batch'
  /** How many hooks are running now, one within the other. */
  hookDepth = 0
  /** How many rows were created, other rows changed and events emitted so far. */
  sideEffects = 0
  readonly hasKey: boolean
  readonly #dryRun: boolean
  /** Whether the answer of the dry run would tell by its version what a hidden value is. */
  #tellsHidden = false

  constructor(
    unit: UnitOfWork,
    deps: WriteDeps,
    by: {
      readonly caller: Authenticated
      readonly requestId: string
      readonly via?: 'request' | 'batch'
      /** Whether the request has an idempotency key. Default: false. */
      readonly hasKey?: boolean
      readonly dryRun?: boolean
    }
  ) {
    this.unit = unit
    this.now = new Date(deps.now()).toISOString()
    this.deps = deps
    this.caller = by.caller
    this.requestId = by.requestId
    this.via = by.via ?? 'request'
    this.hasKey = by.hasKey ?? false
    this.#dryRun = by.dryRun ?? false
  }

  /**
   * Notes what a rule sets. An unchanged version of the content says that a value is the stored one, and a dry run could try
   * one value after another. So its answer has no version once a rule has set what not everybody may read.
   */
  noteSet({ contentVersion }: KeyedEntity, columns: Iterable<Column>): void {
    if (!this.#dryRun || !contentVersion) return
    for (const { field } of columns) {
      if (field.hidden || field.readableBy !== undefined) this.#tellsHidden = true
    }
  }

  /** Whether an answer may say if the content is as it was. */
  get mayTellSame(): boolean {
    return !this.#tellsHidden
  }

  /** Resolves when the caller has a turn of the event loop for work that is long. */
  turn(): Promise<void> {
    return this.deps.shares.turnOf(this.caller)
  }

  get tools(): RuleTools {
    return ruleTools(this)
  }

  async audit(entity: KeyedEntity, key: RowKey, audited: Audited): Promise<void> {
    await this.auditNamed(entity, auditedId(key), audited)
  }

  /** The entry of what is no row of an entity. */
  async auditNamed(of: Pick<KeyedEntity, 'name'>, rowId: string, audited: Audited): Promise<void> {
    await this.unit.audit({ ...this.#told(of, audited), rowId })
  }

  #auditEntry(entity: KeyedEntity, key: RowKey, audited: Audited): AuditEntry {
    return { ...this.#told(entity, audited), rowId: auditedId(key) }
  }

  #told({ name }: Pick<KeyedEntity, 'name'>, { action, changes }: Audited): Omit<AuditEntry, 'rowId'> {
    const { issuer, subject } = this.caller
    return {
      at: this.now,
      subject: cut(`${issuer} ${subject}`, LONGEST_SUBJECT),
      resource: name,
      action,
      requestId: this.requestId,
      changes
    }
  }

  /** What an update has changed, for its audit entry. The row is read again where only the database knows its values. */
  async updatedColumns(plan: UpdatePlan, before: NamedValues | undefined): Promise<string | undefined> {
    const { entity, key } = plan
    return isReadAfter(entity, plan)
      ? changesOf(entity, before, await this.#readAfter(entity, key))
      : updatedColumns(plan, before)
  }

  async #readAfter(entity: KeyedEntity, key: RowKey): Promise<NamedValues> {
    const row = await this.unit.look(planLook({ entity, key, scope: allRows }))
    return row === undefined ? {} : namedRow(row)
  }

  /** Inserts the row with its children and its audit entry. */
  async insert(entity: KeyedEntity, row: InsertedRow): Promise<RowKey> {
    this.sideEffects += 1
    const { key, changes } = await this.insertRow(entity, row)
    await this.audit(entity, key, { action: 'create', changes })
    return key
  }

  /** The same without the audit entry, which has to follow, with what that says. */
  async insertRow(entity: KeyedEntity, row: InsertedRow): Promise<{ readonly key: RowKey } & Pick<Written, 'changes'>> {
    const plan = this.plannedInsert(entity, row)
    const places = plan.children.map((one) => placeOfChildren(plan, one))
    if (places.includes('outside')) throw outsideScope()
    const key = await this.unit.insert(plan)
    for (const [index, one] of plan.children.entries()) {
      if (places[index] === 'unknown') await this.#checkChildren(one, key)
    }
    const changes = isReadAfter(entity)
      ? changesOf(entity, undefined, await this.#readAfter(entity, key))
      : createdColumns(plan)
    return { key, changes }
  }

  /** The plan of a new row, which is outside of its scope nowhere that its own values tell. */
  plannedInsert(entity: KeyedEntity, row: InsertedRow): InsertPlan {
    if (this.#hasUnreachableId(entity, row)) {
      throw rejectionError(reject.input(`/${entity.key[0].name}`, 'The row would get an id that no path could name.'))
    }
    const plan = planInsert(entity, row, this.deps)
    if (placeInScope(plan.scope.after, (column) => plan.values.get(column)) === 'outside') throw outsideScope()
    return plan
  }

  /** Inserts rows without children with their audit entries, as `UnitOfWork.insertAll` says. */
  async insertTogether(entity: KeyedEntity, plans: readonly InsertPlan[]): Promise<readonly RowKey[] | undefined> {
    const keys = await this.unit.insertAll(plans)
    if (keys === undefined) return undefined
    this.sideEffects += plans.length
    const entries = plans.flatMap((plan, at) => {
      const key = keys[at]
      return key === undefined
        ? []
        : [this.#auditEntry(entity, key, { action: 'create', changes: createdColumns(plan) })]
    })
    await this.unit.auditAll(entries)
    return keys
  }

  /** Throws `ownership.denied` where a row of the new root is outside of the scope. */
  async #checkChildren(of: NewChildren, key: RowKey): Promise<void> {
    const { name, resource } = of.children
    if (resource === undefined) throw new TypeError(`${name} are no rows of a resource and have no scope`)
    const entity = this.deps.planning.catalogue.keyedEntity(resource)
    if ((await this.unit.countOutside(planCountOutside(entity, of, key))) > 0) throw outsideScope()
  }

  /** Whether no path could name the row, or a child that is a row of a resource. */
  #hasUnreachableId(entity: KeyedEntity, { values, children }: InsertedRow): boolean {
    const { catalogue } = this.deps.planning
    const isAmong = (of: KeyedEntity, rows: readonly InsertedRow['values'][]): boolean => {
      const ids = unreachableIds(of)
      return ids.length > 0 && rows.some((row) => ids.some((one) => one === row.get(of.key[0])))
    }
    return (
      isAmong(entity, [values]) ||
      children.some(
        ({ children: { resource }, rows }) => resource !== undefined && isAmong(catalogue.keyedEntity(resource), rows)
      )
    )
  }

  /** Claims a key, inserts a row with its audit entry, and reads it, as `UnitOfWork.createAtOnce` says. */
  async createAtOnce(
    resource: KeyedResource,
    {
      claim,
      row,
      ignored
    }: { readonly claim: KeyClaim | undefined; readonly row: InsertedRow } & Pick<Written, 'ignored'>
  ): Promise<{ readonly key: RowKey; readonly answer: WriteResponse } | undefined> {
    const { entity, projections } = resource
    if (this.#hasUnreachableId(entity, row) || isReadAfter(entity)) return undefined
    const insert = planInsert(entity, row, this.deps)
    const { scope, values } = insert
    // Any other row has to be read within the scope, and a rejection comes after the claim of the key.
    const isInside = placeInScope(scope.after, (column) => values.get(column)) === 'inside'
    if (!isInside || scope.shown !== scope.after) return undefined
    const given = keyOfValues(entity.key.map((column) => values.get(column)))
    const created = await this.unit.createAtOnce({
      claim,
      insert,
      entry: {
        ...this.#told(entity, { action: 'create', changes: createdColumns(insert) }),
        rowId: given && auditedId(given)
      },
      projection: projections.whole({ references: false, children: false })
    })
    if (created === undefined) return undefined
    const { key } = created
    return { key, answer: responseOf(planWritten(resource, key, scope), created.row, ignored) }
  }

  /** Puts an event of the row into the outbox, once for each that gets it. */
  async emit(
    entity: KeyedEntity,
    key: RowKey,
    { type, payload }: { readonly type: string; readonly payload: JsonObject }
  ): Promise<void> {
    const event = {
      resource: entity.name,
      rowId: idText(key),
      payload: JSON.stringify(payload),
      occurredAt: this.now,
      requestId: this.requestId
    }
    this.sideEffects += 1
    for (const stored of this.deps.storedTypes(type)) {
      await this.unit.emit({ ...event, id: this.deps.newGuid(), type: stored })
    }
  }

  /**
   * The response with the row as it is now, in the form that a read of it has. It is the last step of a write, because it
   * checks that the row is where the write may leave it: otherwise it throws `ownership.denied`.
   */
  async answer(
    resource: KeyedResource,
    key: RowKey,
    { scope, ignored }: Omit<Written, keyof Audited>
  ): Promise<WriteResponse> {
    const plan = planWritten(resource, key, scope)
    const row = await this.unit.get(plan)
    if (row !== undefined) return responseOf(plan, this.#tellsHidden ? withoutVersion(plan, row) : row, ignored)
    const { after, shown } = scope
    const unseen = planUnseen(resource, key, scope)
    const id = shown === after ? undefined : await this.unit.get(unseen)
    if (id !== undefined) return responseOf(unseen, id, ignored)
    if (after.kind === 'all-rows') throw new TypeError('a row that was just written is gone')
    throw outsideScope()
  }

  /** The audit entry of a row that was written last, and the response, in one round trip. */
  async auditAndAnswer(resource: KeyedResource, key: RowKey, written: Written): Promise<WriteResponse> {
    const [audited, answer] = this.unit.together(
      () => [this.audit(resource.entity, key, written), this.answer(resource, key, written)] as const
    )
    await Promise.allSettled([audited, answer])
    await audited
    return await answer
  }

  /**
   * The UPDATE of a row, its audit entry and the response, in one round trip. undefined if no row matched: then nothing was
   * written, and the transaction has to be given up.
   */
  async updateAndAnswer(
    resource: KeyedResource,
    plan: UpdatePlan,
    written: Omit<Written, 'scope'>
  ): Promise<WriteResponse | undefined> {
    const { ignored } = written
    const { entity } = resource
    const { scope } = plan
    const [updated, audited, answer] = this.unit.together(
      () =>
        [
          this.unit.update(plan),
          this.unit.auditAfterChange(this.#auditEntry(entity, plan.key, written)),
          this.answer(resource, plan.key, { scope, ignored })
        ] as const
    )
    await Promise.allSettled([updated, audited, answer])
    if (!(await updated)) return undefined
    if (!(await audited)) throw new TypeError('the audit entry of a change was not inserted')
    return await answer
  }

  /**
   * The response with several rows in this order. Its `id` is a JSON array of their ids. Throws `body.invalid` where they have
   * more bytes than an answer may have: a short request may name large rows.
   */
  async answerAll(
    resource: KeyedResource,
    keys: readonly RowKey[],
    { scope, ignored }: Omit<Written, keyof Audited>
  ): Promise<WriteResponse> {
    const records: Buffer[] = []
    let left = MAX_ANSWER_BYTES
    for (const some of inGroups(keys, resource.entity)) {
      const answers = this.unit.together(() => some.map((key) => this.answer(resource, key, { scope, ignored: [] })))
      await Promise.allSettled(answers)
      for (const answer of answers) {
        records.push((await answer.catch((error: unknown) => throwAt(records.length, error))).json)
      }
      left = some.reduce((rest, _, at) => rest - (records[records.length - 1 - at]?.length ?? 0), left)
      if (left < 0 && keys.length > 1) throw rejectionError(reject.input('', TOO_LARGE))
    }
    const json = Buffer.from(`[${records.map((one) => one.toString('utf8')).join()}]`)
    return { json, rowVersion: Buffer.alloc(0), id: JSON.stringify(keys.map(idText)), ignored, location: '' }
  }
}

/** Where the rows of a collection will be, all of them together, as far as their values tell it. */
function placeOfChildren({ entity, values }: InsertPlan, { children, rows, scope }: NewChildren): Place {
  const { after } = scope
  if (after.kind === 'all-rows') return 'inside'
  const key = keyOfValues(entity.key.map((column) => values.get(column)))
  return placeOfAll(
    rows.map((row) =>
      placeInScope(after, (column) => {
        const at = children.foreignKey.findIndex((one) => one.column === column.column)
        return at === -1 ? row.values.get(column) : key?.[at]
      })
    )
  )
}

/**
 * Bytes of the rows of an answer. It is kept under the key of its request, as a text within a text, which twice as many bytes
 * hold: a statement of 8 MiB is what every server takes.
 */
const MAX_ANSWER_BYTES = 3 * 1024 * 1024
const TOO_LARGE = 'The rows of the answer would have more than 3 MiB together. Send fewer rows.'

/** Rows whose reads are sent together, unless a column of them may have more bytes than this. */
const TOGETHER = 50
const LARGE_COLUMN = 64 * 1024

/** Items of rows of the entity whose reads are sent together. */
export function* inGroups<Item>(items: readonly Item[], { columns }: KeyedEntity): Generator<readonly Item[]> {
  const size = columns.some(({ field }) => widthOf(field) > LARGE_COLUMN) ? 1 : TOGETHER
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

function responseOf(plan: GetPlan, row: LoadedRow, ignored: readonly string[]): WriteResponse {
  const { json, rowVersion = Buffer.alloc(0) } = recordEncoder(plan)(row)
  return { json, rowVersion, id: idText(plan.key), ignored, location: '' }
}

function withoutVersion({ projection }: GetPlan, row: LoadedRow): LoadedRow {
  if (!projection.shown.some(({ kind }) => kind === 'rowVersion')) return row
  const { stored: _, ...decoded } = row
  const at = placeOf('rowVersion', projection)
  return { ...decoded, values: Array.from(row.values, (value, index) => (index === at ? null : value)) }
}

/** The first characters of a text. */
function cut(text: string, characters: number): string {
  return text.length <= characters ? text : Array.from(text).slice(0, characters).join('')
}
