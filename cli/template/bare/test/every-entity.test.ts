import { describeEveryEntity } from 'uniform-rest/testing'
import application from '../uniform-rest.config.js'

// Some ten to forty tests for each entity: every read, write and action, by every kind of caller. Once the application says
// what you mean, write the rules of its entities down a second time, in `rules`: docs/testing.md says how.
describeEveryEntity({ application, folder: new URL('..', import.meta.url) })
