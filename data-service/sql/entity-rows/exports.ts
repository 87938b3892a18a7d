import { idText, isKeyed, keyOfValues, type RowKey } from '../../entity/key.js'
import type { ExportPlan, Position } from '../../plan/model/plans.js'
import type { BatchWriter, ExportBatch } from '../../plan/model/stores.js'
import { boundValues, scopeConditions } from './statements/conditions.js'
import { AnswerTooLarge } from '../engines/answer-bytes.js'
import type { Snapshot } from '../engines/sessions.js'
import type { CsvRow } from '../engines/statement.js'
import { anyOfRanges, exactOrder, rangesBehind, sortKeyOf } from './statements/keyset.js'
import { keyPaths, selectionOf, type Source, valueAt } from './navigations.js'
import { SharedKey } from './shared-keys.js'

/** Batches that are read as one where each takes a sort of all rows. None is read ahead of them. */
const UNINDEXED_BATCHES = 10

/** Rows of the first batch at most. It has fewer where the columns may be large: how large the rows are is not known yet. */
const FIRST_BATCH = 200

/** Bytes of a batch that the number of its rows aims at. Two batches are in memory: one is sent, the next one is read. */
const BATCH_BYTES = 512 * 1024

/** Bytes of rows that a batch may have beyond those aimed at, in such numbers. A larger row is a batch by itself. */
const MORE_BATCHES = 1

/**
 * Bytes that the rows of a batch may have as far as their columns say. A server sends all rows of a statement, also those
 * after the most bytes of a batch, which are read once more.
 */
const POSSIBLE_BYTES = 64 * 1024 * 1024

/** Rows that a batch may have however large its columns may be. */
const ROWS_OF_ANY_SIZE = 128

interface ExportOf<Part> {
  readonly open: (signal: AbortSignal) => Promise<Snapshot>
  readonly writer: () => BatchWriter<Part>
  readonly signal: AbortSignal
}

/**
 * Reads the rows of an export in batches from one snapshot, which is closed when the loop ends for any reason. A batch that
 * is being read then is stopped.
 */
export async function* exportRows<Part>(
  plan: ExportPlan,
  source: Source,
  { open, writer, signal }: ExportOf<Part>
): AsyncGenerator<ExportBatch<Part>, void, undefined> {
  const leaving = new AbortController()
  const snapshot = await open(AbortSignal.any([signal, leaving.signal]))
  const isIndexed = source.statements.isIndexed(plan.entity, plan.sort)
  const read = batchReader(plan, source, { snapshot, writer, isIndexed })
  let reading = read({ last: undefined, left: plan.limit, rows: undefined })
  const readNext = (start: BatchStart): void => {
    reading = read(start)
    // It can fail before anybody awaits it. This prevents an unhandled rejection.
    reading.catch(() => undefined)
  }
  try {
    for (;;) {
      const { batch, next } = await reading
      if (next !== undefined && isIndexed) readNext(next)
      yield batch
      if (next === undefined) return
      if (!isIndexed) readNext(next)
    }
  } finally {
    leaving.abort()
    await reading.catch(() => undefined)
    await snapshot.close()
  }
}

/** Where a batch begins. */
interface BatchStart {
  /** The sort keys of the row before it; undefined for the first batch, and for rows without a key. */
  readonly last: Position['keys'] | undefined
  /** Rows up to the limit of the plan. */
  readonly left: number
  /** Rows to read, so many times more where no index serves the order; undefined for the first batch. */
  readonly rows: number | undefined
}

interface ReadBatch<Part> {
  readonly batch: ExportBatch<Part>
  /** undefined after the last batch. */
  readonly next: BatchStart | undefined
}

/** What one statement of a batch has read. */
interface RowsOfBatch<Part> {
  readonly limit: number
  readonly found: number
  readonly latest: CsvRow | undefined
  readonly written: BatchWriter<Part>
}

/** Rows with one key that a batch may grow to. */
const MOST_ALIKE = 10_000

