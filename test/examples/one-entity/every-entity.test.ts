import { describeEveryEntity } from 'uniform-rest/testing'
import { isSoak, transports } from '../../harness/in-soak.js'
import application from './uniform-rest.config.js'

// `npm run soak` has it on both databases.
const databases = isSoak ? {} : { databases: ['sqlite'] as const }

describeEveryEntity({
  application,
  ...databases,
  transports,
  folder: new URL('.', import.meta.url),
  values: {
    tasks: { create: { priority: 'low' }, update: (n) => ({ priority: n % 2 === 0 ? 'low' : 'high' }) }
  }
})
