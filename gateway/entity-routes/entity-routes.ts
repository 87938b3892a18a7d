import fp from 'fastify-plugin'
import { keepBodiesAsBuffers } from '../http/json-body.js'
import { answerOtherMethods } from '../server/methods.js'
import { exportRoute } from './exports.js'
import { historyRoute } from './history.js'
import { importRoute } from './imports.js'
import { ENTITY_PATHS, routedMethods } from './paths.js'
import { readRoutes } from './reads.js'
import { allowedAt, type EntityRouteDeps } from './requests.js'
import { totalsRoute } from './totals.js'
import { actRoute, batchRoute, createRoute, deleteBatchRoute, deleteRoute, updateRoutes } from './writes.js'

/** The read routes of all resources. Their paths are parametric: the catalogue is looked up on each request. */
export const entityReads = fp<EntityRouteDeps>(
  async (app, deps) => {
    readRoutes(app, deps)
    exportRoute(app, deps)
    totalsRoute(app, deps)
    historyRoute(app, deps)
  },
  { name: 'entity-reads', dependencies: ['request-identity', 'problem-responses', 'request-limits'], fastify: '5.x' }
)

/** The write routes of all resources. They forward bodies as the bytes that they received. */
export const entityWrites = fp<EntityRouteDeps>(
  async (app, deps) => {
    keepBodiesAsBuffers(app)
    createRoute(app, deps)
    batchRoute(app, deps)
    updateRoutes(app, deps)
    deleteRoute(app, deps)
    deleteBatchRoute(app, deps)
    actRoute(app, deps)
  },
  {
    name: 'entity-writes',
    encapsulate: true,
    dependencies: ['request-identity', 'problem-responses', 'request-limits'],
    fastify: '5.x'
  }
)

/** Imports, whose bodies are of any length. */
export const entityImports = fp<EntityRouteDeps>(async (app, deps) => importRoute(app, deps), {
  name: 'entity-imports',
  encapsulate: true,
  dependencies: ['request-identity', 'problem-responses', 'request-limits'],
  fastify: '5.x'
})

/** OPTIONS and all other methods at the paths of entities: 404 if the resource has no such path, else 204 or 405. */
export const entityMethods = fp<Pick<EntityRouteDeps, 'catalogue'>>(
  async (app, { catalogue }) => {
    for (const path of ENTITY_PATHS) {
      answerOtherMethods(app, {
        url: path.url,
        routed: routedMethods(path),
        allowed: (request, reply) => allowedAt({ catalogue, path }, request, reply)
      })
    }
  },
  { name: 'entity-methods', dependencies: ['problem-responses'], fastify: '5.x' }
)
