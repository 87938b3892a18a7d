import type { CallContext, StreamHandler } from '../rpc/call-context.js'
import { toDomainError } from './errors.js'
import { intercept, type Intercepted, type Interceptors, type Rules } from './intercept.js'

/** As intercept, with what fails on the way through the stream judged too. */
export function interceptStream<Request, Response>(
  handler: StreamHandler<Request, Response>,
  rules: Rules<Request>,
  interceptors: Interceptors
): Intercepted<Request, AsyncIterable<Response>> {
  return intercept((context, request: Request) => guarded(handler(context, request), context), rules, interceptors)
}

async function* guarded<Response>(messages: AsyncIterable<Response>, context: CallContext): AsyncGenerator<Response> {
  try {
    yield* messages
  } catch (error) {
    throw toDomainError(error, context)
  }
}
