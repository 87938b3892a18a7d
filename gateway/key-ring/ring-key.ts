import { hkdfSync } from 'node:crypto'

const DAY = 24 * 60 * 60 * 1000

/** contract.md section 8. */
export const KEY_LIFE = 90 * DAY

/** How long before the newest key expires the next one is made: outages of days must not end in a ring without a key. */
export const ROLL_BEFORE = 14 * DAY

/** Between making a key and signing with it, so that every replica has read it by then. */
export const ACTIVATION_DELAY = 2 * DAY

/** How long what an expired key has signed is still accepted. */
export const READ_AFTER = 90 * DAY

export interface KeyDates {
  readonly id: string
  readonly created: Date
  readonly activates: Date
  readonly expires: Date
}

/**
 * The newest key that is in force. Where none is, the next one to be: a replica whose clock is behind still shares what
 * it signs.
 */
export function keyToSignWith<Key extends KeyDates>(keys: readonly Key[], now: Date): Key | undefined {
  const live = keys.filter(({ expires }) => expires > now).toSorted(byActivation)
  return live.findLast(({ activates }) => activates <= now) ?? live[0]
}

/** Whether what the key has signed is accepted. */
export function isReadable({ expires }: KeyDates, now: Date): boolean {
  return expires.getTime() + READ_AFTER > now.getTime()
}

/** When the next key is made, in force and over; undefined while none is due. */
export function nextKeyDates(keys: readonly KeyDates[], now: Date): Omit<KeyDates, 'id'> | undefined {
  const from = now.getTime()
  if (keys.some(({ expires }) => expires.getTime() > from + ROLL_BEFORE)) return undefined
  const bridged = keys.some(({ expires }) => expires.getTime() > from + ACTIVATION_DELAY)
  return {
    created: now,
    activates: new Date(bridged ? from + ACTIVATION_DELAY : from),
    expires: new Date(from + KEY_LIFE)
  }
}

/** Ids make the order of keys of one moment the same on every replica. */
function byActivation(one: KeyDates, other: KeyDates): number {
  const apart = one.activates.getTime() - other.activates.getTime()
  return apart === 0 ? (one.id < other.id ? -1 : 1) : apart
}

/** A key that this process can use. */
export interface RingKey extends KeyDates {
  /** 32 random bytes, from which a key for each purpose is derived. */
  readonly secret: Buffer
}

/** A key for one purpose of one application (RFC 5869): what one of them signs is nothing to the others. */
export function deriveKey(secret: Buffer, application: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, application, purpose, 32))
}
