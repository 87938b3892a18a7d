import { DomainError } from '../../shared/errors.js'
import { type Entrant, type FairLimits, FairSemaphore } from '../../shared/fair-semaphore.js'
import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { ExportRows } from '../../shared/gen/entity/v1/ExportRows.js'
import type { Property } from '../../shared/gen/entity/v1/Property.js'
import { type CallContext, countedAddress } from '../entity/caller.js'
import { UnshownValues } from '../entity/fields/unshown.js'
import type { Resource } from '../plan/model/catalogue.js'
import type { ExportPlan } from '../plan/model/plans.js'
import { planExport } from '../plan/plan-reads.js'
import { propertyName } from '../plan/model/projection.js'
import type { BatchWriter, ExportBatch, ExportedRow } from '../plan/model/stores.js'
import { csvWriter, type ExportedCells, type RowsWriter } from './csv.js'
import { describeProperty } from './describe/describe.js'
import { sharesOf } from './fair-shares.js'
import { cellReader } from './json.js'
import { type ReadDeps, withOverrides } from './reads.js'
import { unshownIn } from './unshown-values.js'

/** Exports that may run at a time. Each holds a snapshot on its own connection, apart from those of other reads. */
const MAX_EXPORTS = 16

/**
 * Exports of one caller, or of the anonymous callers of one address, and of all anonymous callers together. The rest is for
 * authenticated callers. Two addresses and two accounts may be one client, which would otherwise hold all places.
 */
const LIMITS = {
  ofCaller: 4,
  ofAnonymous: 8,
  last: 4,
  ofAll: { limit: MAX_EXPORTS, last: MAX_EXPORTS / 2 },
  atLeast: 1
} as const

/** Exports that may wait for a place. */
const MAX_WAITING_EXPORTS = 64

/** Milliseconds that an export waits for a place. */
const WAIT_TIMEOUT = 5_000

/**
 * Milliseconds after which a running export is ended for another caller's export that would have to wait. While nobody
 * waits it runs for as long as its reader takes.
 */
const RECALL_AFTER = 3_600_000

/** The same for an export whose reader has not taken a batch for so long. A batch is about half a megabyte. */
const RECALL_IDLE_AFTER = 300_000

/** Limits the exports of this process. `times` (milliseconds) is for tests. */
export function exportSemaphore(
  times: Partial<Pick<FairLimits, 'recallAfter' | 'timeout' | 'now'>> = {}
): FairSemaphore {
  const limits = { recallAfter: RECALL_AFTER, recallIdleAfter: RECALL_IDLE_AFTER, timeout: WAIT_TIMEOUT, ...times }
  const detail = 'Too many exports are under way. Try again.'
  return new FairSemaphore({ places: MAX_EXPORTS, waiting: MAX_WAITING_EXPORTS, detail, ...limits })
}

/** The export, with the entity's override of it. An override looks at rows, so it gets them as JSON in any case. */
export function exportHandler(
  deps: ReadDeps
): (context: CallContext, request: ExportRequest__Output) => AsyncIterable<ExportResponse> {
  const overridden = withOverrides(deps, beginExport, (overrides) => overrides.export)
  return (context, request) => {
    const { overrides } = deps.planning.catalogue.entity(request.resource)
    return overrides.export === undefined
      ? beginExport(deps, context, request)
      : overridden(context, { ...request, asCsv: null })
  }
}

/** Throws at once for a bad request, not when the first message is read. */
function beginExport(
  { planning, store, exports, shares: reads }: ReadDeps,
  context: CallContext,
  request: ExportRequest__Output
): AsyncIterable<ExportResponse> {
  const { caller, signal } = context
  const plan = planExport(request, { planning, caller })
  reads.checkMemory()
  const columns = exportColumns(plan, planning.catalogue.resource(request.resource, caller))
  const shares = sharesOf(caller, context.peerIsGateway ? request.clientAddress : countedAddress(context), LIMITS)
  const { shown, projection } = exportCells(plan)
  const unshown = new UnshownValues()
  const writer = request.asCsv
    ? csvWriter({ shown, projection, unshown }, request.asCsv)
    : jsonWriter({ shown, projection, unshown })
  return messages(plan, {
    columns,
    unshown: () => unshownIn(context, unshown),
    batches: admitted(store.export(plan, writer.begin, signal), { shares, signal, exports }),
    sent: writer.sent
  })
}

