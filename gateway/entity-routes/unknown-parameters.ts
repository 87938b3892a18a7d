import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Unplaced } from '../data-calls.js'
import { ignoredParameters } from '../headers/ignored-parameters.js'
import { prefersStrict } from '../headers/prefer.js'
import type { RouteQuery } from '../headers/route-query.js'

/** What becomes of the parameters that a route does not know. */
export interface UnknownParameters {
  /** Under `Prefer: handling=strict`, which is confirmed then. */
  readonly strict: boolean
  /** Named in `X-Ignored-Parameters`; none where handling is strict. */
  readonly ignored: readonly string[]
  /** Handed on, to be refused together with every other fault. */
  readonly unplaced: Unplaced
}

export function unknownParameters(
  { ignored, refused }: Pick<RouteQuery, 'ignored' | 'refused'>,
  request: FastifyRequest,
  reply: FastifyReply
): UnknownParameters {
  const strict = prefersStrict(request.headers['prefer']?.toString())
  if (strict) {
    reply.header('preference-applied', 'handling=strict')
    return { strict, ignored: [], unplaced: { parameters: [...ignored, ...refused] } }
  }
  sayIgnored(reply, ignored)
  return { strict, ignored, unplaced: { parameters: [...refused] } }
}

/** Sets `X-Ignored-Parameters` where there is something to name. */
export function sayIgnored(reply: FastifyReply, names: readonly string[]): void {
  const header = ignoredParameters(names)
  if (header !== undefined) reply.header('x-ignored-parameters', header)
}
