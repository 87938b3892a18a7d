import type { Value } from '../../../data-service/entity/fields/field.js'
import type { PagePlan, Projection } from '../../../data-service/plan/model/plans.js'
import { selectedName } from '../../../data-service/plan/model/projection.js'
import type {
  BatchWriter,
  ExportBatch,
  ExportedRow,
  LoadedRow,
  ReadStore
} from '../../../data-service/plan/model/stores.js'
import type { Cancellation } from '../../../shared/transport/cancellation.js'
import { cellWriter } from '../../../data-service/entity/types/types.js'

type MemoryRow = Readonly<Record<string, Value>>

/** Answers every read with the same rows: what is tested here is what stands around the store. */
export class MemoryStore implements ReadStore {
  rows: readonly MemoryRow[] = []
  referenced: MemoryRow = {}
  children: readonly (readonly Value[])[] = []
  /** Runs before each answer and each batch; throw here to fail, or wait on the signal to hang. */
  before: (signal: AbortSignal) => Promise<void> = () => Promise.resolve()
  /** Whether pages go on. */
  hasNext = false
  /** Of the latest page. */
  paged: PagePlan | undefined
  batches = 1
  batchesTaken = 0
  exportsOpen = 0

  async list({ projection, references }: Parameters<ReadStore['list']>[0], signal: AbortSignal) {
    await this.before(signal)
    const rows = this.rows.map((row) => this.#load(row, projection, references[0]?.projection))
    return { rows, truncated: true }
  }

  async page(plan: Parameters<ReadStore['page']>[0], signal: AbortSignal) {
    await this.before(signal)
    this.paged = plan
    const rows = this.rows.map((row) => this.#load(row, plan.projection))
    const next = this.hasNext ? { keys: [0], includesRow: false } : undefined
    return { rows, total: plan.withTotal ? rows.length : undefined, next, previous: undefined }
  }

  async get({ projection, key: [id] }: Parameters<ReadStore['get']>[0], cancellation: Cancellation) {
    const waiting = new AbortController()
    if (cancellation.aborted) waiting.abort(cancellation.reason)
    cancellation.addEventListener('abort', { handleEvent: () => waiting.abort(cancellation.reason) })
    await this.before(waiting.signal)
    const row = this.rows.find((one) => one['id'] === id)
    return row && this.#load(row, projection)
  }

  async getBy({ projection, where }: Parameters<ReadStore['getBy']>[0]) {
    const row = this.rows.find((one) => one[where.path.column.name] === where.operands[0])
    return row && this.#load(row, projection)
  }

  async lookup(_plan: Parameters<ReadStore['lookup']>[0], signal: AbortSignal) {
    await this.before(signal)
    return {
      items: this.rows.map((row) => ({ key: [Number(row['id'])] as const, name: row['title'] ?? null })),
      truncated: false
    }
  }

  totals(): Promise<never> {
    return Promise.reject(new Error('This store computes no totals'))
  }

  history(): Promise<never> {
    return Promise.reject(new Error('This store has no audit entries'))
  }

  select(): Promise<never> {
    return Promise.reject(new Error('This store runs no statements'))
  }

  call(): Promise<never> {
    return Promise.reject(new Error('This store runs no statements'))
  }

  async *export<Part>(
    { projection }: Parameters<ReadStore['export']>[0],
    writer: () => BatchWriter<Part>,
    signal: AbortSignal
  ): AsyncGenerator<ExportBatch<Part>> {
    this.exportsOpen++
    try {
      for (let batch = 1; batch <= this.batches; batch++) {
        await this.before(signal)
        this.batchesTaken++
        const written = writer()
        for (const row of this.rows) written.add(exportedRow(row, projection))
        const end = batch === this.batches ? { truncated: false } : undefined
        yield { parts: written.finish(), count: this.rows.length, end }
      }
    } finally {
      this.exportsOpen--
    }
  }

  #load(row: MemoryRow, projection: Projection, referenced?: Projection): LoadedRow {
    const nested = referenced && { ...emptyRow, values: valuesOf(this.referenced, referenced) }
    return {
      values: valuesOf(row, projection),
      references: new Map(nested ? [['maker', nested]] : []),
      manyToMany: new Map(),
      children: new Map([['parts', this.children.map((values) => ({ values, children: new Map<string, never>() }))]]),
      truncated: []
    }
  }
}

const emptyRow = {
  references: new Map<string, LoadedRow | null>(),
  manyToMany: new Map<string, never[]>(),
  children: new Map<string, never[]>(),
  truncated: []
}

function valuesOf(row: MemoryRow, { selected }: Projection): Value[] {
  return selected.map((one) => row[selectedName(one)] ?? null)
}

function exportedRow(row: MemoryRow, projection: Projection): ExportedRow {
  const values = valuesOf(row, projection)
  const writers = projection.selected.map((one) =>
    cellWriter(one.kind === 'rowVersion' ? 'bytes' : one.column.field.type)
  )
  return {
    values,
    value: (at) => values[at] ?? null,
    writeCells: (some, out) => {
      some.forEach((at, index) => {
        if (index > 0) out.comma()
        writers[at]?.(values[at] ?? null, out)
      })
    }
  }
}
