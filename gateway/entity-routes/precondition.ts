import type { FastifyRequest } from 'fastify'
import type { Precondition } from '../data-calls.js'
import { ifMatch } from '../headers/if-match.js'

/** What was found of `If-Match`; the data service decides what it means. */
export function preconditionOf(request: FastifyRequest): Precondition {
  const found = ifMatch(request.headers['if-match'])
  switch (found.kind) {
    case 'absent':
      return { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
    case 'any':
      return { kind: 'PRECONDITION_KIND_ANY', versions: [] }
    case 'malformed':
      return { kind: 'PRECONDITION_KIND_MALFORMED', versions: [] }
    case 'tags':
      return { kind: 'PRECONDITION_KIND_TAGS', versions: [...found.versions] }
  }
}
