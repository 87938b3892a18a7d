import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Caller, type Callers, RejectedRequest } from './app.js'
import { type ProductInput, productInputSchema } from './products.js'

/** An answer to a write as it is sent, and kept under a key. */
export interface WrittenProduct {
  readonly json: string
  /** base64 */
  readonly rowVersion: string
  readonly id: string
}

/** An Idempotency-Key with all that makes it one, and the body it came with. */
export interface Claim {
  readonly keyHash: Buffer
  readonly fingerprint: Buffer
  /** Epoch milliseconds. */
  readonly now: number
  readonly expiresAt: number
}

/** What the baselines write differently. */
export interface ProductWrites {
  /** One transaction: key, product, audit entry, kept answer. */
  create(input: ProductInput, claim: Claim, writer: Caller): Promise<WrittenProduct & { readonly replayed: boolean }>
  /** One transaction: guarded update, audit entry. Throws RejectedRequest for a row that is gone or changed. */
  update(id: number, change: Guarded & { input: ProductInput }): Promise<WrittenProduct>
  /** The same for an action that changes the category alone. */
  changeCategory(id: number, change: Guarded & { categoryId: number }): Promise<WrittenProduct>
}

/** By whom, and of which version of the row. */
export interface Guarded {
  readonly expected: Buffer
  readonly writer: Caller
}

const RETENTION_MS = 24 * 60 * 60 * 1000
const MEMBERS = Object.keys(productInputSchema.properties)
const BODY = { schema: { body: productInputSchema } }

const CATEGORY = {
  schema: { body: { type: 'object', required: ['categoryId'], properties: { categoryId: { type: 'integer' } } } }
} as const

/** `POST /products`, `PUT /products/:id` and `PUT /products/:id/change-category`. */
export function registerWrites(app: FastifyInstance, callers: Callers, writes: ProductWrites): void {
  app.post<{ Body: ProductInput }>('/products', BODY, async (request, reply) => {
    const writer = callers.manager(request.headers.authorization)
    const key = request.headers['idempotency-key']
    if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) throw new RejectedRequest(400, 'No usable key.')
    const { replayed, ...written } = await writes.create(request.body, claimOf(key, request.body, writer), writer)
    reply.code(201).header('location', `http://${request.host}/products/${written.id}`)
    if (replayed) reply.header('idempotent-replayed', 'true')
    return send(reply, written)
  })

  app.put<{ Params: { id: string }; Body: ProductInput }>('/products/:id', BODY, async (request, reply) => {
    const writer = callers.manager(request.headers.authorization)
    const expected = expectedVersion(request.headers['if-match'])
    return send(reply, await writes.update(Number(request.params.id), { input: request.body, expected, writer }))
  })

  app.put<{ Params: { id: string }; Body: { categoryId: number } }>(
    '/products/:id/change-category',
    CATEGORY,
    async (request, reply) => {
      const writer = callers.manager(request.headers.authorization)
      const expected = expectedVersion(request.headers['if-match'])
      const { categoryId } = request.body
      return send(reply, await writes.changeCategory(Number(request.params.id), { categoryId, expected, writer }))
    }
  )
}

function send(reply: FastifyReply, { json, rowVersion }: WrittenProduct): FastifyReply {
  return reply.header('etag', `W/"${rowVersion}"`).type('application/json; charset=utf-8').send(json)
}

function claimOf(key: string, body: ProductInput, { issuer, subject }: Caller): Claim {
  const now = Date.now()
  return {
    keyHash: sha256(JSON.stringify([issuer, subject, 'POST', '/products', key])),
    // The names put the members in one order.
    fingerprint: sha256(JSON.stringify(body, MEMBERS)),
    now,
    expiresAt: now + RETENTION_MS
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function expectedVersion(ifMatch: string | undefined): Buffer {
  if (ifMatch === undefined) throw new RejectedRequest(428, 'If-Match is required.')
  const tag = /^(?:W\/)?"([A-Za-z0-9+/]+=*)"$/.exec(ifMatch)?.[1]
  if (tag === undefined) throw new RejectedRequest(400, 'If-Match holds no version.')
  return Buffer.from(tag, 'base64')
}
