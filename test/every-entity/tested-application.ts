import type { Application } from '../../cli/public/application.js'
import type { Entity, KeyedEntity } from '../../data-service/entity/entity.js'
import { isKeyed } from '../../data-service/entity/key.js'
import { DEFAULT_PREFIX, type OwnTables, ownTables, parseOwnNames } from '../../data-service/sql/engines/own-tables.js'
import { withOwnTables } from '../../schema/migrations/find-own-tables.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { GrpcCaller } from '../stack/grpc-caller.js'
import { type Stack, startStack } from '../stack/stack.js'
import { TokenMint } from '../stack/token-mint.js'
import { statesOf } from './bodies.js'
import { type Caller, Callers, type KnownCaller } from './callers.js'
import { rulesOf } from './declared-rule.js'
import type { EntityValues } from './made-values.js'
import { RowMaker } from './row-maker.js'
import type { EntityRule, Rule } from './rule.js'
import { type Call, grpcTransport, httpTransport, type Outcome, type Transport } from './transports.js'

/** What the tests of every entity are told about an application. */
export interface EveryEntityOptions {
  /** What `uniform-rest.config.ts` exports as its default. */
  readonly application: Application
  /** The folder that holds that file: `new URL('..', import.meta.url)`, or an absolute path. */
  readonly folder: string | URL
  /** The names of the entities whose tests are declared. Default: all, and there are rows of all in any case. */
  readonly entities?: readonly string[]
  /** Default: SQLite, and MySQL or MariaDB too if the environment has TEST_MYSQL_URL. */
  readonly databases?: readonly DatabaseKind[]
  /**
   * `both`, the default: each call is made over HTTP and over gRPC, and both answers are compared. `in turn`: over one of
   * them, and what one rule decides for many properties, callers and tags is tried on some of them. It takes about a quarter
   * of the time.
   */
  readonly transports?: 'both' | 'in turn'
  /**
   * Who may do what, written down a second time, by the names of entities. An entity that is not here is judged by what its
   * own file says: a rule that is deleted from that file is then noticed by nobody.
   */
  readonly rules?: Readonly<Record<string, EntityRule>>
  /** The permissions of each role, written down a second time. Without it the `roles` of the application. */
  readonly roles?: Readonly<Record<string, readonly string[]>>
  /**
   * The role of OWNER_BYPASS_ROLE. Default: that of the application's `settings`, else a role of the tests' own. What it
   * lacks of all permissions its tokens name.
   */
  readonly bypassRole?: string
  /**
   * Claims that the tokens of callers have besides, by which row scopes know them: `({ owner }) => ({ branches: [owner] })`.
   * `sub` is the caller's name without it, and an owner is one of every kind of `owners`.
   */
  readonly claims?: (caller: KnownCaller) => Readonly<Record<string, unknown>>
  /**
   * Writes that a rule of the application forbids to made rows and bodies, by the names of entities: `create`, `update`,
   * `delete` or an action. Who may not do them is still tested, but not what a write that
   * succeeds would show.
   */
  readonly except?: Readonly<Record<string, readonly string[]>>
  /** Values that made rows and bodies need besides what the types of fields tell, by the names of entities. */
  readonly values?: Readonly<Record<string, EntityValues>>
  /**
   * Makes tables in the empty database before the service starts: those that no migration of the application makes, since
   * somebody else owns them. Rows may come with them, and each of their foreign keys must hold.
   */
  readonly makeTables?: (database: FreshDatabase) => Promise<void>
  /** Runs on the migrated database before the rows of entities are inserted. */
  readonly prepare?: (database: TestDatabase) => Promise<void>
  /** Settings of both processes. */
  readonly env?: Readonly<Record<string, string>>
}

/** Milliseconds for each entity before the tests: its table and rows are made, and callers with each permission ask what there is. */
const SET_UP_OF_EACH = 3_000

const BYPASS_ROLE = 'every-entity-bypass'

