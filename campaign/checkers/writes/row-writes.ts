import type { Exchange } from '../../history.js'
import { auditOf, type Outcome, outcomeOf } from './audit.js'
import { isOfAccounts, isReplay, pathOf, versionOf } from '../chains.js'
import type { Rows, Violation } from '../checker.js'
import { objectOf } from '../json.js'

/** A PUT, PATCH or DELETE of a row, and what became of it, as far as its sender knows. */
export interface RowWrite {
  readonly id: string
  /** `venues/7`. */
  readonly row: string
  /** What was sent several times has one of these, and happens once at most. */
  readonly unit: string
  readonly isDelete: boolean
  readonly outcome: Outcome
  /** Answered with what an earlier request has done. */
  readonly isReplay: boolean
  /** The version that it rests on; empty for none, and for any. */
  readonly version: string
  readonly sentAt: number
  readonly endedAt: number
  /** So many audit entries are of this request. */
  entries: number
}

/** The writes of rows that are there, of all workloads, and the versions that answers have shown of these rows. */
export class RowWrites {
  readonly byRequest = new Map<string, RowWrite>()
  /** By row and version: when the last request was sent that was shown it. */
  readonly #shown = new Map<string, number>()

  /** Returns the write that the exchange is, if it is one. */
  see(exchange: Exchange): RowWrite | undefined {
    const { id, request, answer, sentAt, endedAt } = exchange
    const [resource = '', rowId] = pathOf(exchange)
    // `ImportedOnce` judges batches.
    if (isOfAccounts(exchange) || rowId === 'batch') return undefined
    const shown = shownBy(exchange)
    if (shown !== undefined)
      this.#shown.set(shown, Math.max(isReplay(exchange) ? -Infinity : sentAt, this.#shown.get(shown) ?? -Infinity))
    if (request.method === 'GET' || request.method === 'POST') return undefined
    const write: RowWrite = {
      id,
      row: `${resource}/${rowId}`,
      unit: request.headers['idempotency-key'] ?? id,
      isDelete: request.method === 'DELETE',
      outcome: outcomeOf(answer),
      isReplay: isReplay(exchange),
      version: versionOf(request.headers['if-match']),
      sentAt,
      endedAt,
      entries: 0
    }
    this.byRequest.set(id, write)
    return write
  }

  /** When the last request was sent that was shown that version of the row; undefined where none was. */
  shownAt(row: string, version: string): number | undefined {
    return this.#shown.get(`${row} ${version}`)
  }

  /** Counts an audit entry, if it is of a request that was sent for that row. */
  count(requestId: string, row: string): RowWrite | undefined {
    const write = this.byRequest.get(requestId)
    if (write?.row !== row) return undefined
    write.entries++
    return write
  }

  /** Counts all audit entries of the rows that were written. */
  async countAll(rows: Rows): Promise<void> {
    const resources = new Set([...this.byRequest.values()].map(({ row }) => row.slice(0, row.indexOf('/'))))
    for (const resource of resources) {
      for await (const { requestId, row, action } of auditOf(rows, resource)) {
        if (action !== 'create') this.count(requestId, row)
      }
    }
  }

  /** By row and version: the write that rested on it and has an audit entry, and so has left it. To be asked as `contradictions`. */
  leftBy(): ReadonlyMap<string, ReadonlyMap<string, RowWrite>> {
    const left = new Map<string, Map<string, RowWrite>>()
    for (const write of this.byRequest.values()) {
      if (write.entries === 0 || write.version === '') continue
      const ofRow = left.get(write.row) ?? new Map<string, RowWrite>()
      left.set(write.row, ofRow.set(write.version, write))
    }
    return left
  }

  /** Writes that happened and cannot all have. To be asked when the audit entries are counted. */
  *contradictions(): Generator<Violation> {
    const deleted = new Map<string, RowWrite>()
    for (const write of this.byRequest.values()) {
      if (write.isDelete && write.outcome === 'done' && !deleted.has(write.row)) deleted.set(write.row, write)
    }
    const left = new Map<string, RowWrite>()
    for (const write of this.byRequest.values()) {
      if (!happened(write)) continue
      const { id, row, version } = write
      const end = deleted.get(row)
      if (end !== undefined && end !== write && end.endedAt < write.sentAt)
        yield { what: `${id} has written ${row}, which ${end.id} had deleted.`, exchanges: [end.id, id] }
      if (version === '') continue
      if (this.shownAt(row, version) === undefined)
        yield { what: `${id} was done on the version ${version} of ${row}, which it never had.`, exchanges: [id] }
      const name = `${row} ${version}`
      const other = left.get(name) ?? write
      left.set(name, other)
      if (other.unit !== write.unit)
        yield {
          what: `${other.id} and ${id} were both done on the version ${version} of ${row}.`,
          exchanges: [other.id, id]
        }
    }
  }
}

/** Whether it was done, by its answer or its audit entry. A replay has done nothing itself. */
export function happened({ entries, outcome, isReplay: isAgain }: RowWrite): boolean {
  return entries > 0 || (outcome === 'done' && !isAgain)
}

/** The one row that an answer shows, and its version. */
function shownBy(exchange: Exchange): string | undefined {
  const { request, answer } = exchange
  const [resource, rowId] = pathOf(exchange)
  if (answer === undefined || answer.status >= 300) return undefined
  const { id, rowVersion } = objectOf(exchange)
  const version = versionOf(answer.headers['etag']) || (typeof rowVersion === 'string' ? rowVersion : '')
  return version === '' ? undefined : `${resource}/${request.method === 'POST' ? String(id) : rowId} ${version}`
}
