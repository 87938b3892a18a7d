import { optional, text } from '../../../entity/field.js'
import { addColumns } from '../add-columns.js'
import type { Migration } from '../migration.js'

/** The request that made an audit entry. Entries of before have none. */
export const addAuditRequestId: Migration = {
  name: '030-audit-request-id',
  up: addColumns('audit_entries', { columns: { requestId: optional(text(128)) }, indexed: ['requestId'] })
}
