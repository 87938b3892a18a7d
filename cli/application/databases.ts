import { randomBytes, randomUUID } from 'node:crypto'
import { destination } from 'pino'
import { keepDataPrivate } from '../../shared/files.js'
import { createLogger, type Logger } from '../../shared/logger.js'
import { StartError } from '../../shared/start-error.js'
import type { Environment } from '../../shared/settings.js'
import type { Application } from '../public/application.js'
import { sampleAccount, type SampleAccount } from '../../data-service/auth/accounts/accounts.js'
import { AccountAdministration, AccountMistake, accountRoles } from '../../data-service/auth/administration.js'
import { argon2Passwords } from '../../data-service/auth/accounts/passwords.js'
import { loadSigningKey, signAccessToken } from '../../data-service/auth/tokens/signing-keys.js'
import { type DataServiceConfig, readConfig } from '../../data-service/config.js'
import type { Entity } from '../../data-service/entity/entity.js'
import type { OutboxStore, SetAsideEvent } from '../../data-service/plan/model/stores.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { Transactions } from '../../data-service/sql/engines/sessions.js'
import type { OwnTables } from '../../data-service/sql/engines/own-tables.js'
import { purgeChanges, type PurgeSteps } from '../../data-service/sql/own-rows/audit-entries.js'
import { createOutboxStore } from '../../data-service/sql/own-rows/outbox.js'
import { engineMigrations } from '../../schema/migrations/engine-tables.js'
import { findOwnTables, withOwnTables } from '../../schema/migrations/find-own-tables.js'
import { migrateAtStart } from '../../schema/migrations/migrate.js'
import { createAuthStore } from '../../data-service/sql/own-rows/accounts.js'
import { runTransaction } from '../../data-service/sql/transactions.js'
import { openDatabase, openExisting, opening } from '../../data-service/sql/connect.js'
import { schemaOf } from '../../schema/kinds/kinds.js'

/** What a command of an application works with, whether the service runs or not. */
export interface CommandContext {
  /** Those of the application, with the tables that they have in this database. */
  readonly entities: readonly Entity[]
  readonly primary: Database
  /** undefined if the application has no second store. */
  readonly second: Database | undefined
  readonly log: Logger
}

/**
 * Runs `work` on the migrated databases that the settings name, and closes them. `name` is the name in the log.
 * Throws a SettingsError that lists every problem of the settings.
 */
export async function withDatabases(
  application: Application,
  { name, environment }: { readonly name: string; readonly environment: Environment },
  work: (context: CommandContext) => Promise<void>
): Promise<void> {
  const { config } = readConfig(environment, application)
  const log = createLogger({ name, level: config.logLevel })
  await keepDataPrivate(config.dataDir, log)
  const { primary: first, second: other } = config.databases
  const primary = await opening(first, () => openDatabase(first.url, config.databasePoolSize))
  const second = other && (await opening(other, () => openDatabase(other.url, config.databasePoolSize)))
  const mayMigrate = config.migrateAtStart
  try {
    const tables = await opening(first, async () => {
      const own = await findOwnTables(primary, config.ownNames, application.migrations)
      const migrations = [...engineMigrations(own), ...application.migrations]
      await migrateAtStart(primary, migrations, { own, log, mayMigrate })
      return own
    })
    if (other !== undefined && second !== undefined) {
      await opening(other, async () => {
        const migrations = application.secondStore?.migrations ?? []
        const own = await findOwnTables(second, { ...config.ownNames, schema: undefined }, migrations)
        await migrateAtStart(second, migrations, { own, log, mayMigrate })
      })
    }
    await opening(first, () => work({ entities: withOwnTables(application, tables), primary, second, log }))
  } finally {
    await Promise.all([primary.sequelize.close(), second?.sequelize.close()])
  }
}

/**
 * Runs `work` on the accounts of the database that the settings name, whether the service runs or not. The migrations of
 * the engine must have run, or run first if none of them has or MIGRATE_AT_START is on; those of the application are left
 * alone. The log goes to standard error: what the command prints may be read by a program.
 */
export async function withAccounts<Result>(
  application: Application,
  environment: Environment,
  work: (accounts: AccountAdministration) => Promise<Result>
): Promise<Result> {
  return withEngineTables(
    application,
    { name: 'account', environment },
    async ({ primary, tables, transactions, config }) => {
      const store = createAuthStore(primary, { tables, transactions, random: Math.random })
      const { bypassRole, claimType, owners } = config.ownership
      try {
        return await work(
          new AccountAdministration({
            store,
            passwords: argon2Passwords(),
            roles: accountRoles(application.roles, bypassRole),
            ownerClaimType: claimType,
            owners,
            now: Date.now,
            randomBytes,
            signal: new AbortController().signal
          })
        )
      } finally {
        await store.close()
      }
    }
  )
}

/** The events of an application that were set aside. As OutboxStore. */
export interface OutboxCommands extends Pick<OutboxStore, 'dead' | 'drop'> {
  /** Makes one wait again. false if it is no longer set aside. */
  retry(event: SetAsideEvent): Promise<boolean>
}

