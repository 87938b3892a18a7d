import type { X509Certificate } from 'node:crypto'
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkKeys } from '../data-service/auth/tokens/signing-keys.js'
import { type DataServiceConfig, missingVersionSecret } from '../data-service/config.js'
import { type ConfiguredDatabase, openExisting, openFailure, sameDatabase } from '../data-service/sql/connect.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { summarized } from '../schema/check/check-columns.js'
import { procedureMistakes } from '../schema/check/check-procedures.js'
import { sortedByNeed } from '../schema/check/check-schema.js'
import { engineMigrations } from '../schema/migrations/engine-tables.js'
import { findOwnTables, withOwnTables } from '../schema/migrations/find-own-tables.js'
import { neededRights } from '../schema/check/needed-rights.js'
import { readGatewayConfig } from '../gateway/config.js'
import { messageOf, StartError } from '../shared/start-error.js'
import { examineTlsFiles, type TlsFiles } from '../shared/tls.js'
import { loadApplication, type LoadedApplication } from './application/application.js'
import { checkApplication, comparedTables, namesOf, ownedWithoutBypass } from './check.js'
import { type CommandLine, Failure, printable } from './application/command.js'
import { readDotEnv } from './application/dot-env.js'
import { unknownSettings } from './application/unknown-settings.js'
import { schemaOf } from '../schema/kinds/kinds.js'
import { isolatableResources } from '../schema/table-fit.js'

/** `mistake`: the service does not start or is not safe as it is. `warning`: some requests or some moments suffer. */
type Severity = 'fine' | 'warning' | 'mistake'

interface Diagnosis {
  readonly verdict: Severity
  /** A setting, or `application` or `node`. */
  readonly of: string
  readonly text: string
}

/**
 * `uniform-rest doctor` looks at everything that a start needs, as it stands on this machine: settings, entities, files,
 * certificates, and of each database the server, the rights of the account, the migrations and the tables. A line says what
 * it found, and what to do where something is wrong. It changes nothing. The exit code is 1 with any mistake.
 */
export async function doctor(line: CommandLine): Promise<number> {
  const loaded = await loadApplication(line)
  const found = new Map<Severity, number>()
  for await (const { verdict, of, text } of examineAll(loaded, line)) {
    found.set(verdict, (found.get(verdict) ?? 0) + 1)
    line.stdout.write(`${verdict.padEnd(7)}  ${of}: ${lines(text)}\n`)
  }
  const count = (verdict: Severity): number => found.get(verdict) ?? 0
  const [warnings, mistakes] = [count('warning'), count('mistake')]
  line.stdout.write(
    `${count('fine')} fine, ${warnings} warning${warnings === 1 ? '' : 's'}, ${mistakes} mistake${mistakes === 1 ? '' : 's'}.\n`
  )
  return mistakes > 0 ? 1 : 0
}

/** A text of several lines stands below its first one. */
function lines(text: string): string {
  return text
    .split('\n')
    .map(printable)
    .join(`\n${' '.repeat('mistake  '.length)}`)
}

async function* examineAll(loaded: LoadedApplication, line: CommandLine): AsyncGenerator<Diagnosis> {
  yield { verdict: 'fine', of: 'node', text: process.versions.node }
  let config: DataServiceConfig
  try {
    config = checkApplication(loaded)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Without settings there is no database to look at.
    yield { verdict: 'mistake', of: 'application', text: error.message }
    return
  }
  yield {
    verdict: 'fine',
    of: 'application',
    text: `${loaded.application.entities.length} entities, settings that are right`
  }
  const missing = missingVersionSecret(config, loaded.application)
  if (missing !== undefined) yield { verdict: 'mistake', of: 'ROW_VERSION_SECRET', text: missing }
  const owned = ownedWithoutBypass(loaded, config)
  if (owned.length > 0) {
    const text = `not set, so requests for ${owned.join(', ')} are answered 500. State it, such as Admin.`
    yield { verdict: 'mistake', of: 'OWNER_BYPASS_ROLE', text }
  }
  yield await examineDataDir(config.dataDir)
  yield* examineSettingNames(loaded, line)
  yield* examineTls('HTTP', readGatewayConfig(loaded.environment).config.httpTls)
  yield* examineTls('GRPC', config.grpc.tls)
  yield* examineSigningKeys(config)
  yield* examineDatabases(loaded, config)
}

