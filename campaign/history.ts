import { createReadStream, createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A request as it was sent. */
export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path with its query. */
  readonly target: string
  /** Without the access token, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The JSON text, or that of the file of an import; absent without a body. */
  readonly body?: string
}

/** An answer that arrived whole. */
export interface Answer {
  readonly status: number
  /** By names in lower case; several lines of one name are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One request and what became of it. A checker judges these, and knows nothing else of the system but its rows. */
export interface Exchange {
  /** The `X-Request-Id` that it carried, which no other request of the run has. */
  readonly id: string
  /** Who sent it: `creates-3`. A client sends one request at a time. */
  readonly client: string
  /** The name of the workload. */
  readonly workload: string
  /** The account whose token it carried; absent for none. */
  readonly account?: string
  /** Which gateway it was sent to, from 0. */
  readonly gateway: number
  readonly request: Request
  /** Milliseconds since the run began, by one monotonic clock for all clients: when the first byte may have left. */
  readonly sentAt: number
  /** When the last byte of the answer had arrived, or the client knew that none would. */
  readonly endedAt: number
  /** Absent when the connection broke or the client gave up before the whole answer was there: the outcome is unknown. */
  readonly answer?: Answer
  /** Why there is no answer: `ECONNRESET`, `timeout`, … */
  readonly lost?: string
}

/** `lost` of a request that its client broke off on purpose. */
export const BROKEN_OFF = 'broken off'

/** What an injury may bring about, by the contract. It stands in the history, so that checkers know nothing of the parts. */
export interface Touch {
  /** At the gateway of that number; absent: at any. */
  readonly gateway?: number
  /** `lost`: no answer arrives. `failed`: 502, 503 or 504, an export is cut, an answer is late. */
  readonly brings: readonly ('lost' | 'failed')[]
  /** To which requests; absent: to any. Those that may be sent again are reads, which another data service answers. */
  readonly of?: 'second store' | 'not sent again'
  /** Of which data service that is: where another is gone as well, reads have no other. */
  readonly service?: number
  /** Milliseconds for which it may be felt after it was mended. */
  readonly settles: number
}

/** Something that was done to the system. */
export interface Injury {
  /** `SIGKILL of gateway-1`. */
  readonly fault: string
  readonly from: number
  /** Absent while it lasts. */
  readonly until?: number
  /** How often it hit something: connections, statements, answers. */
  readonly hits?: number
  /** Absent in histories of before: it may have brought about anything, until ten seconds after its end. */
  readonly touches?: readonly Touch[]
}

/** An event that has arrived at the address of a webhook, once more or for the first time. */
export interface Delivery {
  /** `webhook-id`. */
  readonly id: string
  /** `webhook-timestamp`. */
  readonly timestamp: string
  /** Whether `webhook-signature` is one of the secret of the run. */
  readonly isSigned: boolean
  readonly body: string
  /** When it had arrived, and when its answer was sent. */
  readonly at: number
  readonly answeredAt: number
  /** What it was answered; absent where the connection ended before. */
  readonly status?: number
}

/** A line of the file of a run. An injury is written when it begins, and again when it is mended. */
export type HistoryLine =
  | { readonly exchange: Exchange }
  | { readonly delivery: Delivery }
  | { readonly begun: Injury }
  | { readonly injury: Injury }

/** Writes the history of a run, a line of JSON for each exchange, delivery and injury, in the order in which they ended. */
export class HistoryFile {
  readonly path: string
  readonly #stream: WriteStream
  /** All who write while the stream is full wait for the same. */
  #drained: Promise<unknown> | undefined
  #exchanges = 0

  constructor(path: string) {
    this.path = path
    this.#stream = createWriteStream(path)
  }

  /** How many exchanges it holds. */
  get exchanges(): number {
    return this.#exchanges
  }

  async add(line: HistoryLine): Promise<void> {
    if ('exchange' in line) this.#exchanges++
    if (this.#stream.write(`${JSON.stringify(line)}\n`)) return
    this.#drained ??= once(this.#stream, 'drain').finally(() => (this.#drained = undefined))
    await this.#drained
  }

  /** Resolves when everything is in the file. */
  async end(): Promise<void> {
    this.#stream.end()
    await once(this.#stream, 'close')
  }
}

/**
 * The lines of a file that HistoryFile wrote, one after another: a long run does not fit into memory. The last one is left out if
 * it is cut, as that of a run that was interrupted. Throws for any other that is no JSON.
 */
export async function* readHistory(path: string): AsyncGenerator<HistoryLine> {
  let [number, cut] = [0, 0]
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number++
    if (cut > 0) throw new SyntaxError(`Line ${cut} of ${path} is no JSON`)
    const read = parsed(line)
    if (read === undefined) cut = number
    else yield read
  }
}

function parsed(line: string): HistoryLine | undefined {
  try {
    return JSON.parse(line) as HistoryLine
  } catch {
    return undefined
  }
}