/** Runs `work` on the outbox of the database that the settings name. As withAccounts. */
export async function withOutbox(
  application: Application,
  environment: Environment,
  work: (outbox: OutboxCommands) => Promise<void>
): Promise<void> {
  await withEngineTables(application, { name: 'outbox', environment }, async ({ primary, tables, transactions }) => {
    const store = createOutboxStore(primary, { tables, transactions, random: Math.random })
    try {
      await work({ ...store, retry: (event) => store.retry(event, Date.now()) })
    } finally {
      await store.close()
    }
  })
}

/** Takes the values out of the history before a moment, as `purgeChanges` says, in the database that the settings name. */
export async function purgeHistory(
  application: Application,
  environment: Environment,
  { before, ...steps }: { readonly before: string } & PurgeSteps
): Promise<void> {
  await withEngineTables(application, { name: 'history', environment }, async ({ primary, tables, transactions }) => {
    const options = { transactions, what: 'The database', random: Math.random }
    await purgeChanges(
      (run) => runTransaction(options, new AbortController().signal, { run, isRepeatable: () => true }),
      { tables, dialect: primary.dialect, before },
      steps
    )
  })
}

/**
 * Runs `work` on the database that DATABASE_URL names as it is: nothing is migrated, and no file is made. Throws a StartError
 * if there is none.
 */
export async function withLiveDatabase<Result>(
  application: Application,
  environment: Environment,
  work: (live: { readonly database: Database; readonly own: OwnTables }) => Promise<Result>
): Promise<Result> {
  const { config } = readConfig(environment, application)
  const configured = config.databases.primary
  return await opening(configured, async () => {
    const database = await openExisting(configured.url)
    if (database === undefined) throw new StartError('there is no such database')
    try {
      const own = await findOwnTables(database, config.ownNames, application.migrations)
      return await work({ database, own })
    } finally {
      await database.sequelize.close()
    }
  })
}

/** The primary database with the tables of the engine up to date. Those of the application are left alone. */
async function withEngineTables<Result>(
  application: Application,
  { name, environment }: { readonly name: string; readonly environment: Environment },
  work: (opened: {
    readonly primary: Database
    readonly tables: OwnTables
    readonly transactions: Transactions
    readonly config: DataServiceConfig
  }) => Promise<Result>
): Promise<Result> {
  const { config } = readConfig(environment, application)
  const log = createLogger({ name, level: 'warn', destination: destination({ dest: 2, sync: true }) })
  await keepDataPrivate(config.dataDir, log)
  const configured = config.databases.primary
  const primary = await opening(configured, () => openDatabase(configured.url, config.databasePoolSize))
  const transactions = primary.openTransactions()
  try {
    const tables = await opening(configured, async () => {
      const own = await findOwnTables(primary, config.ownNames, application.migrations)
      // Before the first start nothing can be lost. Among tables of others `migrate` looks first, and says how to go on.
      const isNew = (await schemaOf(primary).appliedMigrations(own)).size === 0
      await migrateAtStart(primary, engineMigrations(own), { own, log, mayMigrate: config.migrateAtStart || isNew })
      return own
    })
    return await opening(configured, () => work({ primary, tables, transactions, config }))
  } finally {
    await transactions.close()
    await primary.sequelize.close()
  }
}

/**
 * An access token that belongs to no session, signed with the key of the service's settings: of the account of the
 * database or, if it has none of that e-mail address, of a sample account. Throws an AccountMistake if there is neither, and
 * for a disabled account.
 */
export async function mintAccessTokenFor(
  application: Application,
  { email, environment }: { readonly email: string; readonly environment: Environment }
): Promise<string> {
  const stored = await withAccounts(application, environment, (accounts) => accounts.find(email))
  if (stored !== undefined && stored.disabledAt !== null) {
    throw new AccountMistake(`The account ${stored.email} is disabled.`)
  }
  const samples = application.sample?.accounts ?? []
  const account = stored ?? samples.find((one) => one.email === email.toLowerCase())
  if (account !== undefined) return mintAccessToken(application, { account, environment })
  const known = samples.map((one) => `\n  ${one.email}`).join('')
  const hint = known === '' ? 'Make one with `uniform-rest account add`.' : `The sample accounts are:${known}`
  throw new AccountMistake(`There is no account ${JSON.stringify(email)}. ${hint}`)
}

/** An access token of the account that belongs to no session, signed with the key of the service's settings. */
export async function mintAccessToken(
  application: Application,
  { account, environment }: { readonly account: SampleAccount; readonly environment: Environment }
): Promise<string> {
  const { config } = readConfig(environment, application)
  const { tokens, dataDir, ownership } = config
  const { token } = signAccessToken(sampleAccount(account), undefined, {
    key: await loadSigningKey({ file: tokens.privateKeyFile, dataDir }),
    issuer: tokens.issuer,
    audience: tokens.audience,
    ownerClaimType: ownership.claimType,
    ttl: tokens.accessTtl,
    now: Date.now,
    newId: randomUUID
  })
  return token
}
