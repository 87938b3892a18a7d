import { dateTime, long, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createAuditEntries: Migration = {
  name: '006-audit-entries',
  up: createTables(
    table('audit_entries', {
      columns: {
        id: long(),
        at: dateTime(),
        subject: text(512),
        resource: text(64),
        rowId: text(64),
        action: text(64)
      },
      sorted: ['at', 'subject', 'resource', 'rowId', 'action']
    })
  )
}
