import { StartError } from '../../shared/start-error.js'
import type { SecondStore, ServedApplication } from '../../data-service/application.js'
import type { SampleAccounts } from '../../data-service/auth/accounts/accounts.js'
import { definitionWords, wordMistakes, wrongValues } from '../../data-service/entity/fields/definition-words.js'
import type { Migrations } from '../../schema/migrations/migration-folder.js'
import type { SampleAggregate, SampleDatabase } from '../../schema/sample-rows.js'

/** The business that the service serves, as `defineApplication` makes it. */
export interface Application extends ServedApplication {
  /**
   * The migrations of the database of DATABASE_URL, in the order in which they run: those of the engine's own tables run
   * before. A released migration keeps its name and its place. `await migrationsIn(new URL('./migrations/',
   * import.meta.url))` are those of a folder.
   */
  readonly migrations: Migrations
  readonly secondStore?: SecondStore & {
    /** As those of the first database. */
    readonly migrations: Migrations
  }
  /** Accounts and rows to try the service with. They exist only if SAMPLE_DATA is on. */
  readonly sample?: SampleRows
  /** The server of pages behind the gateway. Without it the gateway proxies nothing, unless RENDERER_URL names one. */
  readonly renderer?: Renderer
  /**
   * Settings by the names of docs/settings.md. The environment comes first, then the file `.env`, then these. They are for
   * what is the same wherever the application runs: never for secrets, since the file is committed.
   */
  readonly settings: Readonly<Record<string, string>>
}

interface SampleRows extends SampleAccounts {
  /** Rows that are loaded into an empty database, by resource; a resource comes after those that it refers to. */
  readonly rows?: () => ReadonlyMap<string, readonly SampleAggregate[]>
  /** Resources of which `uniform-rest sample --<resource> <count>` adds rows, in the order in which it adds them. */
  readonly moreOf?: readonly string[]
  /** Adds `count` rows; `progress` gets the number of rows so far, from time to time. */
  readonly addRows?: (
    database: SampleDatabase,
    order: { readonly resource: string; readonly count: number },
    progress: (loaded: number) => void
  ) => Promise<void>
  /** What a newcomer can try: lines that are shown when `uniform-rest dev` serves. `token` is the start of the command that prints an access token of an account. */
  readonly welcome?: (how: { readonly base: string; readonly token: string }) => readonly string[]
}

interface Renderer {
  /** The module that `uniform-rest dev` and `uniform-rest start` run as a process of its own: `new URL('./pages/main.js', import.meta.url)`. */
  readonly module: URL
  /** The setting that holds the port it listens on; a free one where it is not set. */
  readonly portSetting: string
  /** Its environment beside that of the command. `apiUrl` is the gateway's address, without a slash at its end. */
  readonly environment: (address: {
    readonly host: string
    readonly port: number
    readonly apiUrl: string
  }) => Readonly<Record<string, string>>
}

/** An application as `uniform-rest.config.ts` states it; what it does not use is left out. */
type ApplicationDefinition = Pick<Application, 'entities'> &
  Partial<Omit<Application, 'settings'>> & {
    readonly settings?: Readonly<Record<string, string | number | boolean>>
  }

const APPLICATION = definitionWords<ApplicationDefinition>({
  entities: 'list',
  operations: 'list',
  roles: 'object',
  ownerClaimType: 'text',
  owners: 'object',
  migrations: 'list',
  secondStore: 'object',
  typedServices: 'object',
  outbox: 'list',
  sample: 'object',
  renderer: 'object',
  settings: 'object'
})

/**
 * The application of a `uniform-rest.config.ts`, which exports it as its default. Without `migrations` only the tables of
 * the engine are made. Without `roles` nobody has a permission. Without `ownerClaimType` the claim `customer_id` names the
 * owner.
 */
export function defineApplication(definition: ApplicationDefinition): Application {
  const { migrations = [], roles = {}, ownerClaimType = 'customer_id', owners = {}, settings = {} } = definition
  const mistakes = [
    ...wordMistakes('', definition, APPLICATION),
    ...wrongValues('roles', roles, 'list'),
    ...wrongValues('owners', owners, 'text'),
    ...wrongValues('settings', settings, 'text or number or flag')
  ]
  if (mistakes.length > 0) {
    throw new StartError('the application has mistakes.', { mistakes })
  }
  const texts = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]))
  return { ...definition, migrations, roles, ownerClaimType, settings: texts }
}
