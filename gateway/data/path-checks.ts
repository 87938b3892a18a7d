import { service as healthService } from 'grpc-health-check'
import type { Logger } from '../../shared/logger.js'
import { NEVER } from '../../shared/transport/cancellation.js'
import { AttemptFailure } from './call-stream.js'
import { CALL_DEADLINE, callReplica } from './calls.js'
import { type Replica, type RpcMethod, WATCHED_SERVICE } from './replica.js'
import type { ReplicaPool } from './replica-pool.js'

/** Milliseconds between two checks of a data service, if the first one has ended. */
const CHECK_EVERY_MS = 2000

/** Milliseconds that a check may take. It waits for no database. */
const CHECK_TIMEOUT_MS = CALL_DEADLINE / 2

export interface PathCheckOptions {
  readonly every?: number
  readonly timeout?: number
  readonly log?: Logger
}

// grpc-health-check loads this method from its own proto file and types it loosely.
const HEALTH = healthService['Check'] as unknown as RpcMethod<{ readonly service: string }, object>
const probe = { path: HEALTH.path, message: HEALTH.requestSerialize({ service: WATCHED_SERVICE }), isRepeatable: false }
const context = { authorization: undefined, requestId: 'health', traceparent: undefined, signal: NEVER }

/**
 * Asks each data service for its health by the way that its calls go. The watch of its health has an HTTP/2 stream of its
 * own, which says that all is well while calls wait in vain. The data service answers a check from memory, so that calls
 * that take long do not count.
 */
export class PathChecks {
  readonly #pool: ReplicaPool
  readonly #timeout: number
  readonly #log: Logger | undefined
  readonly #timer: NodeJS.Timeout
  readonly #underCheck = new WeakSet<Replica>()
  /** Those that did not answer their last check in time. */
  readonly #blocked = new WeakSet<Replica>()

  /** The checks end with the pool. */
  constructor(pool: ReplicaPool, { every = CHECK_EVERY_MS, timeout = CHECK_TIMEOUT_MS, log }: PathCheckOptions = {}) {
    this.#pool = pool
    this.#timeout = timeout
    this.#log = log
    this.#timer = setInterval(() => this.#checkAll(), every).unref()
  }

  /** Whether a data service serves, and answers. */
  get isServing(): boolean {
    return this.#pool.allServing().some((replica) => !this.#blocked.has(replica))
  }

  #checkAll(): void {
    if (this.#pool.isClosed) return clearInterval(this.#timer)
    for (const replica of this.#pool.allServing()) if (!this.#underCheck.has(replica)) void this.#check(replica)
  }

  async #check(replica: Replica): Promise<void> {
    this.#underCheck.add(replica)
    const deadline = Date.now() + this.#timeout
    const isBlocked = await callReplica(replica, { ...probe, deadline }, context)
      .then(() => false)
      // Any other failure comes from the data service, or from a connection whose loss is known.
      .catch((error: unknown) => !(error instanceof AttemptFailure) || error.error.code === 'upstream.timeout')
    this.#underCheck.delete(replica)
    if (isBlocked !== this.#blocked.has(replica)) this.#turn(replica, isBlocked)
  }

  #turn(replica: Replica, isBlocked: boolean): void {
    const { address } = replica
    if (isBlocked) {
      this.#blocked.add(replica)
      this.#log?.warn({ address }, 'a data service does not answer its calls')
    } else {
      this.#blocked.delete(replica)
      this.#log?.info({ address }, 'a data service answers its calls again')
    }
  }
}
