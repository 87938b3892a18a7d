import { Http2ServerRequest } from 'node:http2'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { Logger } from '../../shared/logger.js'
import { memoryLimit } from '../../shared/memory-guard.js'
import { clientAddress } from '../http/client-address.js'
import { type OnRefusal, Overload } from './admission.js'

/** Bytes of answers that may wait for their clients, and of bodies that have come of requests, when a further request starts. */
export interface UnsentBounds {
  /** Of one connection of HTTP/2. One of HTTP/1.1 has one answer at a time. */
  readonly connection: number
  readonly address: number
  readonly process: number
  /** Of an address, whatever others hold. */
  readonly always: number
}

export type UnsentBound = Exclude<keyof UnsentBounds, 'always'>

/**
 * A quarter of the memory, 256 MiB at most; of that a quarter for an address, and a sixteenth for a connection. A sixteenth
 * of what an address may hold is left to each, so that a few addresses cannot keep all others out.
 */
export function unsentBounds(memory: number = memoryLimit()): UnsentBounds {
  const inAll = Math.min(256 * 1024 * 1024, Math.floor(memory / 4))
  const address = Math.floor(inAll / 4)
  return { process: inAll, address, connection: Math.floor(inAll / 16), always: Math.floor(address / 16) }
}

/** Bytes that a request counts for from its start, before its answer is known. */
export const UNDER_WAY = 16 * 1024

/** Bytes that the buffers on the way of a streamed answer hold. */
const STREAMED = 128 * 1024

/** Milliseconds between two lines of the log that say that requests are refused. */
const LOG_INTERVAL = 1000

/** An answer that is being made or sent. */
export interface UnsentAnswer {
  /**
   * What has come of the body of its request now, in bytes. Throws `upstream.unavailable` where its address or the process
   * holds too much.
   */
  receive(bytes: number): void
  /**
   * The answer to a read has come, of so many bytes. Throws `upstream.unavailable` where its address keeps too much besides, or
   * the process keeps too much.
   */
  take(bytes: number): void
  /** What is kept for its client now, in bytes. */
  hold(bytes: number): void
  /** Its client has it, or is gone. Calling it twice is harmless. */
  end(): void
}

interface Sender {
  readonly address: string
  /** The connection, where it may have several answers at a time. */
  readonly connection: object | undefined
}

/**
 * Counts the answers that are kept for clients. An answer is kept whole until its last byte has left the process, so it counts
 * whole until then.
 */
export class UnsentAnswers {
  /** Requests that were refused, by the bound that was reached. */
  readonly refused: Record<UnsentBound, number> = { connection: 0, address: 0, process: 0 }
  readonly #bounds: UnsentBounds
  readonly #log: Logger
  readonly #now: () => number
  readonly #ofAddress = new Map<string, number>()
  readonly #ofConnection = new WeakMap<object, number>()
  #held = 0
  #logged = -Infinity
  #refusedSince = 0

  /** `now` is in milliseconds. */
  constructor(options: { readonly bounds?: UnsentBounds; readonly log: Logger; readonly now?: () => number }) {
    const { bounds = unsentBounds(), log, now = () => performance.now() } = options
    this.#bounds = bounds
    this.#log = log
    this.#now = now
  }

  /** Bytes that are kept in all. */
  get held(): number {
    return this.#held
  }

  heldFor(address: string): number {
    return this.#ofAddress.get(address) ?? 0
  }

  /** Throws `upstream.unavailable` where too much is kept already. */
  begin(sender: Sender): UnsentAnswer {
    const reached = this.#reachedBy(sender)
    if (reached !== undefined) throw this.#refusal(reached, sender)
    let held = 0
    let hasEnded = false
    const become = (bytes: number): void => {
      this.#add(sender, bytes - held)
      held = bytes
    }
    become(UNDER_WAY)
    return {
      receive: (bytes) => {
        if (hasEnded) return
        become(Math.max(UNDER_WAY, bytes))
        const exceeded = this.#exceededBy(sender.address)
        if (exceeded !== undefined) throw this.#refusal(exceeded, sender)
      },
      take: (bytes) => {
        if (hasEnded) return
        become(Math.max(UNDER_WAY, bytes))
        // An address gets one answer that is larger than its bound, and all of them together one.
        const isOne = this.heldFor(sender.address) - bytes <= this.#bounds.always
        const exceeded = isOne ? this.#exceededByAll(sender.address, -bytes) : this.#exceededBy(sender.address)
        if (exceeded !== undefined) throw this.#refusal(exceeded, sender)
      },
      hold: (bytes) => {
        if (!hasEnded) become(Math.max(UNDER_WAY, bytes))
      },
      end: () => {
        hasEnded = true
        become(0)
      }
    }
  }

