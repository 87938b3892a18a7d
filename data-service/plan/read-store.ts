import type { Value } from '../entity/value.js'
import type { ExportPlan, GetPlan, ListPlan, LookupPlan, PagePlan } from './read-plan.js'

/** A row as loaded: values in the order of the projection's `selected`, navigations by name. */
export interface LoadedRow {
  readonly values: readonly Value[]
  readonly references: ReadonlyMap<string, LoadedRow | null>
  /** Each child: its columns in order, then its row version. */
  readonly children: ReadonlyMap<string, readonly (readonly Value[])[]>
}

export interface ListResult {
  readonly rows: readonly LoadedRow[]
  readonly truncated: boolean
}

export interface PageResult {
  readonly rows: readonly LoadedRow[]
  /** undefined where the plan skips the count. */
  readonly total: number | undefined
  readonly hasNext: boolean
}

export interface LookupResult {
  readonly items: readonly { readonly id: Value; readonly name: Value }[]
  readonly truncated: boolean
}

/** A batch of an export, values in the order of `selected`; `last` with the last one, which may be empty. */
export interface ExportBatch {
  readonly rows: readonly (readonly Value[])[]
  /** Set on the last batch: whether more rows matched than the plan's limit. */
  readonly end: { readonly truncated: boolean } | undefined
}

/**
 * What runs read plans (data-service/sql). An aborted signal stops the statement in the database and rejects with the
 * signal's reason.
 */
export interface ReadStore {
  list(plan: ListPlan, signal: AbortSignal): Promise<ListResult>
  page(plan: PagePlan, signal: AbortSignal): Promise<PageResult>
  /** undefined for no such row within the scope. */
  get(plan: GetPlan, signal: AbortSignal): Promise<LoadedRow | undefined>
  lookup(plan: LookupPlan, signal: AbortSignal): Promise<LookupResult>
  /** The next statement is sent when the next batch is asked for; leaving the loop ends the snapshot. */
  export(plan: ExportPlan, signal: AbortSignal): AsyncIterable<ExportBatch>
}
