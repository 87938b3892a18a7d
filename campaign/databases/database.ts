/** What the campaign can start. `mysql` is the newest MySQL that Debian has, `mariadb-newest` that of its stable release. */
export const DATABASE_KINDS = ['sqlite', 'mariadb', 'mariadb-newest', 'mysql', 'galera'] as const
export type DatabaseKind = (typeof DATABASE_KINDS)[number]

export interface Address {
  readonly host: string
  readonly port: number
}

/** A row as the driver answers it, integers of 64 bits and decimals as their digits. */
export type Row = Readonly<Record<string, unknown>>

/** One server process of a database, which the campaign may hurt. */
export interface DatabaseNode {
  /** `node-1` */
  readonly name: string
  readonly address: Address
  /** Ends it with SIGKILL. Nothing happens if it has ended. */
  kill(): Promise<void>
  /** Ends it with SIGTERM, and resolves when it has ended; with SIGKILL after 30 seconds. */
  terminate(): Promise<void>
  /** SIGSTOP and SIGCONT: while it is frozen its connections stay open and nothing answers. */
  freeze(): void
  thaw(): void
  /** Starts it again with its data and its address unless it runs. Resolves when it serves statements. */
  start(): Promise<void>
  /** Runs a statement as the server's administrator, on a connection of its own. */
  run(sql: string): Promise<readonly Row[]>
}

/** The two databases of the reference store, as `DATABASE_URL` and `REVIEWS_DATABASE_URL` name them. */
export interface StoreUrls {
  readonly url: string
  readonly reviewsUrl: string
}

/**
 * Begins to hurt a database and resolves, when it is hurt, with what heals it. `random` answers numbers from 0 to 1 and decides
 * which node, which table and how much. Of several hurts at a time the last is healed first.
 */
export type Hurt = (random: () => number) => Promise<Heal>
/** Resolves when the database serves as before. */
export type Heal = () => Promise<void>

/** A database that runs; one node unless it is a cluster. */
export interface Database {
  /** For people: `MariaDB 11.8.9 with innodb_snapshot_isolation=ON`. */
  readonly label: string
  /** None for SQLite. */
  readonly nodes: readonly DatabaseNode[]
  /** For a data service that uses the node with this index, by the address `through` where it is given. The account has rights to the two databases alone. */
  urls(node: number, through?: Address): StoreUrls
  /** Rows of the primary database by hand-written SQL, past the service. Tables of the second store are `reviews.<table>`. */
  query(sql: string): Promise<readonly Row[]>
  /** By name. */
  readonly hurts: Readonly<Record<string, Hurt>>
  /** Ends it and removes what it made. */
  dispose(): Promise<void>
}

export interface DatabaseOptions {
  /** An existing folder of the caller's, in which the data and the logs of the servers are kept. */
  readonly folder: string
  /** `innodb_snapshot_isolation`, which MariaDB has. Default: as the server has it. */
  readonly snapshotIsolation?: boolean
  /** Told what takes longer: what is fetched, and what starts. */
  readonly progress: (line: string) => void
}

/** One of several. Throws if there is none. */
export function pick<T>(all: readonly T[], random: () => number): T {
  const one = all[Math.min(all.length - 1, Math.floor(random() * all.length))]
  if (one === undefined) throw new RangeError('There is nothing to pick from')
  return one
}
