import { randomUUID } from 'node:crypto'
import { fastify, type FastifyInstance } from 'fastify'

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

/** An app with the headers that every entity response carries. */
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
