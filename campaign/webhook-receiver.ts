import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { closeLocally, listenLocally } from '../test/harness/local-server.js'
import { isSigned, SECRET } from '../test/harness/webhook-receiver.js'
import type { Rows } from './checkers/checker.js'
import type { Delivery } from './history.js'

/** Where the deliveries of a run are written down, and what decides how they are answered. */
interface Recording {
  add(delivery: Delivery): Promise<void>
  /** Milliseconds since the run began. */
  now(): number
  /** From 0 to 1, 1 excluded. */
  random(): number
}

/** How often a delivery is answered badly at most: what is tried again waits twice as long each time. */
const MOST_FAILURES = 2
/** Milliseconds by which an answer is late, at most. */
const LATE_MS = 400
/** Milliseconds within which everything is delivered once every answer is good: leases of processes that died end before. */
const DRAINS_WITHIN_MS = 90_000
const LOOKS_EVERY_MS = 200

/**
 * The address that the store sends its events to. It answers most of them well, some late or with an error, breaks the connection
 * of some, and never answers a few.
 */
export class WebhookReceiver {
  readonly secret = SECRET
  readonly #server = createServer((request, response) => {
    void text(request).then(
      (body) => this.#receive(request, response, body),
      () => undefined
    )
  })
  readonly #failures = new Map<string, number>()
  #port = 0
  #recording: Recording | undefined
  #isKind = false

  static async start(): Promise<WebhookReceiver> {
    const made = new WebhookReceiver()
    made.#port = await listenLocally(made.#server)
    return made
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/orders`
  }

  /** Writes each delivery down from now on, until the result is called. */
  record(recording: Recording): () => void {
    this.#recording = recording
    this.#isKind = false
    return () => {
      this.#recording = undefined
    }
  }

  /** Answers everything well, and resolves when no event waits any more, or when one has waited too long. */
  async drain(rows: Rows, signal: AbortSignal): Promise<void> {
    this.#isKind = true
    const end = performance.now() + DRAINS_WITHIN_MS
    while (performance.now() < end) {
      const [found] = await rows('SELECT COUNT(*) AS waiting FROM ur_outbox WHERE due_at IS NOT NULL')
      if (Number(found?.['waiting'] ?? 0) === 0) break
      await delay(LOOKS_EVERY_MS, undefined, { signal })
    }
    // Deliveries whose answers are under way are written down in the turn after.
    await delay(LOOKS_EVERY_MS, undefined, { signal })
    this.#isKind = false
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections()
    return closeLocally(this.#server)
  }

  async #receive({ headers, socket }: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const recording = this.#recording
    if (recording === undefined) {
      response.writeHead(503).end()
      return
    }
    const [id, timestamp] = [String(headers['webhook-id']), String(headers['webhook-timestamp'])]
    const at = recording.now()
    let answeredAt = at
    let status = 0
    response.once('close', () => {
      const isWhole = status > 0 && response.writableFinished
      const signed = isSigned({ headers, body }, this.secret)
      const delivery = { id, timestamp, isSigned: signed, body, at, answeredAt, ...(isWhole ? { status } : {}) }
      if (this.#recording === recording) void recording.add(delivery)
    })
    const what = this.#isKind || (this.#failures.get(id) ?? 0) >= MOST_FAILURES ? 1 : recording.random()
    const failed = (): unknown => this.#failures.set(id, (this.#failures.get(id) ?? 0) + 1)
    const answer = (code: number): void => {
      // Before the answer: the sender may send the next event of the row as soon as it has this one.
      ;[status, answeredAt] = [code, recording.now()]
      response.writeHead(code).end()
    }
    if (what < 0.1) {
      failed()
      answer(500)
    } else if (what < 0.18) {
      failed()
      socket.destroy()
    } else if (what < 0.19) {
      // It never answers: the sender gives up.
      failed()
    } else {
      this.#failures.delete(id)
      if (what < 0.3) await delay(LATE_MS * recording.random())
      answer(204)
    }
  }
}
