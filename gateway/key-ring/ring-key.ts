import { hkdfSync } from 'node:crypto'

const DAY_MS = 24 * 60 * 60 * 1000

/** Milliseconds, as the other times here (contract.md section 8). */
export const KEY_LIFE = 90 * DAY_MS

/** The next key is made so long before the newest one expires, so that an outage of some days leaves a valid key. */
const RENEW_BEFORE_EXPIRY = 14 * DAY_MS

/** The time between the making of a key and its first use, so that every replica has read it by then. */
const ACTIVATION_DELAY = 2 * DAY_MS

/** Signatures of a key are accepted for so long after it has expired. */
const READABLE_AFTER_EXPIRY = 90 * DAY_MS

export interface KeyDates {
  readonly id: string
  readonly created: Date
  readonly activates: Date
  readonly expires: Date
}

/**
 * The newest active key. If none is active, the one that becomes active next: then a replica whose clock is behind still
 * signs with a shared key. undefined if every key has expired.
 */
export function keyToSignWith<Key extends KeyDates>(keys: readonly Key[], now: Date): Key | undefined {
  const live = keys.filter(({ expires }) => expires > now).toSorted(byActivation)
  return live.findLast(({ activates }) => activates <= now) ?? live[0]
}

/** Whether signatures of the key are accepted. */
export function isReadable({ expires }: KeyDates, now: Date): boolean {
  return expires.getTime() + READABLE_AFTER_EXPIRY > now.getTime()
}

/** The dates of the next key; undefined while none is due. */
export function nextKeyDates(keys: readonly KeyDates[], now: Date): Omit<KeyDates, 'id'> | undefined {
  const from = now.getTime()
  if (keys.some(({ expires }) => expires.getTime() > from + RENEW_BEFORE_EXPIRY)) return undefined
  const hasKeyUntilThen = keys.some(({ expires }) => expires.getTime() > from + ACTIVATION_DELAY)
  return {
    created: now,
    activates: new Date(hasKeyUntilThen ? from + ACTIVATION_DELAY : from),
    expires: new Date(from + KEY_LIFE)
  }
}

/** Keys that become active at the same time are ordered by id, so that the order is the same on every replica. */
function byActivation(one: KeyDates, other: KeyDates): number {
  const apart = one.activates.getTime() - other.activates.getTime()
  return apart === 0 ? (one.id < other.id ? -1 : 1) : apart
}

/** A key that this process can use. */
export interface RingKey extends KeyDates {
  /** 32 random bytes, from which a key for each purpose is derived. */
  readonly secret: Buffer
}

/** Derives a key for one purpose of one application (HKDF, RFC 5869). Its signatures are not valid for any other purpose. */
export function deriveKey(secret: Buffer, application: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, application, purpose, 32))
}
