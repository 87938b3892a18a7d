import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AUTHORIZATION, rejectionAt } from '../../shared/errors.js'
import { loadOptional } from '../../shared/optional-package.js'
import { writeContext } from '../entity-routes/requests.js'
import type { LargeWrites } from '../entity-routes/large-writes.js'
import { bodyOf, checkJsonBody, keepBodiesAsBuffers, requireJsonMediaType } from '../http/json-body.js'
import { answerOtherMethods } from '../server/methods.js'
import { AgentTools, type AgentToolsDeps } from './agent-tools.js'
import { changedByParsing } from './faithful-json.js'

interface McpOptions extends Omit<AgentToolsDeps, 'app' | 'inject'> {
  /** Origins besides the own one whose pages may call it. */
  readonly origins: readonly string[]
  readonly largeWrites: LargeWrites
}

const PATH = '/mcp'
const METADATA_PATH = `/.well-known/oauth-protected-resource${PATH}`

/** Bytes of a message that are judged before its token is: 57 KB of arguments, all of them wrong, take a tenth of a second. */
const JUDGED_BEFORE = 4096

/**
 * `POST /mcp`: the Model Context Protocol for agents with an access token, revision 2026-07-28, and 2025-11-25 without
 * sessions; the official SDK does the protocol. Each message is answered by itself: the gateway keeps nothing of an agent.
 * `GET /.well-known/oauth-protected-resource/mcp` says so to programs (RFC 9728).
 */
export const mcpRoutes = fp<McpOptions>(
  async (app, { origins, largeWrites, ...deps }) => {
    const { address } = deps
    const sdk = await loadOptional(
      { neededBy: 'MCP', packages: ['@modelcontextprotocol/server'] },
      () => import('@modelcontextprotocol/server')
    )
    keepBodiesAsBuffers(app)
    metadataRoute(app, deps)
    // RFC 9728 section 5.1: who has no token learns from the challenge what takes one.
    app.addHook('onSend', (request, reply, ...[payload, done]) => {
      if (reply.statusCode === 401) {
        const challenge = String(reply.getHeader('www-authenticate'))
        const metadata = `resource_metadata="${address.baseFor(request)}${METADATA_PATH}"`
        reply.header('www-authenticate', `${challenge}${challenge.includes('=') ? ',' : ''} ${metadata}`)
      }
      done(null, payload)
    })
    answerOtherMethods(app, { url: PATH, routed: ['POST'] })
    const { default: inject } = await import('light-my-request')
    const tools = new AgentTools(sdk, { ...deps, app, inject })
    app.post(
      PATH,
      {
        onRequest: (request, reply, done) => {
          reply.header('cache-control', 'no-store')
          refuseOtherOrigins(request, [...origins, new URL(address.baseFor(request)).origin])
          if (request.headers.authorization === undefined) {
            throw rejectionAt('auth.required', 'Agents need an access token.', { place: AUTHORIZATION })
          }
          done()
        },
        preParsing: requireJsonMediaType
      },
      async (request, reply) => {
        const body = bodyOf(request)
        const { status, type, text } = await largeWrites.inTurn(writeContext(request), body, async () => {
          // What takes long to judge is for those alone whose token is good.
          if (body.length > JUDGED_BEFORE) await tools.admit({ request, reply })
          const message = checkJsonBody(body)
          // Neither revision has batches, and one of them would be many requests of one.
          const wrong = Array.isArray(message) ? 'A message is one JSON object.' : changedByParsing(body.toString())
          if (wrong !== undefined) throw rejectionAt('body.invalid', wrong, { place: { in: 'pointer', name: '' } })
          return tools.answer(message, { request, reply })
        })
        request.unsent?.take(Buffer.byteLength(text))
        if (type !== null) reply.type(type)
        return reply.code(status).send(text)
      }
    )
  },
  {
    name: 'mcp',
    encapsulate: true,
    dependencies: ['request-identity', 'problem-responses', 'request-limits'],
    fastify: '5.x'
  }
)

/** The metadata of the protected resource. Which server gives out tokens is not said: operators give agents theirs. */
function metadataRoute(app: FastifyInstance, { address }: Pick<McpOptions, 'address'>): void {
  answerOtherMethods(app, { url: METADATA_PATH, routed: ['GET', 'HEAD'] })
  app.get(METADATA_PATH, (request: FastifyRequest, reply: FastifyReply) => {
    const resource = `${address.baseFor(request)}${PATH}`
    return reply
      .header('cache-control', 'no-cache')
      .send({ resource, bearer_methods_supported: ['header'], resource_name: 'uniform-rest' })
  })
}

/** A page that was led here by another name of this machine tells its own origin (MCP, "Streamable HTTP", security). */
function refuseOtherOrigins({ headers: { origin } }: FastifyRequest, own: readonly string[]): void {
  if (origin === undefined || own.includes(origin)) return
  const detail = 'A page of another site sent the request, which CORS_ORIGINS does not name.'
  throw rejectionAt('request.cross-site', detail, { place: { in: 'header', name: 'Origin' } })
}
