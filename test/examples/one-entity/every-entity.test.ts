import { describeEveryEntity } from 'uniform-rest/testing'
import application from './uniform-rest.config.js'

describeEveryEntity({
  application,
  folder: new URL('.', import.meta.url),
  values: {
    tasks: { create: { priority: 'low' }, update: (n) => ({ priority: n % 2 === 0 ? 'low' : 'high' }) }
  }
})
