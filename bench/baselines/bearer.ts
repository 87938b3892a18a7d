import { createPublicKey } from 'node:crypto'
import jwt from 'jsonwebtoken'
import { RejectedRequest } from './rejected-request.js'
import type { BaselineSettings } from './serve.js'

/** Who writes. */
export interface Writer {
  readonly issuer: string
  readonly subject: string
}

const MANAGERS: readonly unknown[] = ['Admin', 'Clerk']

/** Verifies a token as the data service does: signature, algorithm, issuer, audience and times, for every request. */
export function bearer({ tokens }: BaselineSettings): (authorization: string | undefined) => Writer {
  const { issuer, audience } = tokens
  const key = createPublicKey(tokens.publicKey)
  return (authorization = '') => {
    const claims = verified(() =>
      jwt.verify(authorization.replace(/^bearer +/i, ''), key, { algorithms: ['ES256'], issuer, audience })
    )
    if (typeof claims === 'string' || typeof claims.sub !== 'string') throw new RejectedRequest(401, 'No subject.')
    if (!MANAGERS.includes(claims['role'])) throw new RejectedRequest(403, 'Not for this role.')
    return { issuer, subject: claims.sub }
  }
}

function verified<T>(verify: () => T): T {
  try {
    return verify()
  } catch {
    throw new RejectedRequest(401, 'No valid token.')
  }
}
