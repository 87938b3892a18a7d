/** What one round sends; plain data, since the generator is another process. */
export interface Load {
  /** The connections are dealt out among them in turn. */
  readonly origins: readonly string[]
  /** Each connection has one request under way at a time, and sends the next when its answer is complete. */
  readonly connections: number
  readonly requests: Requests
  /** No request starts after this; those under way are waited for. */
  readonly seconds: number
}

/** What the connections of a round send. */
export type Requests = Reads | Creates | GuardedWrites | Mix

export interface Reads {
  readonly kind: 'read'
  /** The connections are these clients in turn. */
  readonly clients: readonly Client[]
  /** What clients without paths of their own ask for; each connection begins at another place. */
  readonly paths: readonly string[]
}

export interface Client {
  /** Header lines such as `Authorization: Bearer …`, without line ends. */
  readonly headers: readonly string[]
  /** In place of those that all ask for. */
  readonly paths?: readonly string[]
}

/** `POST /products`, each with a key and a product of its own. */
export interface Creates {
  readonly kind: 'create'
  readonly token: string
  /** Starts every key and every SKU, which must be unlike those of other rounds. */
  readonly round: string
  readonly categories: readonly number[]
}

/** Writes of existing products, each with the tag of the answer before. */
export interface GuardedWrites {
  readonly kind: 'update' | 'action'
  readonly token: string
  /** Dealt out among the connections, so that no two of them write the same row. */
  readonly rows: readonly ProductToWrite[]
  /** What the action chooses among. */
  readonly categories: readonly number[]
}

/** Nine reads, then a write, on each connection. */
export interface Mix {
  readonly kind: 'mix'
  readonly reads: Reads
  readonly writes: GuardedWrites
}

export interface ProductToWrite {
  readonly id: number
  readonly sku: string
  readonly categoryId: number
  /** As it is when the round starts. */
  readonly etag: string
}

/** What came back. */
export interface LoadResult {
  /** From the first request to the last answer. */
  readonly elapsedSeconds: number
  /** Of every request, from its first byte out to its last byte in. */
  readonly latenciesMs: readonly number[]
  /** How many of the answers were to writes. */
  readonly writes: number
  readonly bodyBytes: number
  /** Answers with another status than 201 to a create, and 200 to all else. */
  readonly rejected: number
  /** Status line of the first of them. */
  readonly rejection: string
  /** CPU of the generator itself, so that a reader sees how much of the machine it took. */
  readonly generatorCpuSeconds: number
}
