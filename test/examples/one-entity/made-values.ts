import { describeEveryEntity } from 'uniform-rest/testing'
import application from './uniform-rest.config.js'

// Not a test file: every-entity-messages.test.ts runs it to see what is said when made bodies do not satisfy the rules.
describeEveryEntity({ application, folder: new URL('.', import.meta.url), databases: ['sqlite'] })
