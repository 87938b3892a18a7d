import { DomainError } from '../../shared/errors.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { CallContext, StreamHandler, UnaryHandler } from '../entity/caller.js'
import type { DataServiceMetrics, LoginOutcome } from './data-service-metrics.js'

/** A handler of log-ins that counts them. */
export function countedLogins<Request, Response>(
  handler: UnaryHandler<Request, Response>,
  way: 'password' | 'provider' | 'machine',
  metrics: DataServiceMetrics | undefined
): UnaryHandler<Request, Response> {
  if (metrics === undefined) return handler
  return async (context, request) => {
    try {
      const response = await handler(context, request)
      metrics.loggedIn(way, 'ok')
      return response
    } catch (error) {
      metrics.loggedIn(way, loginOutcome(error))
      throw error
    }
  }
}

/** What the client sent wrong, an empty password say, has failed as a wrong one has. */
function loginOutcome(error: unknown): LoginOutcome {
  if (!(error instanceof DomainError)) return 'error'
  if (error.code === 'quota-exceeded') return 'throttled'
  return error.code === 'auth.invalid-credentials' || error.code === 'body.invalid' ? 'failed' : 'error'
}

/** A handler of writes that counts those that were answered with a stored answer. */
export function countedReplays<Request, Response extends { readonly replayed?: boolean }>(
  handler: UnaryHandler<Request, Response>,
  resourceOf: (request: Request) => string,
  metrics: DataServiceMetrics | undefined
): UnaryHandler<Request, Response> {
  if (metrics === undefined) return handler
  return async (context, request) => {
    const response = await handler(context, request)
    if (response.replayed === true) metrics.replayed(resourceOf(request))
    return response
  }
}

/** The handler of exports, with its rows counted as they are sent. */
export function countedExports<Request extends { readonly resource: string }>(
  handler: StreamHandler<Request, ExportResponse>,
  metrics: DataServiceMetrics | undefined
): StreamHandler<Request, ExportResponse> {
  if (metrics === undefined) return handler
  return (context: CallContext, request) => countedMessages(handler(context, request), request.resource, metrics)
}

async function* countedMessages(
  messages: AsyncIterable<ExportResponse>,
  resource: string,
  metrics: DataServiceMetrics
): AsyncGenerator<ExportResponse> {
  for await (const message of messages) {
    if (message.rows) metrics.exported(resource, message.rows.count ?? 0)
    if (message.end?.truncated === true) metrics.truncated(resource)
    yield message
  }
}
