import fp from 'fastify-plugin'
import { exportRoute } from './exports.js'
import { ENTITY_PATHS } from './paths.js'
import { readRoutes } from './reads.js'
import { type EntityTools, rejectOthersAt } from './requests.js'
import { actRoute, createRoute, deleteRoute, keepBodiesAsBytes, updateRoute } from './writes.js'

/** The read routes of every resource, parametric over the catalogue of the moment. */
export const entityReads = fp<EntityTools>(
  async (app, tools) => {
    readRoutes(app, tools)
    exportRoute(app, tools)
  },
  { name: 'entity-reads', dependencies: ['request-identity', 'problem-responses', 'request-limits'], fastify: '5.x' }
)

/** The write routes of every resource. Bodies reach them as the bytes they are, to be handed on as such. */
export const entityWrites = fp<EntityTools>(
  async (app, tools) => {
    keepBodiesAsBytes(app)
    createRoute(app, tools)
    updateRoute(app, tools)
    deleteRoute(app, tools)
    actRoute(app, tools)
  },
  {
    name: 'entity-writes',
    encapsulate: true,
    dependencies: ['request-identity', 'problem-responses', 'request-limits'],
    fastify: '5.x'
  }
)

/** Answers all other methods at the paths of entities: 404 if the resource has no such path, else 405. */
export const entityMethods = fp<Pick<EntityTools, 'catalogue'>>(
  async (app, { catalogue }) => {
    for (const path of ENTITY_PATHS) rejectOthersAt(app, catalogue, path)
  },
  { name: 'entity-methods', dependencies: ['problem-responses'], fastify: '5.x' }
)
