import type { HistoryRequest__Output } from '../../shared/gen/entity/v1/HistoryRequest.js'
import type { HistoryResponse } from '../../shared/gen/entity/v1/HistoryResponse.js'
import type { CallContext } from '../entity/caller.js'
import type { HistoryEntry, ReadStore } from '../plan/model/stores.js'
import { planHistory } from '../plan/plan-history.js'
import type { Planning } from '../plan/planning.js'
import { noSuchRow } from '../plan/row-scopes.js'
import type { ReadShares } from './fair-shares.js'

/** What an entry costs, in rows: it may be longer than a row. */
const ROWS_OF_ENTRY = 10

interface HistoryDeps {
  readonly planning: Planning
  readonly store: Pick<ReadStore, 'get' | 'history'>
  readonly shares: Pick<ReadShares, 'admit'>
}

/** A page of the history of a row. */
export async function history(
  { planning, store, shares }: HistoryDeps,
  context: CallContext,
  request: HistoryRequest__Output
): Promise<HistoryResponse> {
  const planned = planHistory(request, { planning, caller: context.caller })
  const { resource, row, page, shown, seesDeleted, cursors } = planned
  return await shares.admit(context, { rows: ROWS_OF_ENTRY * page.limit }, async () => {
    const sees = async (): Promise<boolean> => (await store.get(row, context.cancellation)) !== undefined
    const isThere = await sees()
    if (!isThere && !seesDeleted) throw noSuchRow()
    const found = await store.history(page, context.cancellation)
    // It may have been given to somebody else meanwhile.
    if (isThere && row.scope.kind !== 'all-rows' && !(await sees())) throw noSuchRow()
    if (!isThere && found.length === 0 && page.before === undefined) throw noSuchRow()
    const entries = found.slice(0, page.limit)
    const last = found.length > page.limit ? entries.at(-1) : undefined
    const nextCursor = last && cursors.encode({ keys: [last.id], includesRow: false })
    const json = Buffer.from(`[${entries.map((entry) => entryJson(entry, { resource, shown })).join()}]`)
    return { json, pageSize: page.limit, ...(nextCursor === undefined ? {} : { nextCursor }) }
  })
}

/** Its changes are those of the columns that the caller sees today. Values are written as they were kept. */
function entryJson(
  { id, at, action, subject, requestId, changes, isFirst }: HistoryEntry,
  { resource, shown }: Pick<ReturnType<typeof planHistory>, 'resource' | 'shown'>
): string {
  const entry = JSON.stringify({
    id,
    at,
    action,
    ...(shown.has('subject') ? { subject } : {}),
    ...(shown.has('requestId') ? { requestId } : {})
  })
  // As `changesOf` has written it.
  const kept = JSON.parse(changes ?? '{}') as Readonly<Record<string, readonly (string | null)[]>>
  const members = Object.entries(kept)
    .filter(([name]) => resource.properties.get(name.toLowerCase())?.kind === 'column')
    .map(([name, [before, after]]) => `${JSON.stringify(name)}:${changeJson(isFirst ? null : before, after)}`)
  return `${entry.slice(0, -1)},"changes":{${members.join()}}}`
}

function changeJson(before: string | null | undefined, after: string | null | undefined): string {
  if (before === undefined || after === undefined) return '{"omitted":true}'
  const sides = [before === null ? '' : `"before":${before}`, after === null ? '' : `"after":${after}`]
  return `{${sides.filter((side) => side !== '').join()}}`
}
