import type { DeleteBatchRequest__Output } from '../../../shared/gen/entity/v1/DeleteBatchRequest.js'
import type { DeleteBatchResponse } from '../../../shared/gen/entity/v1/DeleteBatchResponse.js'
import type { UpdateBatchRequest__Output } from '../../../shared/gen/entity/v1/UpdateBatchRequest.js'
import type { UpdateBatchResponse } from '../../../shared/gen/entity/v1/UpdateBatchResponse.js'
import type { CallContext } from '../../entity/caller.js'
import { UnshownValue } from '../../entity/fields/unshown.js'
import { idText, type RowKey } from '../../entity/key.js'
import { writeScope } from '../../plan/authorize.js'
import { parseDeleteBatch, parseUpdateBatch, type ParsedItems } from '../../plan/batch-requests.js'
import type { StoredRow } from '../../plan/model/stores.js'
import { planLockAll } from '../../plan/plan-writes.js'
import { readsChildren, removeRow } from './delete.js'
import { wantsRowBefore } from './effects.js'
import { errorOfItem } from './rejections.js'
import { updateRow } from './update.js'
import { idempotentWrite } from './write.js'
import { LARGE } from './write-shares.js'
import { inGroups, type WriteDeps, type WriteResponse, type WriteSteps } from './write-steps.js'

// Batches of changes and of deletes: the single writes one after the other in one transaction, in the order of the body.

export async function updateBatch(
  deps: WriteDeps,
  context: CallContext,
  request: UpdateBatchRequest__Output
): Promise<UpdateBatchResponse> {
  const { planning, shares } = deps
  const parsed = parseUpdateBatch(
    request,
    { planning, caller: context.caller },
    { keyRequired: false, checkSize: (rows) => shares.check(context, rows) }
  )
  const { resource, writer, ignored, items } = parsed
  const common = { resource, writer, defaulted: [], ignored: [] }
  const { json, replayed, rolledBack, ...answer } = await writeItems({ deps, context }, parsed, {
    method: 'PATCH',
    path: `/${resource.entity.name}/batch`,
    size: items.length,
    readsBefore: resource.entity.updateRule === undefined && wantsRowBefore(resource.entity, 'update'),
    write: async (item, steps) => {
      await updateRow({ parsed: { ...common, ...item } }, steps)
    },
    // A later item may have changed what an earlier one shows.
    answer: (steps) =>
      steps.answerAll(
        resource,
        items.map(({ rowKey }) => rowKey),
        { scope: writeScope(writer), ignored }
      )
  })
  return { json, ignoredMembers: [...answer.ignored], replayed, rolledBack }
}

export async function deleteBatch(
  deps: WriteDeps,
  context: CallContext,
  request: DeleteBatchRequest__Output
): Promise<DeleteBatchResponse> {
  const { planning, shares, idempotency } = deps
  const parsed = parseDeleteBatch(
    request,
    { planning, caller: context.caller },
    { keyRequired: idempotency.required, checkSize: (rows) => shares.check(context, rows) }
  )
  const { resource, writer, ignored, items } = parsed
  const { replayed, rolledBack, ...answer } = await writeItems({ deps, context }, parsed, {
    method: 'POST',
    path: `/${resource.entity.name}/batch/delete`,
    // A row may have a thousand children, which its rule reads.
    size: readsChildren(resource.entity) ? Math.max(items.length, LARGE) : items.length,
    readsBefore: resource.entity.deletion.rule === undefined && wantsRowBefore(resource.entity, 'delete'),
    write: (item, steps) => removeRow({ resource, writer, ...item }, steps),
    answer: () => Promise.resolve({ ...NO_ROWS, ignored })
  })
  return { ignoredMembers: [...answer.ignored], replayed, rolledBack }
}

/** The rows of an answer that tells none, and their ids. */
const NO_ROWS = { json: Buffer.from('[]'), rowVersion: Buffer.alloc(0), id: '[]', location: '' }

type ParsedBatch = ReturnType<typeof parseDeleteBatch>

/** All items or none. Throws the error of the first item that cannot be written. */
async function writeItems<Item extends ParsedBatch['items'][number]>(
  at: { readonly deps: WriteDeps; readonly context: CallContext },
  parsed: ParsedItems<Item>,
  of: {
    readonly method: 'PATCH' | 'POST'
    readonly path: string
    readonly size: number
    /** Whether each write reads its row without a rule, which takes one statement for a group of rows then. */
    readonly readsBefore: boolean
    readonly write: (item: Item, steps: WriteSteps) => Promise<void>
    readonly answer: (steps: WriteSteps) => Promise<WriteResponse>
  }
): ReturnType<typeof idempotentWrite> {
  const { method, path, size, readsBefore, write, answer } = of
  const { items } = parsed
  const { entity } = parsed.resource
  /** The item that is being written. The transaction may run several times. */
  let current: number | undefined
  const work = async (steps: WriteSteps): Promise<WriteResponse> => {
    current = undefined
    await lockInOrder(parsed, steps)
    let next = 0
    for (const some of inGroups(items, entity)) {
      if (readsBefore) steps.lockedBefore = await lockItems(parsed, some, steps)
      for (const item of some) {
        current = next++
        await write(item, steps)
      }
      current = undefined
    }
    return await answer(steps)
  }
  try {
    return await idempotentWrite(at, parsed, { method, path, guarded: true, via: 'batch', size, work })
  } catch (error) {
    throw current === undefined ? error : errorOfItem(current, error)
  }
}

/**
 * Locks the rows in an order that all batches have, so that two of them over the same rows wait for each other and do not
 * deadlock. Writes in that order need no locks before.
 */
async function lockInOrder(parsed: ParsedBatch, steps: WriteSteps): Promise<void> {
  const { items, resource } = parsed
  const sorted = items.toSorted((one, other) => compareKeys(one.rowKey, other.rowKey))
  if (sorted.every((item, index) => item === items[index])) return
  for (const some of inGroups(sorted, resource.entity)) await lockItems(parsed, some, steps)
}

async function lockItems(
  { resource: { entity }, writer }: ParsedBatch,
  items: ParsedBatch['items'],
  { unit }: WriteSteps
): Promise<ReadonlyMap<string, StoredRow>> {
  const keys = items.map(({ rowKey }) => rowKey)
  try {
    return await unit.lockAll(planLockAll({ entity, keys, scope: writeScope(writer).before }))
  } catch (error) {
    // The rows are locked all the same. The write of each item reads its own again, and says which of them cannot be read.
    if (error instanceof UnshownValue) return new Map()
    throw error
  }
}

function compareKeys(one: RowKey, other: RowKey): number {
  const [first] = one
  const [second] = other
  if (one.length === 1 && typeof first === 'number' && typeof second === 'number') return first - second
  const [a, b] = [idText(one), idText(other)]
  return a < b ? -1 : a > b ? 1 : 0
}
