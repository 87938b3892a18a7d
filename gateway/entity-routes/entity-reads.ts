import fp from 'fastify-plugin'
import { byIdRoute } from './by-id.js'
import type { EntityTools } from './entity-tools.js'
import { exportRoute } from './export.js'
import { listRoute } from './list.js'
import { lookupRoute } from './lookup.js'
import { pagedRoute } from './paged.js'

/** The read routes of every resource, parametric over the catalogue of the moment. */
export const entityReads = fp<EntityTools>(
  async (app, tools) => {
    listRoute(app, tools)
    pagedRoute(app, tools)
    exportRoute(app, tools)
    lookupRoute(app, tools)
    byIdRoute(app, tools)
  },
  { name: 'entity-reads', dependencies: ['request-identity', 'problem-responses', 'request-limits'], fastify: '5.x' }
)
