import type { FastifyReply } from 'fastify'

/** All that a script may know of a session. */
export interface AccessToken {
  readonly accessToken: string
  /** RFC 3339, UTC with milliseconds. */
  readonly accessTokenExpiry: string
}

/** 200. The refresh token is in no body (contract.md section 8). */
export function sendAccessToken(reply: FastifyReply, { accessToken, accessTokenExpiry }: AccessToken): FastifyReply {
  return sendJson(reply.code(200), { accessToken, accessTokenExpiry })
}

/** 401, exactly as source.md has it: the one refusal that is no problem document. */
export function sendNoSession(reply: FastifyReply): FastifyReply {
  return sendJson(reply.code(401).header('www-authenticate', 'Bearer'), { error: 'no_session' })
}

/** As bytes, since Fastify adds a charset to the type of a text. */
function sendJson(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body)))
}
