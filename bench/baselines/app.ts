import { createPublicKey, randomUUID } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'
import jwt from 'jsonwebtoken'
import { LRUCache } from 'lru-cache'

/** Settings that both baselines take from the environment. */
export interface BaselineSettings {
  readonly port: number
  readonly databaseUrl: string
  readonly databaseConnections: number
  readonly maxExportRows: number
  readonly tokens: {
    readonly issuer: string
    readonly audience: string
    /** PEM. */
    readonly publicKey: string
  }
}

export function baselineSettings(): BaselineSettings {
  const { PORT = '0', DATABASE_URL, DATABASE_CONNECTIONS = '10', MAX_EXPORT_ROWS = '100000' } = process.env
  const { JWT_ISSUER = '', JWT_AUDIENCE = '', JWT_PUBLIC_KEY = '' } = process.env
  if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is not set.')
  return {
    port: Number(PORT),
    databaseUrl: DATABASE_URL,
    databaseConnections: Number(DATABASE_CONNECTIONS),
    maxExportRows: Number(MAX_EXPORT_ROWS),
    tokens: { issuer: JWT_ISSUER, audience: JWT_AUDIENCE, publicKey: JWT_PUBLIC_KEY }
  }
}

/** An app with the headers that every answer of an entity carries. */
export function createApp(): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id']
      return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID()
    }
  })
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('cache-control', 'no-store')
    reply.header('api-supported-versions', '1.0')
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('content-security-policy', "default-src 'none'; base-uri 'none'; frame-ancestors 'none'")
    reply.header('referrer-policy', 'no-referrer')
    reply.header('cross-origin-resource-policy', 'same-origin')
    done()
  })
  return app
}

/** Listens on loopback until SIGTERM. */
export async function serve(app: FastifyInstance, port: number): Promise<void> {
  await app.listen({ host: '127.0.0.1', port })
  process.once('SIGTERM', () => {
    app.close().catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exitCode = 1
    })
  })
}

/** Fastify answers with its status. */
export class RejectedRequest extends Error {
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

/** Who sends a request with an access token. */
export interface Caller {
  readonly issuer: string
  readonly subject: string
  readonly mayManageProducts: boolean
  /** The customer whose orders the caller reads; undefined for none. */
  readonly customerId: number | undefined
}

export interface Callers {
  /** undefined for a request without a token. Throws 401 for a token that is not valid. */
  of(authorization: string | undefined): Caller | undefined
  /** Throws 401 without a token. */
  required(authorization: string | undefined): Caller
  /** Throws 403 for a caller who may not manage products. */
  manager(authorization: string | undefined): Caller
}

const MANAGERS: readonly unknown[] = ['Admin', 'Clerk']
const KEPT_TOKENS = 1000

/**
 * Verifies signature, algorithm, issuer, audience and times of a token when it first comes, and knows it again until it
 * expires: verifying a signature for each request would cost more than a read by id does.
 */
export function callers({ tokens }: BaselineSettings): Callers {
  const { issuer, audience } = tokens
  const key = createPublicKey(tokens.publicKey)
  const known = new LRUCache<string, Caller>({ max: KEPT_TOKENS })
  const verify = (authorization: string): Caller => {
    const claims = verified(() =>
      jwt.verify(authorization.replace(/^bearer +/i, ''), key, { algorithms: ['ES256'], issuer, audience })
    )
    const { sub, exp = 0 } = typeof claims === 'string' ? {} : claims
    if (typeof claims === 'string' || typeof sub !== 'string') throw new RejectedRequest(401, 'No subject.')
    const customer: unknown = claims['customer_id']
    const caller = {
      issuer,
      subject: sub,
      mayManageProducts: MANAGERS.includes(claims['role']),
      customerId: typeof customer === 'number' ? customer : undefined
    }
    known.set(authorization, caller, { ttl: Math.max(1, exp * 1000 - Date.now()) })
    return caller
  }
  const of = (authorization: string | undefined): Caller | undefined =>
    authorization === undefined ? undefined : (known.get(authorization) ?? verify(authorization))
  const required = (authorization: string | undefined): Caller => {
    const caller = of(authorization)
    if (caller === undefined) throw new RejectedRequest(401, 'A token is required.')
    return caller
  }
  return {
    of,
    required,
    manager(authorization) {
      const caller = required(authorization)
      if (!caller.mayManageProducts) throw new RejectedRequest(403, 'Not for this role.')
      return caller
    }
  }
}

/** The customer whose orders the caller reads. Throws 403 for nobody. */
export function ownerOf({ customerId }: Caller): number {
  if (customerId === undefined) throw new RejectedRequest(403, 'Only for customers.')
  return customerId
}

function verified<T>(verify: () => T): T {
  try {
    return verify()
  } catch {
    throw new RejectedRequest(401, 'No valid token.')
  }
}
