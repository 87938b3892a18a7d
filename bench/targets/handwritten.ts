import { startBaseline } from './start-baseline.js'
import type { Target } from './target.js'

export const handwritten: Target = {
  name: 'handwritten',
  description: 'One process, Fastify and mysql2 prepared statements, written for products alone',
  start: (context) => startBaseline('bench/baselines/handwritten.js', context)
}
