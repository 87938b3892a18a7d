import { LRUCache } from 'lru-cache'
import { AUTHORIZATION, rejectionAt } from '../../shared/errors.js'
import {
  type CredentialSlot,
  MAX_AUTHORIZATION,
  MAX_CREDENTIALS,
  METADATA_TEXT
} from '../../shared/transport/call-frames.js'

/** An `Authorization` that metadata cannot carry holds no valid token. Throws `auth.invalid-token`. */
export function checkedAuthorization(authorization: string): string {
  // A longer one could pass the header limit of an HTTP/2 peer, which would close the connection and end all other calls.
  if (authorization.length <= MAX_AUTHORIZATION && METADATA_TEXT.test(authorization)) return authorization
  if (authorization.length > MAX_AUTHORIZATION) {
    const detail = `The header Authorization is too large: it has at most ${MAX_AUTHORIZATION} bytes.`
    throw rejectionAt('auth.invalid-token', detail, { place: AUTHORIZATION })
  }
  throw rejectionAt('auth.invalid-token', 'The access token is not a well-formed JWT.', { place: AUTHORIZATION })
}

/** The tokens that a stream knows, the least recently used of which makes room for a new one. */
export class CredentialSlots {
  readonly #announce: (slot: CredentialSlot, authorization: string) => void
  #free: CredentialSlot | undefined
  readonly #slots = new LRUCache<string, CredentialSlot>({
    max: MAX_CREDENTIALS,
    dispose: (slot) => {
      this.#free = slot
    }
  })

  /** `announce` sends a token before the call that names it. */
  constructor(announce: (slot: CredentialSlot, authorization: string) => void) {
    this.#announce = announce
  }

  /** Bytes that are sent before a call with this token, all ASCII. */
  sizeOf(authorization: string): number {
    return this.#slots.has(authorization) ? 0 : authorization.length
  }

  /** Throws `auth.invalid-token` for a text that cannot be sent. */
  check(authorization: string): void {
    if (!this.#slots.has(authorization)) checkedAuthorization(authorization)
  }

  slotOf(authorization: string): CredentialSlot {
    const known = this.#slots.get(authorization)
    if (known !== undefined) return known
    const { size } = this.#slots
    if (size >= MAX_CREDENTIALS) this.#slots.pop()
    const slot = this.#free ?? ((size + 1) as CredentialSlot)
    this.#free = undefined
    this.#slots.set(authorization, slot)
    this.#announce(slot, authorization)
    return slot
  }
}
