import { isIP } from 'node:net'
import { FaultList } from '../plan/fault-list.js'

/** RFC 5321 leaves room for no longer address. */
const MAX_EMAIL = 254
/** Bounds the work of hashing, and no passphrase. */
const MAX_PASSWORD = 1024

export interface Credentials {
  readonly email: string
  readonly password: string
  /** Empty for the peer's own. */
  readonly clientAddress: string
}

/** Throws `body.invalid`, naming all members at fault, before anything is looked up. */
export function checkCredentials({ email, password, clientAddress }: Credentials): void {
  const faults = new FaultList()
  check(email, { pointer: '/email', most: MAX_EMAIL }, faults)
  check(password, { pointer: '/password', most: MAX_PASSWORD }, faults)
  if (clientAddress !== '' && isIP(clientAddress) === 0) {
    faults.addAt('/clientAddress', '/clientAddress must be an IP address, or empty.')
  }
  faults.finish()
}

interface Member {
  readonly pointer: string
  /** Characters. */
  readonly most: number
}

function check(text: string, { pointer, most }: Member, faults: FaultList): void {
  if (text.trim() === '') faults.addAt(pointer, `${pointer} must be there, and not blank.`)
  else if (text.length > most) faults.addAt(pointer, `${pointer} must be at most ${most} characters long.`)
}
