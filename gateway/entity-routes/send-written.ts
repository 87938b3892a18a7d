import type { FastifyReply } from 'fastify'
import type { EntityRecord } from '../data-calls.js'
import { sendRecord } from './send-record.js'
import { sayIgnored, type UnknownParameters } from './unknown-parameters.js'

/** What the answers of writes have in common. */
export interface Written {
  readonly record: EntityRecord | null
  readonly ignoredMembers: readonly string[]
  readonly replayed: boolean
}

/** Answers the row as written, and names what was ignored of the query and of the body. */
export function sendWritten(reply: FastifyReply, written: Written, { ignored }: UnknownParameters): FastifyReply {
  sayIgnored(reply, [...ignored, ...written.ignoredMembers.map((name) => `body.${name}`)])
  if (written.replayed) reply.header('idempotent-replayed', 'true')
  return sendRecord(reply, written.record)
}