  #reachedBy({ address, connection }: Sender): UnsentBound | undefined {
    const ofConnection = connection === undefined ? 0 : (this.#ofConnection.get(connection) ?? 0)
    if (ofConnection + UNDER_WAY > this.#bounds.connection) return 'connection'
    return this.#exceededBy(address, UNDER_WAY)
  }

  /** The bound that the address or the process would exceed with so many bytes more. */
  #exceededBy(address: string, more = 0): UnsentBound | undefined {
    if (this.heldFor(address) + more > this.#bounds.address) return 'address'
    return this.#exceededByAll(address, more)
  }

  #exceededByAll(address: string, more = 0): UnsentBound | undefined {
    const isAlways = this.heldFor(address) + Math.max(0, more) <= this.#bounds.always
    return !isAlways && this.#held + more > this.#bounds.process ? 'process' : undefined
  }

  #add({ address, connection }: Sender, bytes: number): void {
    this.#held += bytes
    const ofAddress = this.heldFor(address) + bytes
    if (ofAddress === 0) this.#ofAddress.delete(address)
    else this.#ofAddress.set(address, ofAddress)
    if (connection !== undefined) this.#ofConnection.set(connection, (this.#ofConnection.get(connection) ?? 0) + bytes)
  }

  #refusal(bound: UnsentBound, { address }: Sender): DomainError {
    this.refused[bound] += 1
    this.#refusedSince += 1
    const now = this.#now()
    if (now - this.#logged >= LOG_INTERVAL) {
      const about = { bound, remoteAddress: address, unsentBytes: this.#held, refused: this.#refusedSince }
      this.#log.warn(about, 'requests are refused: earlier answers are not read, or bodies are not sent to their end')
      this.#logged = now
      this.#refusedSince = 0
    }
    const whose = { connection: 'this connection', address: 'your address', process: 'all clients' }[bound]
    return new DomainError(
      'upstream.unavailable',
      `Too much of earlier answers to ${whose} has not been read, or of bodies has not been sent.`,
      {
        title: 'Earlier answers are not read',
        retryAfter: 1,
        cause: new Overload(bound)
      }
    )
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What is kept for its client; undefined for a request that is served whatever there is to do. */
    unsent: UnsentAnswer | undefined
  }
}

/** Starts no handler while too much of earlier answers waits for clients. */
export const boundUnsentAnswers = fp<{ answers: UnsentAnswers; onRefusal: OnRefusal }>(
  async (app, { answers, onRefusal }) => {
    app.decorateRequest('unsent', undefined)
    app.addHook('onRequest', (request, reply, done) => {
      // A client that is gone gets no answer, and its response may have told its end already.
      if (request.routeOptions.config.whateverLoad !== true && !reply.raw.destroyed) {
        try {
          request.unsent = answers.begin(senderOf(request))
        } catch (error) {
          onRefusal(request, reply)
          throw error
        }
        reply.raw.once('close', request.unsent.end)
      }
      done()
    })
    app.addHook('onSend', (request, _reply, ...[payload, done]) => {
      request.unsent?.hold(payloadSize(payload))
      done(null, payload)
    })
  },
  { name: 'unsent-answers', dependencies: ['request-identity'], fastify: '5.x' }
)

function senderOf(request: FastifyRequest): Sender {
  const raw: unknown = request.raw
  return {
    address: throttledAddress(clientAddress(request)),
    connection: raw instanceof Http2ServerRequest ? raw.stream.session : undefined
  }
}

function payloadSize(payload: unknown): number {
  if (typeof payload === 'string' || payload instanceof Uint8Array) return payload.length
  return payload instanceof Readable ? STREAMED : 0
}
