import fp from 'fastify-plugin'
import { refuseOthersAt } from './admit.js'
import { ACTION_PATH, COLLECTION_PATH, EXPORT_PATH, LOOKUP_PATH, PAGED_PATH, ROW_PATH } from './entity-path.js'
import type { EntityTools } from './entity-tools.js'

/** Every method at an entity path that no operation there has. */
export const entityRefusals = fp<Pick<EntityTools, 'catalogue'>>(
  async (app, { catalogue }) => {
    for (const path of [COLLECTION_PATH, PAGED_PATH, EXPORT_PATH, LOOKUP_PATH, ROW_PATH, ACTION_PATH]) {
      refuseOthersAt(app, catalogue, path)
    }
  },
  { name: 'entity-refusals', dependencies: ['problem-responses'], fastify: '5.x' }
)
