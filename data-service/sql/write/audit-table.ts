import type { Column } from '../../entity/entity.js'
import { dateTime, optional, text } from '../../entity/field.js'
import type { Assignments } from '../../plan/write-plan.js'
import type { AuditEntry } from '../../plan/write-store.js'

export const AUDIT_TABLE = 'audit_entries'

const columns: Readonly<Record<keyof AuditEntry, Column>> = {
  at: { name: 'at', column: 'at', field: dateTime() },
  subject: { name: 'subject', column: 'subject', field: text(512) },
  resource: { name: 'resource', column: 'resource', field: text(64) },
  rowId: { name: 'rowId', column: 'row_id', field: text(64) },
  action: { name: 'action', column: 'action', field: text(64) },
  requestId: { name: 'requestId', column: 'request_id', field: optional(text(128)) }
}

/** The columns of an entry, which the database numbers. */
export function auditValues({ at, subject, resource, rowId, action, requestId }: AuditEntry): Assignments {
  return new Map([
    [columns.at, at],
    [columns.subject, subject],
    [columns.resource, resource],
    [columns.rowId, rowId],
    [columns.action, action],
    [columns.requestId, requestId]
  ])
}
