import type { Exchange } from '../../history.js'
import { auditOf, outcomeOf } from './audit.js'
import { pathOf } from '../chains.js'
import type { Rows, Violation } from '../checker.js'
import { objectsOf } from '../json.js'
import { Senders } from './permitted.js'

/** What was asked for once, however often it was sent: under one key, or by one request without a key. */
interface Unit {
  readonly resource: string
  /** Who was told that it was done, and the rows that the answer names; checkouts name none. */
  done?: { readonly id: string; readonly rows: readonly string[] | undefined }
  /** The request that made the rows, and the rows, by the audit trail. */
  madeBy?: string
  readonly rows: string[]
}

/** A request that makes rows. */
interface Attempt {
  readonly unit: Unit
  /** How many rows: those of a batch come together or not at all. */
  readonly count: number
  readonly isRejected: boolean
}

interface Delete {
  readonly row: string
  readonly isDone: boolean
  readonly isRejected: boolean
  entries: number
}

/** The creates and deletes of every workload, compared with the audit trail and with the tables in the end, row by row. */
export class CreatedRows {
  readonly #units = new Map<string, Unit>()
  readonly #attempts = new Map<string, Attempt>()
  readonly #deletes = new Map<string, Delete>()
  readonly #resources = new Set<string>()
  readonly #senders = new Senders()

  see(exchange: Exchange): void {
    this.#senders.see(exchange)
    const { id, account = '', request, answer } = exchange
    const outcome = outcomeOf(answer)
    const [isDone, isRejected] = [outcome === 'done', outcome === 'rejected']
    if (request.method === 'DELETE') {
      this.#deletes.set(id, { row: pathOf(exchange).slice(0, 2).join('/'), isDone, isRejected, entries: 0 })
      return
    }
    const resource = createdBy(exchange)
    if (resource === undefined) return
    this.#resources.add(resource)
    const key = request.headers['idempotency-key']
    const name = key === undefined ? id : `${account} ${request.method} ${request.target} ${key}`
    const unit = this.#units.get(name) ?? { resource, rows: [] }
    this.#units.set(name, unit)
    const body: unknown = JSON.parse(request.body ?? '{}')
    this.#attempts.set(id, { unit, count: Array.isArray(body) ? body.length : 1, isRejected })
    if (isDone) unit.done ??= { id, rows: request.method === 'POST' ? idsOf(exchange, resource) : undefined }
  }