async function examineDataDir(dataDir: string): Promise<Diagnosis> {
  const of = 'DATA_DIR'
  const folder = await stat(dataDir).catch(() => undefined)
  if (folder === undefined) return { verdict: 'fine', of, text: `${dataDir} is made at the first start` }
  const isWritable = await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false
  )
  if (!folder.isDirectory() || !isWritable) {
    return { verdict: 'mistake', of, text: `${dataDir} is not a directory that this user may write to. Name another.` }
  }
  return (folder.mode & 0o077) === 0
    ? { verdict: 'fine', of, text: `${dataDir} is for this user alone` }
    : { verdict: 'warning', of, text: `${dataDir} can be entered by other users. Run chmod 700 on it.` }
}

/** Days before its end from which a certificate is worth a warning. */
const NEAR_END = 30
const DAY = 24 * 60 * 60_000

/** The files of one pair of TLS settings, such as `HTTP_TLS_CERT_FILE` and `HTTP_TLS_KEY_FILE`. */
async function* examineTls(protocol: 'HTTP' | 'GRPC', files: TlsFiles | undefined): AsyncGenerator<Diagnosis> {
  if (files === undefined) return
  const { certFile, keyFile, caFile } = await examineTlsFiles(files)
  for (const [of, found] of [
    [`${protocol}_TLS_CERT_FILE`, certFile],
    [`${protocol}_TLS_KEY_FILE`, keyFile],
    [`${protocol}_TLS_CA_FILE`, caFile]
  ] as const) {
    if (found instanceof Error) yield { verdict: 'mistake', of, text: found.message }
    else if (found !== undefined) yield examineEnd(of, found)
  }
}

function examineEnd(of: string, { validTo }: X509Certificate): Diagnosis {
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY)
  const ends = new Date(validTo).toISOString().slice(0, 10)
  if (days < 0) return { verdict: 'mistake', of, text: `the certificate ended on ${ends}. Put a new one there.` }
  if (days < NEAR_END) return { verdict: 'warning', of, text: `the certificate ends on ${ends}. Renew it.` }
  return { verdict: 'fine', of, text: `the certificate is valid until ${ends}` }
}

/** Names that were probably meant for settings. */
function* examineSettingNames(
  { application }: LoadedApplication,
  { environment, directory }: CommandLine
): Generator<Diagnosis> {
  const dotEnv = readDotEnv(join(directory, '.env'))
  for (const text of unknownSettings({ environment, dotEnv, application })) {
    yield { verdict: 'warning', of: 'settings', text }
  }
}

/** The keys that sign access tokens. */
async function* examineSigningKeys({ tokens, dataDir }: DataServiceConfig): AsyncGenerator<Diagnosis> {
  const of = 'JWT_PRIVATE_KEY_FILE'
  try {
    await checkKeys({ file: tokens.privateKeyFile, dataDir })
  } catch (error) {
    yield { verdict: 'mistake', of, text: messageOf(error).replace(`${of} `, '') }
  }
}

