import type { FastifyReply } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import type { EntityRecord } from '../data-calls.js'
import { entityTag } from '../headers/entity-tag.js'
import { JSON_TYPE } from './record-array.js'

/** Answers one row, its bytes as they came and its version as `ETag`. */
export function sendRecord(reply: FastifyReply, record: EntityRecord | null): FastifyReply {
  if (record === null) {
    throw new DomainError('upstream.bad-gateway', 'The data service gave an answer that could not be understood.')
  }
  const tag = entityTag(record.rowVersion)
  if (tag !== undefined) reply.header('etag', tag)
  return reply.type(JSON_TYPE).send(record.json)
}