interface Running {
  readonly databases: readonly [first: FreshDatabase, ofSecondStore?: FreshDatabase]
  readonly stack: Stack
  readonly sql: TestDatabase
  readonly rpc: GrpcCaller
  readonly maker: RowMaker
  readonly transports: readonly [http: Transport, grpc: Transport]
}

/**
 * An application on one database as the tests of every entity see it: its entities, their rules and those who call, and,
 * while tests run, a gateway and a data service over a few rows of every entity.
 */
export class TestedApplication {
  readonly kind: DatabaseKind
  /** Those whose rows have a key. */
  readonly entities: readonly KeyedEntity[]
  readonly keyless: readonly Entity[]
  /** Those whose tests are declared. */
  readonly chosen: readonly KeyedEntity[]
  /** The engine's own tables in a fresh database. */
  readonly tables: OwnTables
  readonly ruleOf: (entity: Entity) => Rule
  readonly callers: Callers
  /** The names of the entities that have a rule by hand. */
  readonly ruledByHand: readonly string[]
  readonly #options: EveryEntityOptions
  readonly #bypassRole: string
  readonly #mint = new TokenMint()
  #running: Running | undefined
  readonly #taken = new Map<string, number>()
  #turn = 0

  constructor(kind: DatabaseKind, options: EveryEntityOptions) {
    const { application, rules = {}, roles, values = {} } = options
    const bypassRole = options.bypassRole ?? application.settings['OWNER_BYPASS_ROLE'] ?? BYPASS_ROLE
    this.kind = kind
    this.tables = ownTablesOf(options)
    const entities = withOwnTables(application, this.tables)
    this.entities = entities.filter(isKeyed)
    this.keyless = entities.filter((one) => !isKeyed(one))
    const isKeyless = (name: string): boolean => this.keyless.some((one) => one.name === name)
    this.chosen =
      options.entities?.flatMap((name) => (isKeyless(name) ? [] : [this.entityNamed(name)])) ?? this.entities
    this.ruleOf = rulesOf(this.entities, rules)
    this.ruledByHand = Object.keys(rules)
    for (const name of Object.keys(values)) this.entityNamed(name)
    for (const [name, writes] of Object.entries(options.except ?? {})) {
      const { writes: known, actions } = this.entityNamed(name)
      const stranger = writes.find((one) => !actions.has(one) && ![...known].some((write) => write === one))
      if (stranger !== undefined) throw new TypeError(`${stranger} of \`except\` is no write of ${name}.`)
    }
    this.callers = new Callers({
      roles: application.roles,
      ownerClaimType: application.ownerClaimType,
      owners: application.owners,
      bypassRole,
      claimsOf: options.claims,
      ...(roles === undefined ? {} : { rolesByHand: roles })
    })
    this.#options = options
    this.#bypassRole = bypassRole
  }

  /** Past the service. */
  get sql(): TestDatabase {
    return this.#get().sql
  }

  get maker(): RowMaker {
    return this.#get().maker
  }

  get rpc(): GrpcCaller {
    return this.#get().rpc
  }

