import { status } from '@grpc/grpc-js'
import {
  AskedFamily,
  CounterFamily,
  type MetricFamily,
  type Tally,
  type Timings,
  TimingFamily
} from '../../shared/observe/tallies.js'

/** The connections of a pool. */
export interface PoolState {
  /** The most that it opens. */
  readonly max: number
  readonly inUse: number
  readonly idle: number
  /** Work that waits for a connection. */
  readonly waiting: number
}

/** How a cache of compiled statements was used. */
export interface CacheState {
  readonly size: number
  readonly hits: number
  readonly misses: number
}

/** Where the values are asked for that others hold. */
export interface DataServiceSources {
  /** By name, such as `primary`. None where a database has no pool. */
  readonly pools: () => ReadonlyMap<string, PoolState>
  readonly statements: () => CacheState
  /** Whether the primary database serves. */
  readonly isDatabaseServing: () => boolean
  /** Streams of calls of gateways. */
  readonly streams: () => number
  readonly exports: () => { readonly running: number; readonly waiting: number }
  /** Of reads. */
  readonly places: () => { readonly taken: number; readonly waiting: number; readonly rejected: number }
  /** Of transactions of writes. */
  readonly turns: () => { readonly waiting: number; readonly rejected: number }
  /** Bytes of answers that callers have not taken. */
  readonly untakenBytes: () => number
}

const LOGIN_OUTCOMES = ['ok', 'failed', 'throttled', 'error'] as const
export type LoginOutcome = (typeof LOGIN_OUTCOMES)[number]

const DELIVERY_OUTCOMES = ['delivered', 'failed', 'set_aside'] as const
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number]

/** The calls of one rpc. */
export class RpcCalls {
  readonly #timings: Timings
  readonly #ofCode: (code: status) => Tally
  /** By code. */
  readonly #ended: (Tally | undefined)[] = []
  #inFlight = 0

