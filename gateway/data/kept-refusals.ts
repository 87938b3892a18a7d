import { LRUCache } from 'lru-cache'
import { type DomainError, saysTooManyReads } from '../../shared/errors.js'
import type { HttpContext } from './call-stream.js'

/** Milliseconds that a refusal is kept: as long as its `Retry-After` says. */
const KEPT = 1000

/** Refusals that are kept at a time. */
const MAX_KEPT = 1000

/** Characters of the longest read whose refusal is kept. */
const MAX_READ = 4096

/** The path of an rpc and the bytes of its request. */
interface KeptRead {
  readonly path: string
  readonly message: Buffer
}

/**
 * Keeps the refusals of a data service for callers who read too much at a time. A caller who sends the same read again within a
 * second gets the same answer, and the data service is not asked. A thousand refusals a second would leave it no time for others.
 */
export class KeptRefusals {
  readonly #kept = new LRUCache<string, { readonly error: DomainError; readonly until: number }>({ max: MAX_KEPT })

  keep(read: KeptRead, call: HttpContext, { error, now }: { readonly error: DomainError; readonly now: number }): void {
    if (!saysTooManyReads(error)) return
    const key = refusalKey(read, call)
    if (key.length <= MAX_READ) this.#kept.set(key, { error, until: now + KEPT })
  }

  /** The refusal that this caller has got for the same read. */
  of(read: KeptRead, call: HttpContext, now: number): DomainError | undefined {
    if (this.#kept.size === 0) return undefined
    const key = refusalKey(read, call)
    const kept = this.#kept.get(key)
    if (kept !== undefined && now < kept.until) return kept.error
    this.#kept.delete(key)
    return undefined
  }
}

/** Whose read it is, and of what. None of the first three has a line break. */
function refusalKey({ path, message }: KeptRead, { authorization = '', clientAddress = '' }: HttpContext): string {
  return `${path}\n${authorization}\n${clientAddress}\n${message.toString('latin1')}`
}
