import { randomBytes } from 'node:crypto'
import type { KeyDates } from './key-life.js'
import { SECRET_BYTES } from './ring-document.js'
import type { RingKey } from './ring-key.js'

export function newKey(dates: Omit<KeyDates, 'id'>): RingKey {
  return { ...dates, id: randomBytes(12).toString('base64url'), secret: randomBytes(SECRET_BYTES) }
}
