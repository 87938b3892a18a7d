import type { DomainError } from '../../shared/errors.js'
import { TOO_MANY_READS } from '../../shared/transport/wire.js'
import type { CallContext } from './call-stream.js'

/** Milliseconds that a refusal is kept: whoever gets it is told to wait for a second. */
const KEPT = 1000

/** Refusals that are kept at a time, and characters of the longest read of which one is. */
const MAX_KEPT = 1000
const MAX_READ = 4096

/** The path of an rpc and the bytes of its request. */
interface Read {
  readonly path: string
  readonly message: Buffer
}

/**
 * What a data service has refused because its caller reads too much at a time, for a second: who asks for the same again at
 * once gets the same answer, without the data service. A thousand refusals a second would leave it no time for the reads of others.
 */
export class KeptRefusals {
  readonly #kept = new Map<string, { readonly error: DomainError; readonly until: number }>()

  keep(read: Read, call: CallContext, { error, now }: { readonly error: DomainError; readonly now: number }): void {
    if (error.message !== TOO_MANY_READS) return
    const key = keyOf(read, call)
    if (key.length > MAX_READ) return
    // The oldest is the first one.
    const [oldest] = this.#kept.keys()
    this.#kept.delete(this.#kept.size >= MAX_KEPT && oldest !== undefined ? oldest : key)
    this.#kept.set(key, { error, until: now + KEPT })
  }

  /** The refusal that this caller has got for the same read. */
  of(read: Read, call: CallContext, now: number): DomainError | undefined {
    if (this.#kept.size === 0) return undefined
    const key = keyOf(read, call)
    const kept = this.#kept.get(key)
    if (kept === undefined) return undefined
    if (now < kept.until) return kept.error
    this.#kept.delete(key)
    return undefined
  }
}

/** Whose read it is, and of what. None of the first three has a line break. */
function keyOf({ path, message }: Read, { authorization = '', clientAddress = '' }: CallContext): string {
  return `${path}\n${authorization}\n${clientAddress}\n${message.toString('latin1')}`
}
