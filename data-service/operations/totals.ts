import type { TotalsRequest__Output } from '../../shared/gen/entity/v1/TotalsRequest.js'
import type { TotalsResponse } from '../../shared/gen/entity/v1/TotalsResponse.js'
import type { CallContext } from '../entity/caller.js'
import { CsvWriter } from '../entity/fields/csv-text.js'
import type { Value } from '../entity/fields/field.js'
import { UnshownValues } from '../entity/fields/unshown.js'
import { jsonBytes } from '../entity/fields/json-text.js'
import { cellWriter, valueWriter } from '../entity/types/types.js'
import type { TotalsPlan } from '../plan/model/plans.js'
import type { ReadStore } from '../plan/model/stores.js'
import type { Planning } from '../plan/planning.js'
import { planTotals } from '../plan/plan-totals.js'
import type { ReadShares } from './fair-shares.js'
import { unshownIn } from './unshown-values.js'
import { writeArray } from './json.js'

/** What totals cost, in rows: as much as a list, since they look at every row that matches. */
const TOTALS_ROWS = 1000

interface TotalsDeps {
  readonly planning: Planning
  readonly store: Pick<ReadStore, 'totals'>
  readonly shares: Pick<ReadShares, 'admit'>
}

export async function totals(
  { planning, store, shares }: TotalsDeps,
  context: CallContext,
  request: TotalsRequest__Output
): Promise<TotalsResponse> {
  const plan = planTotals(request, { planning, caller: context.caller })
  return await shares.admit(context, { rows: TOTALS_ROWS, conditions: plan.conditions }, async () => {
    const result = await store.totals(plan, context.cancellation)
    const unshown = new UnshownValues()
    const { rows, truncated } = result
    const columns = columnsOf(plan)
    const shown = rows.map((values) => values.map((value, at) => unshown.shown(value, columns[at]?.name ?? '')))
    const answer = request.asCsv ? { csv: csvOf(shown, columns) } : { json: jsonOf(shown, columns) }
    return { ...answer, ...unshownIn(context, unshown), truncated, rowLimit: plan.limit }
  })
}

type TotalsColumn = TotalsPlan['dimensions' | 'measures'][number]

function columnsOf({ dimensions, measures }: TotalsPlan): readonly TotalsColumn[] {
  return [...dimensions, ...measures]
}

type ShownRows = readonly (readonly Value[])[]

function jsonOf(rows: ShownRows, columns: readonly TotalsColumn[]): Buffer {
  const members = columns.map(({ name, field }, at) => ({
    // Names have no character that JSON escapes.
    start: `${at === 0 ? '' : ','}"${name}":`,
    write: valueWriter(field.type)
  }))
  return jsonBytes((out) =>
    writeArray(
      rows,
      (values) => {
        out.text('{')
        members.forEach(({ start, write }, at) => {
          out.text(start)
          write(values[at] ?? null, out)
        })
        out.text('}')
      },
      out
    )
  )
}

const BYTE_ORDER_MARK = '\uFEFF'
/** Bytes to begin with. The memory grows. */
const CSV_ROOM = 4096

function csvOf(rows: ShownRows, columns: readonly TotalsColumn[]): Buffer {
  const writers = columns.map(({ field }) => cellWriter(field.type))
  const out = new CsvWriter(Buffer.allocUnsafeSlow(CSV_ROOM), { escapeFormulas: true })
  out.text(BYTE_ORDER_MARK)
  out.text(columns.map(({ name }) => name).join())
  out.endRow()
  for (const values of rows) {
    writers.forEach((write, at) => {
      if (at > 0) out.comma()
      write(values[at] ?? null, out)
    })
    out.endRow()
  }
  return out.take(Buffer.alloc(0))
}