  constructor(timings: Timings, ofCode: (code: status) => Tally) {
    this.#timings = timings
    this.#ofCode = ofCode
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** The time by `performance.now()`, for `end`, which must be called once. */
  begin(): number {
    this.#inFlight += 1
    return performance.now()
  }

  end(begun: number, code: status): void {
    this.#inFlight -= 1
    this.#timings.add(performance.now() - begun)
    const tally = (this.#ended[code] ??= this.#ofCode(code))
    tally.count += 1
  }
}

/** The metrics of a data service (docs/operations.md). */
export class DataServiceMetrics {
  readonly families: readonly MetricFamily[]
  readonly #handled = new CounterFamily({
    name: 'grpc_server_handled_total',
    help: 'Calls that ended, by method and code, whichever way they came.',
    labels: ['grpc_method', 'grpc_code']
  })
  readonly #handling = new TimingFamily({
    name: 'grpc_server_handling_seconds',
    help: 'Time from the request of a call to its answer, which for an export is its last row.',
    labels: ['grpc_method']
  })
  readonly #conflicts = new CounterFamily({
    name: 'uniform_rest_version_conflicts_total',
    help: 'Guarded writes that lost to another one: 412 over HTTP.',
    labels: ['resource']
  })
  readonly #replays = new CounterFamily({
    name: 'uniform_rest_idempotent_replays_total',
    help: 'Writes that were answered with the stored answer of an earlier one.',
    labels: ['resource']
  })
  readonly #logins = new CounterFamily({
    name: 'uniform_rest_logins_total',
    help: 'Log-ins with a password, sign-ins with an outside provider, and tokens for machines, by outcome: ok, failed, throttled or error.',
    labels: ['way', 'outcome']
  })
  readonly #exportRows = new CounterFamily({
    name: 'uniform_rest_export_rows_total',
    help: 'Rows of exports that were sent.',
    labels: ['resource']
  })
  readonly #truncated = new CounterFamily({
    name: 'uniform_rest_exports_truncated_total',
    help: 'Exports that left rows out because of MAX_EXPORT_ROWS.',
    labels: ['resource']
  })
  readonly #deliveries = new CounterFamily({
    name: 'uniform_rest_outbox_deliveries_total',
    help: 'Deliveries from the outbox that ended, by stored type and outcome: delivered, failed, or set_aside after the last attempt.',
    labels: ['type', 'outcome']
  })
  readonly #rpcs = new Map<string, RpcCalls>()

  /** `sources` is called at each scrape. undefined while the data service starts. */
  constructor(sources: () => DataServiceSources | undefined) {
    this.families = [
      this.#handled,
      this.#handling,
      new AskedFamily(
        'gauge',
        { name: 'uniform_rest_calls_in_flight', help: 'Calls that have not ended.', labels: ['grpc_method'] },
        () => [...this.#rpcs].map(([rpc, { inFlight }]) => ({ labels: { grpc_method: rpc }, value: inFlight }))
      ),
      this.#conflicts,
      this.#replays,
      this.#logins,
      this.#exportRows,
      this.#truncated,
      this.#deliveries,
      ...askedOf(sources)
    ]
    for (const way of ['password', 'provider', 'machine'])
      for (const outcome of LOGIN_OUTCOMES) this.#logins.of({ way, outcome })
  }

  /** Found once for each rpc. */
  callsOf(rpc: string): RpcCalls {
    const known = this.#rpcs.get(rpc)
    if (known !== undefined) return known
    const ofCode = (code: status): Tally => this.#handled.of({ grpc_method: rpc, grpc_code: codeName(code) })
    const made = new RpcCalls(this.#handling.of({ grpc_method: rpc }), ofCode)
    this.#rpcs.set(rpc, made)
    return made
  }

  /** `resource` is one that there is. */
  versionConflict(resource: string): void {
    this.#conflicts.of({ resource }).count += 1
  }

  replayed(resource: string): void {
    this.#replays.of({ resource }).count += 1
  }

  loggedIn(way: 'password' | 'provider' | 'machine', outcome: LoginOutcome): void {
    this.#logins.of({ way, outcome }).count += 1
  }

  exported(resource: string, rows: number): void {
    this.#exportRows.of({ resource }).count += rows
  }

  truncated(resource: string): void {
    this.#truncated.of({ resource }).count += 1
  }

  delivered(type: string, outcome: DeliveryOutcome): void {
    // The others begin with 0, or the first one that is set aside would be no increase.
    for (const each of DELIVERY_OUTCOMES) this.#deliveries.of({ type, outcome: each }).count += each === outcome ? 1 : 0
  }
}

/** `OK`, `NotFound`: the names that the metrics of other gRPC servers have. */
function codeName(code: status): string {
  const name = status[code] ?? 'UNKNOWN'
  return name === 'OK'
    ? name
    : name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** What others hold, and is asked for at each scrape. */
function askedOf(sources: () => DataServiceSources | undefined): MetricFamily[] {
  const one = (value: (from: DataServiceSources) => number) => () => {
    const from = sources()
    return from === undefined ? [] : [{ labels: {}, value: value(from) }]
  }
  const pools = <Labels extends Record<string, string>>(
    samples: (state: PoolState, pool: string) => readonly { readonly labels: Labels; readonly value: number }[]
  ) => {
    return () => [...(sources()?.pools() ?? [])].flatMap(([pool, state]) => samples(state, pool))
  }
  return [
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_call_streams_open', help: 'Streams of calls that gateways have open.', labels: [] },
      one(({ streams }) => streams())
    ),
    new AskedFamily(
      'gauge',
      {
        name: 'uniform_rest_database_serving',
        help: 'Whether the primary database can serve: 1 or 0.',
        labels: []
      },
      one(({ isDatabaseServing }) => (isDatabaseServing() ? 1 : 0))
    ),
    new AskedFamily(
      'gauge',
      {
        name: 'uniform_rest_database_connections',
        help: 'Connections of a pool that are open, by state: in_use or idle. A database in a file has no pool.',
        labels: ['pool', 'state']
      },
      pools(({ inUse, idle }, pool) => [
        { labels: { pool, state: 'in_use' }, value: inUse },
        { labels: { pool, state: 'idle' }, value: idle }
      ])
    ),
    new AskedFamily(
      'gauge',
      {
        name: 'uniform_rest_database_connections_max',
        help: 'The most connections that a pool opens.',
        labels: ['pool']
      },
      pools(({ max }, pool) => [{ labels: { pool }, value: max }])
    ),
    new AskedFamily(
      'gauge',
      {
        name: 'uniform_rest_database_connections_waiting',
        help: 'Work that waits for a connection of a pool.',
        labels: ['pool']
      },
      pools(({ waiting }, pool) => [{ labels: { pool }, value: waiting }])
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_statement_cache_size', help: 'Shapes of statements whose text is kept.', labels: [] },
      one(({ statements }) => statements().size)
    ),
    new AskedFamily(
      'counter',
      {
        name: 'uniform_rest_statement_cache_hits_total',
        help: 'Statements whose text was kept from an earlier one of the same shape.',
        labels: []
      },
      one(({ statements }) => statements().hits)
    ),
    new AskedFamily(
      'counter',
      {
        name: 'uniform_rest_statement_cache_misses_total',
        help: 'Statements whose text had to be written.',
        labels: []
      },
      one(({ statements }) => statements().misses)
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_exports_running', help: 'Exports that are under way.', labels: [] },
      one(({ exports }) => exports().running)
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_exports_waiting', help: 'Exports that wait for a place.', labels: [] },
      one(({ exports }) => exports().waiting)
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_read_places_taken', help: 'Places that reads hold, of 1024.', labels: [] },
      one(({ places }) => places().taken)
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_read_places_waiting', help: 'Places that reads wait for.', labels: [] },
      one(({ places }) => places().waiting)
    ),
    new AskedFamily(
      'counter',
      { name: 'uniform_rest_reads_refused_total', help: 'Reads that got no places.', labels: [] },
      one(({ places }) => places().rejected)
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_writes_waiting', help: 'Writes that wait for their turn.', labels: [] },
      one(({ turns }) => turns().waiting)
    ),
    new AskedFamily(
      'counter',
      { name: 'uniform_rest_writes_refused_total', help: 'Writes that got no turn.', labels: [] },
      one(({ turns }) => turns().rejected)
    ),
    new AskedFamily(
      'gauge',
      { name: 'uniform_rest_untaken_bytes', help: 'Bytes of answers that callers have not read.', labels: [] },
      one(({ untakenBytes }) => untakenBytes())
    )
  ]
}
