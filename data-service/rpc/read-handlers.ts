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
import type { ReadRequest__Output } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { StreamHandler, UnaryHandler } from './call-context.js'
import { exportRows } from './export.js'
import { get } from './get.js'
import { list } from './list.js'
import { lookup } from './lookup.js'
import { overridable } from './overridable.js'
import { page } from './page.js'
import { read } from './read.js'
import type { Reading } from './reading.js'

export interface ReadHandlers {
  readonly list: UnaryHandler<ListRequest__Output, ListResponse>
  readonly page: UnaryHandler<PageRequest__Output, PageResponse>
  readonly lookup: UnaryHandler<LookupRequest__Output, LookupResponse>
  readonly get: UnaryHandler<GetRequest__Output, GetResponse>
  readonly read: UnaryHandler<ReadRequest__Output, ReadResponse>
  readonly export: StreamHandler<ExportRequest__Output, ExportResponse>
}

/** The reads of every resource, each entity's overrides in place of the standard ones. */
export function readHandlers(reading: Reading): ReadHandlers {
  return {
    list: overridable(reading, list, (overrides) => overrides.list),
    page: overridable(reading, page, (overrides) => overrides.paged),
    lookup: overridable(reading, lookup, (overrides) => overrides.lookup),
    get: overridable(reading, get, (overrides) => overrides.get),
    read: overridable(reading, read, (overrides) => overrides.read),
    export: overridable(reading, exportRows, (overrides) => overrides.export)
  }
}
