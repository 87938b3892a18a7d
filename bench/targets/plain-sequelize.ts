import { startBaseline } from './start-baseline.js'
import type { Target } from './target.js'

export const plainSequelize: Target = {
  name: 'plain-sequelize',
  description: 'One process, Fastify and Sequelize the way its guide shows it',
  start: (context) => startBaseline('bench/baselines/plain-sequelize.js', context)
}
