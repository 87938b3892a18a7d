import { Agent, request as open } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { randomNumbers } from '../test/runner/random.js'
import { type Answer, BROKEN_OFF, type Exchange, type HistoryFile, type Request } from './history.js'
import type { Site } from './site.js'

/** Milliseconds after which a client gives up. Longer than the gateway's own deadlines, so that it answers first. */
const GIVES_UP_AFTER_MS = 40_000
/** How often a client sends a request on whose answer it insists. More than faults last, so that nearly all are answered. */
const MOST_ATTEMPTS = 60
const BETWEEN_ATTEMPTS_MS = 250
/** How long a user thinks, on average: a machine of two cores serves twenty of them and has time left for what breaks. */
const THINKS_FOR_MS = 80

/** What a workload sends. Headers that the client adds: the token, `x-request-id`, `content-type` and `content-length`. */
export interface Call {
  readonly method?: Request['method']
  readonly target: string
  /** Default: none, an anonymous request. */
  readonly account?: string
  /** Default: one of the sample account. */
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly text?: { readonly type: string; readonly body: string }
  /** Breaks the connection off when such a share of the body was sent, and so many milliseconds later. Default: it does not. */
  readonly breakOff?: BreakOff
  /** Default: a random one. */
  readonly gateway?: number
}

interface BreakOff {
  /** From 0 to 1. */
  readonly share: number
  readonly afterMs: number
}

/** One user of the system, who sends one request at a time and writes down what became of each. */
export class Client {
  readonly name: string
  /**
   * From 0 to 1, 1 excluded; depends on the seed of the run and the client's name alone. What is sent depends on these. Which
   * gateway it goes to depends on others, or else a request that has to be sent again would change all that follow.
   */
  readonly random: () => number
  readonly #route: () => number
  readonly #workload: string
  readonly #site: Site
  readonly #history: Pick<HistoryFile, 'add'>
  readonly #now: () => number
  readonly #agents: readonly Agent[]
  #sent = 0
  #tags = 0
  #keys = 0

  constructor(
    name: string,
    options: {
      readonly workload: string
      readonly site: Site
      readonly history: Pick<HistoryFile, 'add'>
      /** Of the run. */
      readonly seed: number
      readonly now: () => number
    }
  ) {
    this.name = name
    this.random = streamOf(options.seed, name)
    this.#route = streamOf(options.seed, `route of ${name}`)
    this.#workload = options.workload
    this.#site = options.site
    this.#history = options.history
    this.#now = options.now
    this.#agents = options.site.urls.map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    for (const item of items.slice(Math.floor(this.random() * items.length))) return item
    throw new RangeError('There is nothing to pick from')
  }

  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1))
  }

  /** A text that nobody else has in this run: `creates-3.17`. */
  tag(): string {
    return `${this.name}.${++this.#tags}`
  }

  /** An Idempotency-Key that nobody else has in this run. */
  key(): string {
    return `${this.name}.key-${++this.#keys}`
  }

  /** Looks at what was answered before it goes on. */
  async think(times = 1): Promise<void> {
    await delay(2 * times * THINKS_FOR_MS * this.random())
  }

  /**
   * Sends the same request, through any gateway, for as long as the contract says that it may be answered otherwise later.
   * Resolves with the last exchange, which in a long outage has no answer either. For reads and for what has a key.
   */
  async insist(call: Call): Promise<Exchange> {
    for (let attempt = 1; ; attempt++) {
      const exchange = await this.send(call)
      if (isFinal(exchange.answer) || attempt === MOST_ATTEMPTS) return exchange
      await delay(BETWEEN_ATTEMPTS_MS)
    }
  }

  /** Sends a request and resolves with the exchange once it is in the history. Rejects never for a broken connection. */
  async send(call: Call): Promise<Exchange> {
    const gateway = call.gateway ?? Math.floor(this.#route() * this.#site.urls.length)
    const id = `${this.name}-${++this.#sent}`
    const body = call.text?.body ?? (call.body === undefined ? undefined : JSON.stringify(call.body))
    const method = call.method ?? (body === undefined ? 'GET' : 'POST')
    const type = call.text?.type ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
    const headers = { ...call.headers, 'x-request-id': id, ...(body === undefined ? {} : { 'content-type': type }) }
    const request: Request = { method, target: call.target, headers, ...(body === undefined ? {} : { body }) }
    const token = call.token ?? (call.account === undefined ? undefined : await this.#site.token(call.account))
    const sentAt = this.#now()
    const outcome = await exchange(this.#site.urls[gateway] ?? '', request, {
      token,
      agent: this.#agents[gateway],
      breakOff: call.breakOff
    })
    const done: Exchange = {
      id,
      client: this.name,
      workload: this.#workload,
      ...(call.account === undefined ? {} : { account: call.account }),
      gateway,
      request,
      sentAt,
      endedAt: this.#now(),
      ...outcome
    }
    await this.#history.add({ exchange: done })
    return done
  }

  end(): void {
    for (const agent of this.#agents) agent.destroy()
  }
}

/** Whether the same request, sent again, is answered the same. A conflict with another row is; a key whose first request runs is not. */
function isFinal(answer: Answer | undefined): boolean {
  const { status = 0, body = '' } = answer ?? {}
  if (status === 409) return !body.includes('"idempotency.in-flight"')
  return status >= 200 && status < 500 && status !== 429
}

/** The answer if it arrived whole, else why not. */
function exchange(
  url: string,
  { method, target, headers, body }: Request,
  {
    token,
    agent,
    breakOff
  }: {
    readonly token: string | undefined
    readonly agent: Agent | undefined
    readonly breakOff: BreakOff | undefined
  }
): Promise<{ readonly answer: Answer } | { readonly lost: string }> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const late = AbortSignal.timeout(GIVES_UP_AFTER_MS)
    let isBrokenOff = false
    const lose = (error: Error): void =>
      resolve({
        lost: isBrokenOff ? BROKEN_OFF : late.aborted ? 'timeout' : 'code' in error ? String(error.code) : error.message
      })
    const outgoing = open(
      {
        hostname,
        port,
        method,
        path: target,
        ...(agent === undefined ? {} : { agent }),
        signal: late,
        headers: {
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) })
        }
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', lose)
        incoming.on('close', () => {
          if (!incoming.complete) resolve({ lost: isBrokenOff ? BROKEN_OFF : late.aborted ? 'timeout' : 'cut' })
        })
        incoming.on('end', () => {
          if (!incoming.complete) return
          const answered = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)] as const)
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({
            answer: { status: incoming.statusCode ?? 0, headers: Object.fromEntries<string>(answered), body: text }
          })
        })
      }
    )
    outgoing.on('error', lose)
    if (breakOff === undefined || body === undefined) {
      outgoing.end(body)
      return
    }
    outgoing.write(body.slice(0, Math.ceil(breakOff.share * body.length)))
    setTimeout(() => {
      isBrokenOff = true
      outgoing.destroy(new Error(BROKEN_OFF))
    }, breakOff.afterMs)
  })
}

/** Random numbers that depend on the seed and the name alone. */
export function streamOf(seed: number, name: string): () => number {
  let mixed = seed | 0
  for (const char of name) mixed = Math.imul(mixed ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return randomNumbers(mixed)
}
