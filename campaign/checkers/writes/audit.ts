import type { Answer } from '../../history.js'
import type { Rows } from '../checker.js'

/** What an answer says of its write; nothing of what is still under way, by its key, or has no answer. */
export type Outcome = 'done' | 'rejected' | 'unknown'

/** A request that is told that its key is in flight may itself have begun the work for which the key is kept. */
export function outcomeOf(answer: Answer | undefined): Outcome {
  const { status = 0 } = answer ?? {}
  if (status >= 200 && status < 300) return 'done'
  return status >= 400 && status < 500 && !isInFlight(answer) ? 'rejected' : 'unknown'
}

/** Whether the first request of its key is said to be under way. */
export function isInFlight(answer: Answer | undefined): boolean {
  return answer?.status === 409 && answer.body.includes('"idempotency.in-flight"')
}

/** What a write left in its own transaction. */
export interface AuditEntry {
  /** Empty for what no request of this run wrote. */
  readonly requestId: string
  /** `venues/7`. */
  readonly row: string
  readonly action: string
}

const AT_A_TIME = 20_000

/** The entries of a resource in the order of their ids, some at a time, since a long run leaves millions. */
export async function* auditOf(rows: Rows, resource: string): AsyncGenerator<AuditEntry> {
  for (let after = 0; ;) {
    const found = await rows(
      `SELECT id, request_id, row_id, action FROM ur_audit_entries
       WHERE resource = '${resource}' AND id > ${after} ORDER BY id LIMIT ${AT_A_TIME}`
    )
    for (const { id, request_id, row_id, action } of found) {
      after = Number(id)
      yield {
        requestId: typeof request_id === 'string' ? request_id : '',
        row: `${resource}/${String(row_id)}`,
        action: String(action)
      }
    }
    if (found.length < AT_A_TIME) return
  }
}
