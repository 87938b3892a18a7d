import type { Override, Overrides } from '../entity/overrides.js'
import type { Planning } from '../plan/planning.js'
import type { CallContext } from './call-context.js'

/** The standard operation, or an entity's own in its place. */
export function overridable<
  Work extends { readonly planning: Planning },
  Request extends { readonly resource: string },
  Response
>(
  work: Work,
  standard: (work: Work, context: CallContext, request: Request) => Response,
  pick: (overrides: Overrides) => Override<Request, Response> | undefined
): (context: CallContext, request: Request) => Response {
  return (context, request) => {
    const run = (chosen: Request): Response => standard(work, context, chosen)
    const override = pick(work.planning.catalogue.resource(request.resource).entity.overrides)
    return override === undefined ? run(request) : override(context, request, run)
  }
}
