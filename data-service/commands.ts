import { randomUUID } from 'node:crypto'
import { keepDataPrivate } from '../shared/files.js'
import { createLogger, type Logger } from '../shared/logger.js'
import type { Environment } from '../shared/settings.js'
import type { Application } from './application.js'
import { sampleAccount, type SampleAccount } from './auth/accounts.js'
import { loadSigningKey, signAccessToken } from './auth/signing-keys.js'
import { readConfig } from './config.js'
import type { Database } from './sql/engines/engine.js'
import { engineMigrations } from './sql/schema/engine-tables.js'
import { migrate } from './sql/schema/migrate.js'
import { openDatabase } from './sql/connect.js'

/** What a command of an application works with, whether the service runs or not. */
export interface CommandContext {
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
  const primary = await openDatabase(config.databases.primary.url)
  const second = config.databases.second && (await openDatabase(config.databases.second.url))
  try {
    await migrate(primary, [...engineMigrations, ...application.migrations], log)
    if (second !== undefined) await migrate(second, application.secondStore?.migrations ?? [], log)
    await work({ primary, second, log })
  } finally {
    await Promise.all([primary.sequelize.close(), second?.sequelize.close()])
  }
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
