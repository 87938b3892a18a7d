import { randomUUID } from 'node:crypto'
import { keepDataPrivate } from '../shared/files.js'
import { createLogger, type Logger } from '../shared/logger.js'
import type { Application } from './application.js'
import type { Account } from './auth/accounts.js'
import { loadSigningKey, signAccessToken } from './auth/signing-keys.js'
import { readConfig } from './config.js'
import { migratePrimary, migrateSecond } from './open-stores.js'
import { openDatabase } from './sql/connect.js'
import type { Database } from './sql/engines/engine.js'

/** What a command of an application works with, whether the service runs or not. */
export interface CommandContext {
  readonly primary: Database
  readonly second: Database
  readonly log: Logger
}

/**
 * Runs `work` on the migrated databases that the settings of this process name, and closes them. `name` is the name in the log.
 * Throws a SettingsError that lists every problem of the settings.
 */
export async function withDatabases(
  application: Application,
  name: string,
  work: (context: CommandContext) => Promise<void>
): Promise<void> {
  const { config } = readConfig(process.env, application)
  const log = createLogger({ name, level: config.logLevel })
  await keepDataPrivate(config.dataDir, log)
  const primary = await openDatabase(config.databases.primary.url)
  const second = await openDatabase(config.databases.second.url)
  try {
    await migratePrimary(primary, application, log)
    await migrateSecond(second, application, log)
    await work({ primary, second, log })
  } finally {
    await Promise.all([primary.sequelize.close(), second.sequelize.close()])
  }
}

/** An access token of the account that belongs to no session, signed with the key of the service's settings. */
export async function mintAccessToken(application: Application, account: Account): Promise<string> {
  const { config } = readConfig(process.env, application)
  const { tokens, dataDir, ownership } = config
  const { token } = signAccessToken(account, undefined, {
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
