/** Whose tokens a target must verify. */
export interface TokenIssuer {
  readonly name: string
  readonly audience: string
  /** PEM. */
  readonly privateKeyFile: string
  /** PEM. */
  readonly publicKey: string
}

/** What a target is given to start with. */
export interface TargetContext {
  readonly databaseUrl: string
  /** Connections to the database, the same for every target. */
  readonly databaseConnections: number
  /** A folder of the target's own. */
  readonly dataDir: string
  /** Ceiling on exported rows. */
  readonly maxExportRows: number
  readonly issuer: TokenIssuer
  /** More options for node, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[]
}

export interface RunningTarget {
  /** `http://127.0.0.1:port` of the first process that answers clients. */
  readonly origin: string
  /** All of them, where there are several: connections are dealt out among them in turn. */
  readonly origins?: readonly string[]
  /** Every process that does the server's work; their CPU and memory are summed. */
  readonly pids: readonly number[]
  /** The processes among them whose shares of the CPU are shown one by one. */
  readonly replicas?: readonly number[]
  stop(): Promise<void>
}

/** The workloads by name. Those of `WRITES` change rows. */
export const WORKLOADS = [
  'by-id',
  'by-id-fields',
  'by-id-own',
  'page',
  'page-1',
  'page-1000',
  'cursor-1000',
  'page-children',
  'lookup',
  'export',
  'create',
  'update',
  'action',
  'mix',
  'html'
] as const

export type WorkloadName = (typeof WORKLOADS)[number]

/** Something that serves the rows of the reference store over HTTP. A new one is one file that exports this. */
export interface Target {
  /** Short, for tables. */
  readonly name: string
  readonly description: string
  /** The workloads that it takes part in. */
  readonly workloads: readonly WorkloadName[]
  /**
   * Its answers have a form of their own, so they are not compared. undefined for a target that must answer the same as the
   * others, byte for byte.
   */
  readonly ownForm?: OwnForm
  /** Rejects with a NotHere where the machine cannot run it: the bench goes on without it. */
  start(context: TargetContext): Promise<RunningTarget>
}

/** How a target of another form is asked for the same rows. */
export interface OwnForm {
  /** The path for a path of the reference store. */
  pathOf(path: string): string
}

/** A target that cannot run on this machine; the message says why. */
export class NotHere extends Error {}