  /** Those that a call is made over: both, or one of them in turn. */
  get transports(): readonly Transport[] {
    const { transports } = this.#get()
    if (this.#options.transports !== 'in turn') return transports
    this.#turn += 1
    // Of an even number of calls that are made again and again, each comes to both in this order (Thue and Morse).
    const isOdd = this.#turn.toString(2).replaceAll('0', '').length % 2 === 1
    return [transports[isOdd ? 1 : 0]]
  }

  /** What is compared around a write of an entity that is rejected before it is looked at: all of it, or its own rows `in turn`. */
  comparedFor(entity: KeyedEntity): readonly KeyedEntity[] {
    return this.#options.transports === 'in turn' ? [entity] : this.entities
  }

  get isInTurn(): boolean {
    return this.#options.transports === 'in turn'
  }

  /** All of them; some of them `in turn`, where calls of the same topic take the next ones. */
  some<T>(topic: string, all: readonly T[], count: number): readonly T[] {
    if (this.#options.transports !== 'in turn' || all.length <= count) return all
    const first = this.#taken.get(topic) ?? 0
    this.#taken.set(topic, first + count)
    return Array.from({ length: count }, (_, at) => all[(first + at) % all.length] as T) // an index below the length
  }

  get bothTransports(): Running['transports'] {
    return this.#get().transports
  }

  /** Whether the tests see the write of an entity succeed. */
  succeeds({ name }: Entity, write: string): boolean {
    return this.#options.except?.[name]?.includes(write) !== true
  }

  entityNamed(name: string): KeyedEntity {
    const found = this.entities.find((one) => one.name === name)
    if (found === undefined) throw new TypeError(`There is no entity ${name}.`)
    return found
  }

  send(transport: Transport, call: Call, caller: Caller): Promise<Outcome> {
    return transport.send(call, this.tokenOf(caller))
  }

  /** undefined for a caller without one. */
  tokenOf({ token, name, claims }: Caller): string | undefined {
    return token === 'none' ? undefined : this.#mint.sign({ sub: name, ...claims })
  }

  /** Milliseconds that a hook may take longer than a test. */
  get setUpTime(): number {
    return SET_UP_OF_EACH * (this.entities.length + this.keyless.length)
  }

  async start(): Promise<void> {
    const { application, values = {}, makeTables, prepare } = this.#options
    const database = await freshDatabase(this.kind)
    const second = application.secondStore === undefined ? undefined : await freshDatabase(this.kind)
    const databases: Running['databases'] = second === undefined ? [database] : [database, second]
    await makeTables?.(database)
    const served = await this.#serve(databases, { amongTables: makeTables !== undefined, env: {} })
    const sql = await openTestDatabase(database.url)
    const maker = new RowMaker(sql, { entities: this.entities, ruleOf: this.ruleOf, values })
    this.#running = { databases, sql, maker, ...served }
    await prepare?.(sql)
    await maker.fill((entity) => statesOf(entity, this.ruleOf(entity)))
  }

  /** Starts a gateway and a data service with other settings on the databases as they are by now. */
  async restart(env: Readonly<Record<string, string>>): Promise<void> {
    const { databases, stack, rpc } = this.#get()
    rpc.close()
    await stack.stop()
    const served = await this.#serve(databases, { amongTables: false, env })
    this.#running = { ...this.#get(), ...served }
  }

  async #serve(
    [database, second]: Running['databases'],
    { amongTables, env }: { readonly amongTables: boolean; readonly env: Readonly<Record<string, string>> }
  ): Promise<Pick<Running, 'stack' | 'rpc' | 'transports'>> {
    const { application, folder, env: chosen = {} } = this.#options
    const { ownerClaimType, secondStore } = application
    const stack = await startStack({
      app: folder,
      database,
      mint: this.#mint,
      amongTables,
      env: {
        // A line for each of some ten thousand requests is read by nobody.
        LOG_LEVEL: 'warn',
        OWNER_CLAIM_TYPE: ownerClaimType,
        OWNER_BYPASS_ROLE: this.#bypassRole,
        ...(secondStore === undefined || second === undefined ? {} : { [secondStore.setting]: second.url }),
        ...chosen,
        ...env
      }
    })
    const rpc = new GrpcCaller(stack.dataAddress)
    return { stack, rpc, transports: [httpTransport(stack.url), grpcTransport(rpc)] }
  }

  async stop(): Promise<void> {
    if (this.#running === undefined) return
    const { databases, stack, sql, rpc } = this.#running
    this.#running = undefined
    rpc.close()
    await sql.close()
    await stack.stop()
    for (const one of databases) await one?.dispose()
  }

  #get(): Running {
    if (this.#running === undefined) throw new Error('The stack runs within tests and hooks alone')
    return this.#running
  }
}

/** As ENGINE_TABLE_PREFIX names them in the settings that the processes get. */
function ownTablesOf({ application, env = {} }: EveryEntityOptions): OwnTables {
  const setting = 'ENGINE_TABLE_PREFIX'
  const names = parseOwnNames(env[setting] ?? application.settings[setting] ?? DEFAULT_PREFIX)
  if (names instanceof Error) throw new Error(`${setting} ${names.message}`)
  return ownTables(names)
}
