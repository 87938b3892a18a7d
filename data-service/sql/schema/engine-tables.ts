import { dateTime, long, optional, text } from '../../entity/field.js'
import type { OwnTablesMigration } from '../engines/engine.js'
import type { Migration } from './migrate.js'
import { addColumns, createTables, table } from './tables.js'

/**
 * A migration of tables that belong to no entity and whose columns no entity file can describe. Its statements were
 * released for each kind of database as they stand in the engines. A statement that adds a column that is there has
 * been run before, whole, and is left out.
 */
function ownTables(name: OwnTablesMigration): Migration {
  return {
    name,
    up: async ({ ddl, run }) => {
      for (const statement of ddl.ownTables[name]) {
        try {
          await run(statement)
        } catch (error) {
          if (!ddl.isColumnThere(error)) throw error
        }
      }
    }
  }
}

/** Keys of writes with the answers kept under them, which are purged by `expires_at`. Times are epoch milliseconds. */
const createIdempotencyKeys = ownTables('005-idempotency-keys')

const createAuditEntries: Migration = {
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

/**
 * Accounts, found by the hash of their e-mail address in lower case, and the logins that failed lately, by the hash of
 * where they came from and whose account they tried. Times are epoch milliseconds.
 */
const createAccounts = ownTables('007-accounts')

/**
 * A family of refresh tokens for each device that logged in. Tokens are kept as their SHA-256, the one that followed a
 * used one sealed under a key that only the used one gives. Families are purged by `expires_at`, with their tokens.
 * Times are epoch milliseconds.
 */
const createSessions = ownTables('008-sessions')

/** The request that made an audit entry. Entries made before this migration have none. */
const addAuditRequestId: Migration = {
  name: '030-audit-request-id',
  up: addColumns('audit_entries', { columns: { requestId: optional(text(128)) }, indexed: ['requestId'] })
}

/**
 * The guards that transactions of two nodes of a cluster collide on (guards.ts): a bounded number of rows, none of which
 * means anything. Engines without clusters have no such table.
 */
const createLookUpGuards = ownTables('033-look-up-guards')

/**
 * Refresh tokens name their family by a reference that the family keeps hashed, so that a used one is known as such when
 * it is not stored any more, and used ones are purged by `purge_at`, epoch milliseconds. Both are null for what earlier
 * versions made: such tokens name no family, and stay until their family dies.
 */
const addFamilyRefs = ownTables('034-family-refs')

/**
 * The tables of the engine itself, in order. They are made before those of the application, whose migrations have names
 * of their own. A name that stands here is never changed, since a database's record of its migrations holds it.
 */
export const engineMigrations: readonly Migration[] = [
  createIdempotencyKeys,
  createAuditEntries,
  createAccounts,
  createSessions,
  addAuditRequestId,
  createLookUpGuards,
  addFamilyRefs
]
