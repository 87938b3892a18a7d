import { status } from '@grpc/grpc-js'
import type { Call, Transport } from './call.js'

/** Contract section 7: what a code is over HTTP and over gRPC. */
const STATUSES: Readonly<Record<string, readonly [http: number, grpc: status]>> = {
  'auth.required': [401, status.UNAUTHENTICATED],
  'auth.invalid-token': [401, status.UNAUTHENTICATED],
  'capability.denied': [403, status.PERMISSION_DENIED],
  'ownership.denied': [403, status.PERMISSION_DENIED],
  'not-found': [404, status.NOT_FOUND],
  'precondition.required': [428, status.FAILED_PRECONDITION],
  'precondition.malformed': [400, status.INVALID_ARGUMENT],
  'body.invalid': [400, status.INVALID_ARGUMENT],
  'id.invalid': [400, status.INVALID_ARGUMENT],
  'fields.invalid': [400, status.INVALID_ARGUMENT],
  'filter.property.unknown': [400, status.INVALID_ARGUMENT],
  'filter.operator.unsupported': [400, status.INVALID_ARGUMENT],
  'filter.value.invalid': [400, status.INVALID_ARGUMENT],
  'sort.property.unknown': [400, status.INVALID_ARGUMENT],
  'state.invalid': [422, status.FAILED_PRECONDITION],
  // Every conflict of these tests is that of a guarded write.
  conflict: [412, status.FAILED_PRECONDITION],
  configuration: [500, status.INTERNAL]
}

const DONE: Readonly<Partial<Record<Call['operation'], number>>> = { create: 201, delete: 204 }

/** The status that an outcome of this code must have. */
export function statusOf(code: string, { operation }: Call, transport: Transport['name']): number {
  if (code === 'ok') return transport === 'HTTP' ? (DONE[operation] ?? 200) : status.OK
  const known = STATUSES[code]
  if (known === undefined) throw new Error(`statuses.ts lacks ${code}`)
  return known[transport === 'HTTP' ? 0 : 1]
}
