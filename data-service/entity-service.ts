import type { EntityServiceHandlers } from '../shared/gen/entity/v1/EntityService.js'
import type { ExportRequest__Output } from '../shared/gen/entity/v1/ExportRequest.js'
import type { Target } from './interceptors/errors.js'
import { intercept, type Interceptors } from './interceptors/intercept.js'
import { interceptStream } from './interceptors/intercept-stream.js'
import { streamCall, type StreamTimes } from './interceptors/stream-call.js'
import { unaryCall } from './interceptors/unary-call.js'
import type { CallContext, UnaryHandler } from './rpc/call-context.js'
import { describeCatalogue } from './rpc/describe.js'
import { readHandlers } from './rpc/read-handlers.js'
import type { Reading } from './rpc/reading.js'
import { writeHandlers } from './rpc/write-handlers.js'
import type { Writing } from './rpc/writing.js'

/** EntityService for grpc-js: every handler behind its interceptors. */
export function entityService(
  { reading, writing }: { readonly reading: Reading; readonly writing: Writing },
  interceptors: Interceptors
): EntityServiceHandlers {
  const handlers = readHandlers(reading)
  const writes = writeHandlers(writing)
  const described = describeCatalogue(reading.planning.catalogue, reading.planning.ownership)
  const unary = <Request, Response>(rpc: string, handler: UnaryHandler<Request, Response>, exempt = false) =>
    unaryCall<Request, Response>(intercept(handler, { rpc, exempt }, interceptors))
  const write = <Request extends Target, Response>(rpc: string, handler: UnaryHandler<Request, Response>) =>
    unaryCall<Request, Response>(intercept(handler, { rpc, target }, interceptors))
  return {
    Describe: unary('Describe', (_: CallContext, _request: object) => Promise.resolve(described), true),
    List: unary('List', handlers.list),
    Page: unary('Page', handlers.page),
    Lookup: unary('Lookup', handlers.lookup),
    Get: unary('Get', handlers.get),
    Read: unary('Read', handlers.read),
    Export: streamCall(
      interceptStream(
        handlers.export,
        { rpc: 'Export', bounded: (request) => timesOf(request).idle !== undefined },
        interceptors
      ),
      timesOf
    ),
    Create: write('Create', writes.create),
    Update: write('Update', writes.update),
    Delete: write('Delete', writes.delete),
    Act: write('Act', writes.act)
  }
}

function target({ resource, id }: Target): Target {
  return id === undefined ? { resource } : { resource, id }
}

function timesOf({ idleTimeoutMs, readerTimeoutMs }: ExportRequest__Output): StreamTimes {
  const idle = idleTimeoutMs > 0 ? idleTimeoutMs : undefined
  return { idle, reader: idle === undefined ? undefined : Math.max(idle, readerTimeoutMs) }
}
