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
  /** `http://127.0.0.1:port` */
  readonly origin: string
  /** Every process that does the server's work; their CPU and memory are summed. */
  readonly pids: readonly number[]
  stop(): Promise<void>
}

/** Something that serves the products of the reference store over HTTP. A new one is one file that exports this. */
export interface Target {
  /** Short, for tables. */
  readonly name: string
  readonly description: string
  start(context: TargetContext): Promise<RunningTarget>
}