interface Admission {
  readonly shares: Entrant['shares']
  readonly signal: AbortSignal
  readonly exports: FairSemaphore
}

/** Waits for a place and then yields the batches. The place is held until they end or it is recalled. */
async function* admitted<Part>(
  rows: AsyncIterable<ExportBatch<Part>>,
  { shares, signal, exports }: Admission
): AsyncGenerator<ExportBatch<Part>> {
  const batches = rows[Symbol.asyncIterator]()
  let release = (): void => undefined
  let recalled = false
  /** When the reader got the batch that it has; undefined while it waits for one, which is the database's time. */
  let givenAt: number | undefined
  const end = async (): Promise<void> => {
    try {
      await batches.return?.()
    } finally {
      release()
    }
  }
  const recall = (): void => {
    recalled = true
    // The reader may not ask for more for hours, so the batches are ended now. Its next request for a batch fails.
    end().catch(() => undefined)
  }
  release = await exports.enter({ shares, signal, recall, movedAt: () => givenAt ?? exports.now() })
  try {
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      givenAt = exports.now()
      yield next.value
      givenAt = undefined
      if (next.value.end !== undefined) return
    }
    if (recalled) throw new DomainError('upstream.unavailable', 'The export made room for another one. Try again.')
  } finally {
    await end()
  }
}

async function* messages(
  plan: ExportPlan,
  from: {
    readonly columns: ReturnType<typeof exportColumns>
    readonly batches: AsyncIterable<ExportBatch<ExportRows>>
    readonly sent: RowsWriter['sent']
    readonly unshown: () => ReturnType<typeof unshownIn>
  }
): AsyncGenerator<ExportResponse> {
  let count = 0
  let before: ExportRows | undefined
  let hasHeader = false
  for await (const { parts, count: found, end } of from.batches) {
    // The header waits for the first batch, so that the error of a query that fails at once comes before any message.
    if (!hasHeader) yield { header: { columns: [...from.columns], rowLimit: plan.limit } }
    hasHeader = true
    for (const rows of parts) {
      yield { rows }
      // Whoever takes the messages sends one after another (streamCall), so the one before this has been sent.
      if (before !== undefined) from.sent(before)
      before = rows
    }
    count += found
    if (end !== undefined) yield { end: { count, truncated: end.truncated, ...from.unshown() } }
  }
}

/** Target size of a message in characters of JSON: large enough to be cheap, small enough for slow readers. */
const MESSAGE_CHARACTERS = 64 * 1024

/** The columns of an export, as the header describes them. */
function exportColumns(plan: ExportPlan, resource: Resource): readonly Property[] {
  return plan.projection.shown.flatMap((property) => describeProperty(property, resource) ?? [])
}

function exportCells({ projection }: ExportPlan): Pick<ExportedCells, 'shown' | 'projection'> {
  const shown = projection.shown.map((property) => {
    if (property.kind === 'reference' || property.kind === 'manyToMany' || property.kind === 'children') {
      throw new TypeError('a navigation cannot be exported')
    }
    return property
  })
  return { shown, projection }
}

/** Writes rows in messages of bounded size, each a JSON array of arrays. */
function jsonWriter({ shown, projection, unshown }: ExportedCells): RowsWriter {
  const cells = shown.map((property) => {
    const { read, encode } = cellReader(property, projection)
    const name = propertyName(property)
    return (row: ExportedRow): string => {
      try {
        return encode(read((at) => row.value(at)))
      } catch (error) {
        unshown.add(error, name)
        return 'null'
      }
    }
  })
  const begin = (): BatchWriter<ExportRows> => {
    const messages: ExportRows[] = []
    let bytes = 0
    let json = ''
    let count = 0
    const cut = (): void => {
      const message = Buffer.from(`${json}]`)
      bytes += message.length
      messages.push({ json: message, count })
      json = ''
      count = 0
    }
    return {
      add(row) {
        json += `${count === 0 ? '[' : ','}[${cells.map((cell) => cell(row)).join()}]`
        count += 1
        if (json.length >= MESSAGE_CHARACTERS) cut()
      },
      get bytes() {
        return bytes + json.length
      },
      finish() {
        if (count > 0) cut()
        return messages
      }
    }
  }
  return { begin, sent: () => undefined }
}
