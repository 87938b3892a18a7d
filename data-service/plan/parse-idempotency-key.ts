import type { FaultList } from './fault-list.js'

const HEADER = 'Idempotency-Key'

/** The key of a write, undefined for none; blank is none. */
export function parseIdempotencyKey(key: string | undefined, required: boolean, faults: FaultList): string | undefined {
  if (key === undefined || key.trim() === '') {
    if (required) faults.addHeader('idempotency.key.missing', HEADER, `This needs an ${HEADER}.`)
    return undefined
  }
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  faults.addHeader('idempotency.key.invalid', HEADER, `${HEADER} must be 1 to 255 visible ASCII characters.`)
  return undefined
}
