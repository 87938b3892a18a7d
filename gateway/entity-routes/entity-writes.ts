import fp from 'fastify-plugin'
import { actRoute } from './act.js'
import { keepBodiesAsBytes } from './check-json-request.js'
import { createRoute } from './create.js'
import { deleteRoute } from './delete.js'
import type { EntityTools } from './entity-tools.js'
import { updateRoute } from './update.js'

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
