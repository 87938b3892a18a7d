import type { FastifyRequest } from 'fastify'
import type { Precondition } from '../data-calls.js'
import { ifMatch, type IfMatch } from '../headers/if-match.js'

const KINDS = {
  absent: 'PRECONDITION_KIND_UNSPECIFIED',
  any: 'PRECONDITION_KIND_ANY',
  malformed: 'PRECONDITION_KIND_MALFORMED',
  tags: 'PRECONDITION_KIND_TAGS'
} as const satisfies Readonly<Record<IfMatch['kind'], Precondition['kind']>>

/** What was found of `If-Match`; the data service decides what it means. */
export function preconditionOf(request: FastifyRequest): Precondition {
  const found = ifMatch(request.headers['if-match'])
  return { kind: KINDS[found.kind], versions: found.kind === 'tags' ? [...found.versions] : [] }
}
