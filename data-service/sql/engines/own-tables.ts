/** Migrations of tables that belong to no entity; `engine-tables.ts` describes them. */
export type OwnTablesMigration =
  | '005-idempotency-keys'
  | '007-accounts'
  | '008-sessions'
  | '033-look-up-guards'
  | '034-family-refs'
  | '050-account-claims'
  | '051-account-sessions'
  | '053-account-links'
  | '054-outbox'
  | '055-outbox-row-ids'
  | '060-machine-secrets'
  | '062-outbox-by-type'
  | '063-one-time-links'

/** A table of the engine's own: the migration that makes it, and the columns that it has from then on. */
interface OwnTableShape {
  readonly since: OwnTablesMigration | '006-audit-entries'
  readonly columns: readonly string[]
}

/**
 * The tables that belong to the engine itself, by the names that they had before they got a prefix. Columns that later
 * migrations add are not named: every database that has the table has these.
 */
export const OWN_TABLES = {
  idempotency_keys: {
    since: '005-idempotency-keys',
    columns: ['key_hash', 'fingerprint', 'answer', 'created_at', 'expires_at']
  },
  audit_entries: {
    since: '006-audit-entries',
    columns: ['id', 'at', 'subject', 'resource', 'row_id', 'action', 'row_version']
  },
  accounts: {
    since: '007-accounts',
    columns: ['id', 'email_key', 'email', 'name', 'password_hash', 'role', 'owner', 'is_sample', 'created_at']
  },
  login_attempts: { since: '007-accounts', columns: ['key_hash', 'attempts', 'expires_at'] },
  refresh_families: {
    since: '008-sessions',
    columns: ['id', 'account_id', 'created_at', 'ends_at', 'revoked_at', 'expires_at']
  },
  refresh_tokens: {
    since: '008-sessions',
    columns: ['token_hash', 'family_id', 'issued_at', 'expires_at', 'used_at', 'successor']
  },
  look_up_guards: { since: '033-look-up-guards', columns: ['slot', 'turn'] },
  account_links: {
    since: '053-account-links',
    columns: ['identity_key', 'account_id', 'issuer', 'subject', 'created_at']
  },
  machine_secrets: {
    since: '060-machine-secrets',
    columns: ['account_id', 'slot', 'secret_hash', 'created_at', 'expires_at', 'last_used_at']
  },
  one_time_links: {
    since: '063-one-time-links',
    columns: ['link_hash', 'email_key', 'email', 'account_state', 'event_id', 'expires_at']
  },
  outbox: {
    since: '054-outbox',
    columns: [
      'id',
      'event_id',
      'type',
      'resource',
      'row_id',
      'request_id',
      'payload',
      'occurred_at',
      'aggregate_key',
      'due_at',
      'lease',
      'attempts',
      'last_error',
      'delivered_at',
      'dead_at'
    ]
  }
} as const satisfies Record<string, OwnTableShape>

/** The record of the migrations that have run in a database, which every store has. */
export const RECORD = 'schema_migrations'

/** A table of the engine's own, by its name without a prefix. */
type OwnTable = keyof typeof OWN_TABLES | typeof RECORD

/** How the engine's own tables are named: what ENGINE_TABLE_PREFIX says, or no prefix in a database of an earlier version. */
export interface OwnNames {
  /** The database of the same server that holds the tables; undefined for the database of the rows. */
  readonly schema: string | undefined
  /** The beginning of the names of the tables, of their indexes and of their constraints. */
  readonly prefix: string
}

/** The names of the engine's own tables in one database, which never change there. */
export interface OwnTables extends OwnNames {
  /** Each table as statements name it, with its schema. */
  readonly sql: Readonly<Record<OwnTable, string>>
}

/** ENGINE_TABLE_PREFIX if it is not set. */
export const DEFAULT_PREFIX = 'ur_'

export function ownTables({ schema, prefix }: OwnNames): OwnTables {
  const names: readonly OwnTable[] = [...ownTableNames(), RECORD]
  const before = schema === undefined ? '' : `\`${schema}\`.`
  const sql = Object.fromEntries(names.map((table) => [table, `${before}${prefix}${table}`]))
  return { schema, prefix, sql: sql as Record<OwnTable, string> } // it has each of them
}

/** The names of all of them in a database, without their schema. */
export function namesOfOwn({ prefix }: OwnNames): ReadonlySet<string> {
  return new Set([...ownTableNames(), RECORD].map((table) => `${prefix}${table}`))
}

export function ownTableNames(): (keyof typeof OWN_TABLES)[] {
  return Object.keys(OWN_TABLES) as (keyof typeof OWN_TABLES)[] // the keys of this object
}

/** As `ur_` or, with the database that holds the tables, `engine.ur_`. */
export function parseOwnNames(text: string): OwnNames | Error {
  const [, schema, prefix = ''] = /^(?:([\p{L}\p{N}_-]{1,64})\.)?([a-z][a-z0-9_]{0,19})$/u.exec(text) ?? []
  if (prefix !== '') return { schema, prefix }
  return new Error(
    'must be up to 20 lower-case letters, digits and `_` that begin with a letter, such as ur_, and may come after the ' +
      'database that holds the tables, such as engine.ur_'
  )
}

/**
 * The statements of released migrations, which name the tables as they were then, with the names that they have in this
 * database. The names of indexes and constraints begin with that of their table and get the prefix too, since SQLite has one
 * index of a name in a file, and MySQL one foreign key in a database.
 */
export function ownStatements(
  statements: Readonly<Record<OwnTablesMigration, readonly string[]>>,
  names: OwnNames
): Readonly<Record<OwnTablesMigration, readonly string[]>> {
  const tables: readonly OwnTable[] = [...ownTableNames(), RECORD]
  const named = (text: string): string =>
    text.replace(/`(\w+)`/g, (quoted, name: string) => {
      const table = tables.find((one) => one === name)
      if (table !== undefined) return quotedTable(names, table)
      return tables.some((one) => name.startsWith(`${one}_`)) ? `\`${names.prefix}${name}\`` : quoted
    })
  const entries = Object.entries(statements).map(([migration, texts]) => [migration, texts.map(named)])
  return Object.fromEntries(entries) as Record<OwnTablesMigration, readonly string[]> // the keys of `statements`
}

/** A table as DDL statements name it. */
export function quotedTable({ schema, prefix }: OwnNames, table: OwnTable): string {
  return `${schema === undefined ? '' : `\`${schema}\`.`}\`${prefix}${table}\``
}