  /** How many creates and deletes were acknowledged. */
  get acknowledged(): number {
    const units = [...this.#units.values()].filter(({ done }) => done !== undefined)
    return units.length + [...this.#deletes.values()].filter(({ isDone }) => isDone).length
  }

  /** To be asked once, when all exchanges were seen. */
  async *faults(rows: Rows): AsyncGenerator<Violation> {
    for (const resource of this.#resources) yield* this.#compare(resource, rows)
    for (const { done, rows: made } of this.#units.values()) {
      if (done === undefined) continue
      const wanted = done.rows?.toSorted().join()
      if (made.length === 0) {
        yield { what: `${done.id} was acknowledged and has no audit entry of a create.`, exchanges: [done.id] }
      } else if (wanted !== undefined && wanted !== made.toSorted().join()) {
        const what = `${done.id} was answered with ${done.rows?.join()}, and the audit trail has ${made.join()} of it.`
        yield { what, exchanges: [done.id] }
      }
    }
    for (const [id, { row, isDone, entries }] of this.#deletes) {
      if (isDone && entries !== 1 && this.#resources.has(resourceOf(row)))
        yield { what: `${id} has deleted ${row} and has ${entries} audit entries of it.`, exchanges: [id] }
    }
  }

  /** The trail of a resource says which rows are there; the table has to have these, and no others that are as new. */
  async *#compare(resource: string, rows: Rows): AsyncGenerator<Violation> {
    const madeBy = new Map<string, string>()
    const deletedBy = new Map<string, string>()
    const ofRequests = new Map<string, number>()
    for await (const entry of auditOf(rows, resource)) {
      const { requestId, row, action } = entry
      yield* this.#senders.entry(entry)
      if (action === 'create') {
        if (madeBy.has(row)) yield { what: `${row} has two audit entries of a create.`, exchanges: [requestId] }
        madeBy.set(row, requestId)
        ofRequests.set(requestId, (ofRequests.get(requestId) ?? 0) + 1)
        yield* this.#made(requestId, row)
      } else if (action === 'delete') {
        if (deletedBy.has(row)) yield { what: `${row} has two audit entries of a delete.`, exchanges: [requestId] }
        deletedBy.set(row, requestId)
        yield* this.#deleted(requestId, row)
      }
    }
    for (const [id, found] of ofRequests) {
      const count = this.#attempts.get(id)?.count ?? found
      if (found !== count) yield { what: `${id} asked for ${count} rows and has made ${found}.`, exchanges: [id] }
    }
    yield* this.#senders.trespasses()
    const left = new Set<string>()
    for (const { id } of await rows(`SELECT id FROM ${resource.replaceAll('-', '_')}`)) {
      const row = `${resource}/${String(id)}`
      if (left.has(row)) yield { what: `${row} is in the table twice.`, exchanges: [] }
      left.add(row)
    }
    // What is older than all rows of the run was there before it; Guids have no order, but those of the sample are numbered.
    const oldest = [...madeBy.keys()].reduce((least, row) => Math.min(least, numberOf(row)), Infinity)
    for (const row of left) {
      const by = deletedBy.get(row)
      if (by !== undefined) yield { what: `${row} was deleted by ${by} and is there.`, exchanges: [by] }
      else if (!madeBy.has(row) && numberOf(row) >= oldest)
        yield { what: `${row} is there, and has no audit entry of a create.`, exchanges: [] }
    }
    for (const [row, by] of madeBy) {
      if (!left.has(row) && !deletedBy.has(row))
        yield { what: `${row} was created by ${by} and is gone, and nobody has deleted it.`, exchanges: [by] }
    }
  }

  /** An audit entry of a create is of a request that asked for such a row and was not rejected, the only one of its key. */
  *#made(id: string, row: string): Generator<Violation> {
    const { unit, isRejected = false } = this.#attempts.get(id) ?? {}
    if (unit?.resource !== resourceOf(row)) {
      yield { what: `${row} was created by ${id}, which has not asked for it.`, exchanges: [] }
      return
    }
    if (isRejected) yield { what: `${id} was rejected, and has created ${row} all the same.`, exchanges: [id] }
    unit.madeBy ??= id
    if (unit.madeBy === id) unit.rows.push(row)
    else
      yield {
        what: `${unit.madeBy} and ${id} have both created rows for one key: ${row}.`,
        exchanges: [unit.madeBy, id]
      }
  }

  *#deleted(id: string, row: string): Generator<Violation> {
    const sent = this.#deletes.get(id)
    if (sent?.row !== row) {
      yield { what: `${row} was deleted by ${id}, which has not asked for it.`, exchanges: [] }
      return
    }
    sent.entries++
    if (sent.isRejected) yield { what: `${id} was rejected, and has deleted ${row} all the same.`, exchanges: [id] }
  }
}

/** Whether it asks for a row of the resource of its path, or for a batch of them. */
export function isCreate(exchange: Exchange): boolean {
  const [, second, third] = pathOf(exchange)
  return exchange.request.method === 'POST' && (second === undefined || second === 'batch') && third === undefined
}

/** Whether it sends a file of rows. */
export function isImport(exchange: Exchange): boolean {
  return exchange.request.method === 'POST' && pathOf(exchange)[1] === 'import'
}

/** The resource whose rows a request makes: that of its path, or orders by a checkout. */
function createdBy(exchange: Exchange): string | undefined {
  const [resource, , action] = pathOf(exchange)
  if (exchange.request.method === 'PUT' && action === 'checkout') return 'orders'
  return isCreate(exchange) ? resource : undefined
}

/** The rows that an answer to a create shows. */
function idsOf(exchange: Exchange, resource: string): readonly string[] {
  return objectsOf(exchange).map(({ id }) => `${resource}/${String(id)}`)
}

function resourceOf(row: string): string {
  return row.slice(0, row.indexOf('/'))
}

/** 7 of `venues/7`; 0 of a Guid of the sample rows (`NUMBERED_GUIDS` of the example store), and 1 of every other. */
function numberOf(row: string): number {
  const id = row.slice(row.indexOf('/') + 1)
  return id.includes('-', 1) ? Number(!id.startsWith('00000000-0000-4000-8000-')) : Number(id)
}
