import { createHash, timingSafeEqual } from 'node:crypto'

// Machine accounts: programs that get their access tokens with a client id and a secret (contract.md section 6).

/** A secret of a machine account as it is stored. Times are epoch milliseconds. */
export interface MachineSecret {
  /** One of SLOTS. */
  readonly slot: number
  /** As hashOfSecret makes it. */
  readonly hash: Buffer
  readonly createdAt: number
  /** null: it does not expire. */
  readonly expiresAt: number | null
  /** Written once a minute at most; null: never used. */
  readonly lastUsedAt: number | null
}

/** A machine account has two secrets at most, so that the new one can be handed out before the old one ends. */
export const SLOTS = [1, 2] as const

/**
 * Names of machine accounts, which are their client ids. They have no `@`, as every e-mail address has, so that no account
 * is both; neither `_` nor capitals, so that no secret looks like a name and gets into a log; and they begin with a letter,
 * so that none is a number, which would be an owner where OWNER_CLAIM_TYPE is `sub`.
 */
export const MACHINE_NAME = /^[a-z][a-z0-9.-]{0,63}$/

/** Whether an account is a machine's. It has no password, no session and no sign-in. */
export function isMachine({ email }: { readonly email: string }): boolean {
  return !email.includes('@')
}

/** Scanners that look for leaked secrets know them by it: `ur_machine_[A-Za-z0-9_-]{43}`. */
const PREFIX = 'ur_machine_'
const SECRET_BYTES = 32

export function newMachineSecret(randomBytes: (size: number) => Buffer): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
}

/**
 * A fast hash is enough here: 256 random bits cannot be guessed, however many hashes a second somebody computes. The slow
 * one of passwords would let a few programs that ask for tokens keep people from logging in.
 */
export function hashOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/**
 * The secret that was presented. Two hashes are compared for every client id, also one without secrets: the time tells
 * neither which client ids there are nor how much of a secret is right.
 */
export function matchingSecret(secrets: readonly MachineSecret[], presented: string): MachineSecret | undefined {
  const hash = hashOfSecret(presented)
  const matches = SLOTS.map((slot) => {
    const secret = secrets.find((one) => one.slot === slot)
    return timingSafeEqual(secret?.hash ?? NO_HASH, hash) ? secret : undefined
  })
  return matches.find((one) => one !== undefined)
}

/** The hash of no secret. */
const NO_HASH = Buffer.alloc(32)