async function* examineDatabases(loaded: LoadedApplication, config: DataServiceConfig): AsyncGenerator<Diagnosis> {
  const { primary, second } = config.databases
  const open = new Map<'primary' | 'second', Database>()
  try {
    for (const [store, configured] of [
      ['primary', primary],
      ['second', second]
    ] as const) {
      if (configured === undefined) continue
      const of = configured.setting
      try {
        const database = await openExisting(configured.url, config.databasePoolSize)
        if (database === undefined) {
          yield { verdict: 'fine', of, text: 'there is no database yet: the first start makes it' }
          continue
        }
        open.set(store, database)
        yield* examineDatabase({ database, store, of }, loaded, config)
      } catch (error) {
        // A database that is not there as the settings say is what this command is for. Anything else is a defect.
        const failure = openFailure(error, configured)
        if (!(failure instanceof StartError)) throw error
        yield { verdict: 'mistake', of, text: failure.message.replace(`${of}, `, '') }
      }
    }
    yield* examinePair(open, second)
  } finally {
    for (const database of open.values()) await database.sequelize.close()
  }
}

async function* examinePair(
  open: ReadonlyMap<'primary' | 'second', Database>,
  second: ConfiguredDatabase | undefined
): AsyncGenerator<Diagnosis> {
  const [one, other] = [open.get('primary'), open.get('second')]
  if (one === undefined || other === undefined || second === undefined) return
  try {
    if (await sameDatabase(one, other))
      yield {
        verdict: 'mistake',
        of: second.setting,
        text: 'leads to the primary database by another name. Name another.'
      }
  } catch {
    // One of them cannot be reached, which its own lines say.
  }
}

interface Looked {
  readonly database: Database
  readonly store: 'primary' | 'second'
  readonly of: string
}

async function* examineDatabase(
  { database, store, of }: Looked,
  { application }: LoadedApplication,
  { ownNames, schemaMismatch: mismatch }: DataServiceConfig
): AsyncGenerator<Diagnosis> {
  for (const { what, found, harms, remedy } of await database.examine()) {
    const verdict = harms === undefined ? 'fine' : harms === 'all' ? 'mistake' : 'warning'
    yield { verdict, of, text: `${what}: ${found}${remedy === undefined ? '' : `. ${remedy}`}` }
  }
  const names = store === 'primary' ? ownNames : { ...ownNames, schema: undefined }
  const { migrations } = store === 'primary' ? application : (application.secondStore ?? { migrations: [] })
  const own = await findOwnTables(database, names, migrations)
  const applied = await schemaOf(database).appliedMigrations(own)
  const all = store === 'primary' ? [...engineMigrations(own), ...migrations] : migrations
  const missing = all.filter(({ name }) => !applied.has(name))
  if (missing.length > 0) {
    yield {
      verdict: 'mistake',
      of,
      text: `${missing.length} of ${all.length} migrations have not run: ${namesOf(missing)}. Run \`uniform-rest migrate\`.`
    }
    return
  }
  yield { verdict: 'fine', of, text: `all ${all.length} migrations have run` }
  try {
    await schemaOf(database).checkRights(neededRights(withOwnTables(application, own), store), own)
    yield { verdict: 'fine', of, text: 'the account has the rights that serving takes' }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    yield { verdict: 'mistake', of, text: error.message }
  }
  const wrong = store === 'primary' ? await procedureMistakes(database, application.operations) : []
  for (const text of wrong) yield { verdict: 'mistake', of, text }
  const { report } = await comparedTables(database, store, { application, ownNames })
  if (report === undefined) return
  const { mistakes } = report
  const isolatable =
    store === 'primary'
      ? await isolatableResources(
          database,
          { entities: withOwnTables(application, own), migrations },
          { own, mismatch }
        )
      : new Set<string>()
  for (const { text, resource = '' } of mistakes) {
    const isIsolated = isolatable.has(resource)
    const until = isIsolated ? ` Until then requests for ${resource} are answered 503.` : ''
    yield {
      verdict: isIsolated ? 'warning' : 'mistake',
      of,
      text: `${text}. \`uniform-rest check --sql\` prints statements that would fix it.${until}`
    }
  }
  for (const { text } of summarized(sortedByNeed(report).warnings)) yield { verdict: 'warning', of, text }
  if (mistakes.length === 0) yield { verdict: 'fine', of, text: 'the tables are as the entities say' }
}