function batchReader<Part>(
  plan: ExportPlan,
  { statements, dialect, sharedKeys }: Source,
  {
    snapshot,
    writer,
    isIndexed
  }: { readonly snapshot: Snapshot; readonly writer: () => BatchWriter<Part>; readonly isIndexed: boolean }
): (start: BatchStart) => Promise<ReadBatch<Part>> {
  const { entity, projection, scope } = plan
  const sort = exactOrder(plan.sort, entity, { dialect, sharedKeys })
  const paths = sort.map(({ path }) => path)
  const selection = selectionOf(entity, projection, isKeyed(entity) ? paths : [])
  const keys = isKeyed(entity) ? paths.map((path) => valueAt(selection, path)) : []
  const keysOf = (row: CsvRow): Position['keys'] => keys.map((key) => sortKeyOf(key(row)))
  // Rows without a key are passed over by number. The snapshot has the same ones, in an order that alike rows do not change.
  const byNumber = !isKeyed(entity)
  const conditions = [...plan.conditions, ...scopeConditions(scope)]
  const ofKey = sharedKeys?.has(entity.table) === true && isKeyed(entity) ? keyPaths(entity) : []
  const keyParts = ofKey.map((path) => valueAt(selection, path))
  const keyOf = (row: CsvRow): RowKey | undefined => keyOfValues(keyParts.map((part) => part(row)))
  const mayShare = keyParts.length > 0
  return async ({ last, left, rows }) => {
    const ranges = last === undefined ? [] : rangesBehind(sort, { keys: last, through: false })
    const cut = byNumber ? 'limit and offset' : 'limit'
    const statement = statements.rows({ entity, ...selection, conditions, sort, ranges, cut })
    const sized = rows ?? Math.min(FIRST_BATCH, Math.max(1, Math.floor(BATCH_BYTES / statement.width)))
    const possible = Math.max(ROWS_OF_ANY_SIZE, Math.floor(POSSIBLE_BYTES / statement.width))
    const batches = isIndexed ? 1 : UNINDEXED_BATCHES
    const wanted = Math.min(sized, snapshot.batch, possible) * batches
    const bound = boundValues([...conditions, ...anyOfRanges(ranges)], dialect)
    if (byNumber) bound['offset'] = BigInt(plan.limit - left)
    const bytes = { bytes: (batches + MORE_BATCHES) * BATCH_BYTES, isFirstFree: true, beside: mayShare ? 1 : 0 }
    const readUpTo = async (limit: number, mayGrow = true): Promise<RowsOfBatch<Part>> => {
      const written = writer()
      let found = 0
      let latest: CsvRow | undefined
      let alike: { readonly key: RowKey; readonly id: string; rows: number; isCut: boolean } | undefined
      const most = BigInt(mayShare ? limit + 1 : limit)
      await snapshot.each({ statement, values: { ...bound, limit: most }, bytes }, (row) => {
        const key = mayShare ? keyOf(row) : undefined
        const id = key && idText(key)
        const isAlike = id !== undefined && id === alike?.id
        if (found === limit) {
          if (isAlike && alike !== undefined) alike.isCut = true
          return
        }
        if (isAlike && alike !== undefined) alike.rows += 1
        else if (key !== undefined && id !== undefined) alike = { key, id, rows: 1, isCut: false }
        found += 1
        if (found > left) return
        written.add(row)
        latest = row
      })
      // The next batch begins behind a key: this one ends before the rows that have the same.
      if (alike?.isCut === true && found <= left) {
        if (alike.rows < limit) return readUpTo(limit - alike.rows, mayGrow)
        if (!mayGrow || limit >= MOST_ALIKE) throw new SharedKey(entity, alike.key)
        return readUpTo(2 * limit)
      }
      return { limit, found, latest, written }
    }
    // One row above the limit is read to find out whether rows are left out.
    const { limit, found, latest, written } = await readUpTo(Math.min(wanted, left + 1)).catch((error: unknown) => {
      // The snapshot has the same rows still, so that so many are within the bound.
      if (error instanceof AnswerTooLarge) return readUpTo(error.held, false)
      throw error
    })
    const truncated = found > left
    const isLast = truncated || found < limit
    const parts = written.finish()
    const count = Math.min(found, left)
    return {
      batch: { parts, count, end: isLast ? { truncated } : undefined },
      next:
        isLast || latest === undefined
          ? undefined
          : {
              last: byNumber ? undefined : keysOf(latest),
              left: left - found,
              rows: Math.max(1, Math.floor((BATCH_BYTES * found) / Math.max(1, written.bytes)))
            }
    }
  }
}
