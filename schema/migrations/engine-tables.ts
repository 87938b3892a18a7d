import type { OwnNames, OwnTablesMigration } from '../../data-service/sql/engines/own-tables.js'
import { addColumns, addIndexes, createTable, dropIndexes } from './builders.js'
import type { Migration } from './migration.js'

/**
 * A migration of tables that belong to no entity and whose columns no entity file can describe. Each engine holds its
 * statements for its kind of database, unchanged since their release. A statement that adds an existing column has been
 * run before, as a whole, and is skipped.
 */
function engineTables(name: OwnTablesMigration): Migration {
  return { name, steps: [{ kind: 'engineTables', name }] }
}

/** Idempotency keys of writes with their stored answers, purged by `expires_at`. Times are epoch milliseconds. */
const createIdempotencyKeys = engineTables('005-idempotency-keys')

/** Audit entries are sorted by these. */
const AUDIT_SORTED = ['at', 'subject', 'resource', 'row_id', 'action'] as const

/**
 * The table has a row version although the resource shows none: earlier versions of the service read it, and may run
 * beside this one on the same database. So each entry still gets one.
 */
function createAuditEntries(table: string): Migration {
  const create = createTable(table, (t) => ({
    columns: [
      t.bigint('id').autoIncrement(),
      t.datetime('at'),
      t.varchar('subject', 512),
      t.varchar('resource', 64),
      t.varchar('row_id', 64),
      t.varchar('action', 64),
      t.rowVersion()
    ],
    indexes: AUDIT_SORTED.flatMap((column) => [t.index(column), t.index(`${column} desc`)])
  }))
  // Migrations of applications know the table by this name, whatever its prefix is.
  return { name: '006-audit-entries', steps: [{ ...create, alias: 'audit_entries' }] }
}

/**
 * Accounts, found by the hash of their e-mail address in lower case, and recent failed logins, found by the hash of the
 * client's address and of the account. Times are epoch milliseconds.
 */
const createAccounts = engineTables('007-accounts')

/**
 * A family of refresh tokens for each login. A token is stored as its SHA-256. The successor of a used token is stored
 * encrypted under a key that is derived from the used token. Families are purged by `expires_at`, with their tokens.
 * Times are epoch milliseconds.
 */
const createSessions = engineTables('008-sessions')

/**
 * The secrets of machine accounts as their SHA-256. The key allows two of an account at most, its slots 1 and 2. Times are
 * epoch milliseconds.
 */
const createMachineSecrets = engineTables('060-machine-secrets')

/** One index serves both directions, since the id follows the direction of the column before it. */
function dropDescending(table: string): Migration {
  const names = AUDIT_SORTED.map((column) => `${table}_${column}_desc`)
  return { name: '056-audit-one-index', steps: [dropIndexes(table, ...names)] }
}

/** The request that made an audit entry. Entries made before this migration have none. */
function addAuditRequestId(table: string): Migration {
  const add = addColumns(table, (t) => ({
    columns: [t.varchar('request_id', 128).nullable()],
    indexes: [t.index('request_id')]
  }))
  return { name: '030-audit-request-id', steps: [add] }
}

/**
 * What the write of an audit entry changed (operations/writes/changes.ts), and the index by which the entries of one row are
 * read, the newest first. Entries of earlier versions, and of resources without a history, have none.
 */
function addAuditChanges(table: string): Migration {
  const column = addColumns(table, (t) => ({ columns: [t.text('changes', LONGTEXT).nullable()] }))
  const index = addIndexes(table, (t) => [t.index('resource', 'row_id', 'id', 'action')])
  return { name: '061-audit-changes', steps: [column, index] }
}

/** Bytes of a LONGTEXT. */
const LONGTEXT = 2 ** 32 - 1

/**
 * The guard rows on which transactions of two cluster nodes collide (guards.ts). Their number is bounded and they hold no
 * data. An engine that knows no clusters has no such table.
 */
const createLookupGuards = engineTables('033-look-up-guards')

/**
 * A refresh token contains a reference of its family, of which the family stores the hash, so that a used token is
 * recognised after it was purged. Used tokens are purged by `purge_at`, epoch milliseconds. Both columns are null in rows
 * of earlier versions: those tokens name no family and stay until their family is purged.
 */
const addFamilyRefs = engineTables('034-family-refs')

/**
 * The roles of an account, a JSON array, and its further claims, a JSON object. `role` stays filled with the first role for
 * the version before. Both columns are null in rows of that version, whose accounts have the one role.
 */
const addAccountClaims = engineTables('050-account-claims')

/**
 * When an account was disabled, in epoch milliseconds, and the number by which all its sessions are ended at once
 * (`StoredAccount.sessionGeneration`). A number that is null counts as 0, as in rows of the version before.
 */
const addAccountSessions = engineTables('051-account-sessions')

/**
 * The identities of outside OpenID providers that may sign in to an account: issuer and subject, found by the hash of both.
 * The hash makes them unique exactly as they are written, while collations would equate subjects that differ in case.
 * `created_at` is epoch milliseconds.
 */
const createAccountLinks = engineTables('053-account-links')

/** Events that writes emit, until they were delivered to their handler and for a while after (sql/own-rows/outbox.ts). */
const createOutbox = engineTables('054-outbox')

/** Ids of composite and text keys may be longer than the 255 characters that the outbox took. */
const widenOutboxRowIds = engineTables('055-outbox-row-ids')

/**
 * What waits for a webhook that does not answer is no longer read on the way to what waits for others. The index of `due_at`
 * stays for many events of several types, which this one would have to sort.
 */
const findEventsByType = engineTables('062-outbox-by-type')

/**
 * The links by which people choose passwords, as the SHA-256 of their secrets. They belong to an address, since some are of
 * accounts that are still to be made. Links are purged by `expires_at`, epoch milliseconds.
 */
const createOneTimeLinks = engineTables('063-one-time-links')

/**
 * The migrations of the engine's own tables, in order, with the names that these have in a database. They run before those
 * of the application, whose names differ. Never change a name: databases record their migrations by it.
 */
export function engineMigrations({ prefix }: OwnNames): readonly Migration[] {
  const audit = `${prefix}audit_entries`
  return [
    createIdempotencyKeys,
    createAuditEntries(audit),
    createAccounts,
    createSessions,
    addAuditRequestId(audit),
    createLookupGuards,
    addFamilyRefs,
    addAccountClaims,
    addAccountSessions,
    createAccountLinks,
    createOutbox,
    widenOutboxRowIds,
    dropDescending(audit),
    createMachineSecrets,
    addAuditChanges(audit),
    findEventsByType,
    createOneTimeLinks
  ]
}
