import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { GetRequest__Output } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ListRequest__Output } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
import type { LookupRequest__Output } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest__Output } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import type { Override, Overrides } from '../entity/overrides.js'
import type { CallContext, StreamHandler, UnaryHandler } from './call-context.js'
import { exportRows } from './export.js'
import { get } from './get.js'
import { list } from './list.js'
import { lookup } from './lookup.js'
import { page } from './page.js'
import type { Reading } from './reading.js'

export interface ReadHandlers {
  readonly list: UnaryHandler<ListRequest__Output, ListResponse>
  readonly page: UnaryHandler<PageRequest__Output, PageResponse>
  readonly lookup: UnaryHandler<LookupRequest__Output, LookupResponse>
  readonly get: UnaryHandler<GetRequest__Output, GetResponse>
  readonly export: StreamHandler<ExportRequest__Output, ExportResponse>
}

/** The reads of every resource, each entity's overrides in place of the standard ones. */
export function readHandlers(reading: Reading): ReadHandlers {
  const overridable = <Request extends { readonly resource: string }, Response>(
    standard: (reading: Reading, context: CallContext, request: Request) => Response,
    pick: (overrides: Overrides) => Override<Request, Response> | undefined
  ): ((context: CallContext, request: Request) => Response) => {
    return (context, request) => {
      const run = (chosen: Request): Response => standard(reading, context, chosen)
      const override = pick(reading.planning.catalogue.resource(request.resource).entity.overrides)
      return override === undefined ? run(request) : override(context, request, run)
    }
  }
  return {
    list: overridable(list, (overrides) => overrides.list),
    page: overridable(page, (overrides) => overrides.paged),
    lookup: overridable(lookup, (overrides) => overrides.lookup),
    get: overridable(get, (overrides) => overrides.get),
    export: overridable(exportRows, (overrides) => overrides.export)
  }
}
