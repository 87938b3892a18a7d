import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { Logger } from '../../shared/logger.js'
import type { MemoryGuard } from '../../shared/memory-guard.js'
import type { RateLimit } from '../../shared/rate-limit.js'
import { clientAddress } from '../http/client-address.js'
import { isPreflight } from '../http/cross-site.js'
import { LoopDelay } from './loop-delay.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is served before a data service has described itself. */
    atStart?: true
    /** Whether the route is served however much there is to do. */
    whateverLoad?: true
  }
}

/** Called before a request is refused, to set the headers that its answer has whatever becomes of it. */
export type OnRefusal = (request: FastifyRequest, reply: FastifyReply) => void

/** Addresses that are counted at a time. Beyond, the one that was seen least lately is forgotten. */
const COUNTED_ADDRESSES = 65_536

/**
 * Limits the requests of each client address, and of each /64 network of IPv6, to this process. All responses have the
 * `RateLimit` and `RateLimit-Policy` fields (draft-ietf-httpapi-ratelimit-headers-10), and those of the drafts before it,
 * which more clients read. A request beyond the limit is 429 `quota-exceeded` with `Retry-After`. Routes with
 * `config: { rateLimit: false }` are not counted.
 */
export const rateLimit = fp<{ limit: RateLimit; onRefusal: OnRefusal }>(
  async (app, { limit: { count, seconds }, onRefusal }) => {
    // It is loaded only where there is a limit.
    const { default: limiter } = await import('@fastify/rate-limit')
    await app.register(limiter, {
      global: false,
      max: count,
      timeWindow: seconds * 1000,
      cache: COUNTED_ADDRESSES,
      keyGenerator: (request) => throttledAddress(clientAddress(request))
    })
    const countRequest = app.createRateLimit()
    const policy = `"address";q=${count};w=${seconds}`
    app.addHook('onRequest', async (request, reply) => {
      const { config } = request.routeOptions
      if (config.rateLimit === false) return
      // A preflight is the browser's own, and asks for nothing. One for a page is work of the renderer.
      if (config.streamsBody !== true && isPreflight(request.method, request.headers)) return
      const window = await countRequest(request)
      if (window.isAllowed) return
      const reset = Math.max(1, window.ttlInSeconds)
      reply.headers({
        ratelimit: `"address";r=${window.remaining};t=${reset}`,
        'ratelimit-policy': policy,
        'ratelimit-limit': String(count),
        'ratelimit-remaining': String(window.remaining),
        'ratelimit-reset': String(reset)
      })
      if (!window.isExceeded) return
      onRefusal(request, reply)
      throw new DomainError(
        'quota-exceeded',
        `More than ${count} requests in ${seconds} seconds came from this address. Retry in ${reset} seconds.`,
        { retryAfter: reset }
      )
    })
  },
  { name: 'rate-limit', dependencies: ['request-identity'], fastify: '5.x' }
)

/** The cause of the error with which a request is refused because this process has too much to do. */
export class Overload extends Error {
  override readonly name = 'Overload'
}

/** The cause of the error that says that the gateway does not serve yet, or has no data service that does: a state, and no failure. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
}

/** Milliseconds between two lines of the log that say that requests are refused. */
const WARNING_INTERVAL = 10_000
/** Seconds after which a refused client may try again. The delay is measured anew each second, and the data service asked again. */
const OVERLOAD_RETRY_SECONDS = 1

interface BackPressure {
  /** Milliseconds; 0 for a process that may be late. */
  readonly maxEventLoopDelay: number
  readonly log: Logger
  readonly onRefusal: OnRefusal
  readonly delay?: LoopDelay | undefined
  readonly memory: MemoryGuard
}

/**
 * Refuses requests with 503 while the process is late by more than `maxEventLoopDelay` milliseconds (the mean of a
 * second), or its memory is nearly full: those under way are then answered in time, and a load balancer takes another
 * gateway. Routes with `config: { whateverLoad: true }` are served all the same.
 */
export const backPressure = fp<BackPressure>(
  async (app, { maxEventLoopDelay, log, onRefusal, delay = new LoopDelay(), memory }) => {
    if (maxEventLoopDelay > 0) {
      const stop = delay.watch()
      app.addHook('onClose', (_app, done) => {
        stop()
        done()
      })
    }
    let warned = -Infinity
    app.addHook('onRequest', (request, reply, done) => {
      const isLate = maxEventLoopDelay > 0 && delay.mean > maxEventLoopDelay
      if (request.routeOptions.config.whateverLoad === true || (!isLate && !memory.isFull())) return done()
      const now = performance.now()
      // The guard has lines of its own.
      if (isLate && now - warned > WARNING_INTERVAL) {
        warned = now
        log.warn(
          { reason: 'eventLoopDelay', value: delay.mean },
          'requests are refused: this process has too much to do'
        )
      }
      onRefusal(request, reply)
      throw new DomainError('upstream.unavailable', 'The gateway has too much to do at the moment.', {
        title: 'The gateway is too busy',
        retryAfter: OVERLOAD_RETRY_SECONDS,
        cause: new Overload(isLate ? 'late' : 'memory')
      })
    })
  },
  { name: 'back-pressure', dependencies: ['request-identity'], fastify: '5.x' }
)

/**
 * Refuses requests with 503 until the gateway knows what it serves: before that no path can be told from one that has nothing.
 * Routes with `config: { atStart: true }` are served all the same.
 */
export const startUp = fp<{ isDescribed: () => boolean }>(
  async (app, { isDescribed }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      if (!isDescribed() && request.routeOptions.config.atStart !== true) {
        throw new DomainError('upstream.unavailable', 'The gateway has just started, and waits for the data service.', {
          retryAfter: OVERLOAD_RETRY_SECONDS,
          cause: new NotReady('starting')
        })
      }
      done()
    })
  },
  { name: 'start-up', dependencies: ['problem-responses', 'request-limits'], fastify: '5.x' }
)
