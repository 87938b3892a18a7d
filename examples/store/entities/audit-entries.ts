import { dateTime, defineEntity, example, long, optional, permission, readOnly, text } from 'uniform-rest'

export const auditEntries = defineEntity({
  name: 'audit-entries',
  description: 'Who wrote what and when; every write leaves one in its own transaction.',
  // No write of the service changes an entry.
  rowVersion: 'none',

  fields: {
    id: readOnly(long()),
    at: readOnly(dateTime()),
    /** Issuer and subject of the access token. */
    subject: readOnly(text(512)),
    resource: example(readOnly(text(64)), 'products'),
    rowId: example(readOnly(text(64)), '1'),
    action: example(readOnly(text(64)), 'update'),
    /** As in `X-Request-Id` and in every log line of the request; entries of earlier versions have none. */
    requestId: example(readOnly(optional(text(128))), '067ae390-c906-45cd-89e8-3372769ef028')
  },

  label: 'action',
  filterable: ['id', 'at', 'subject', 'resource', 'rowId', 'action', 'requestId'],
  sortable: ['id', 'at', 'subject', 'resource', 'rowId', 'action'],
  searchable: ['subject', 'resource', 'rowId', 'action'],

  access: { read: permission('audit:read') },

  overrides: {
    // Who takes the whole trail away is worth a line of its own; rejections throw before it.
    export({ caller, log }, request, standard) {
      const rows = standard(request)
      log.info({ subject: caller.kind === 'authenticated' ? caller.subject : undefined }, 'the audit trail is exported')
      return rows
    }
  }
})
