import type { FastifyReply } from 'fastify'
import type { EntityRecord } from '../data-calls.js'
import { unintelligible } from '../unintelligible.js'
import { entityTag } from '../headers/entity-tag.js'
import { JSON_TYPE } from './record-array.js'

/** Answers one row, its bytes as they came and its version as `ETag`. */
export function sendRecord(reply: FastifyReply, record: EntityRecord | null): FastifyReply {
  if (record === null) {
    throw unintelligible()
  }
  const tag = entityTag(record.rowVersion)
  if (tag !== undefined) reply.header('etag', tag)
  return reply.type(JSON_TYPE).send(record.json)
}
