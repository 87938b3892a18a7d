import type { Server, ServerWritableStream } from '@grpc/grpc-js'
import { HealthImplementation } from 'grpc-health-check'

/** Names that health is asked by: each service, and the empty one for the process. All follow the primary database. */
const SERVICES = ['', 'entity.v1.EntityService', 'auth.v1.AuthService']

type Watch = ServerWritableStream<unknown, unknown>

/** The standard health service (grpc.health.v1), with watches that can be ended: they would hold a shutdown up. */
export class ServiceHealth {
  readonly #health = new HealthImplementation(Object.fromEntries(SERVICES.map((name) => [name, 'NOT_SERVING'])))
  readonly #watches = new Set<Watch>()
  #isServing = false

  get isServing(): boolean {
    return this.#isServing
  }

  /** Whether somebody watches, and so hears of a change at once. */
  get isWatched(): boolean {
    return this.#watches.size > 0
  }

  addTo(server: Server): void {
    this.#health.addToServer({
      addService: (definition, { watch, ...others }) => {
        const watching = (call: Watch): void => {
          this.#watches.add(call)
          // grpc-js says so however the call ends.
          call.on('cancelled', () => this.#watches.delete(call))
          const start = watch as (call: Watch) => void
          start(call)
        }
        server.addService(definition, { ...others, watch: watching })
      }
    })
  }

  setServing(isServing: boolean): void {
    this.#isServing = isServing
    for (const name of SERVICES) this.#health.setStatus(name, isServing ? 'SERVING' : 'NOT_SERVING')
  }

  endWatches(): void {
    for (const call of this.#watches) call.end()
  }
}
