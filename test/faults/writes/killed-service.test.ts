import { describeKilled } from './killed-service.js'

// Before the commit everything is written, and after it nothing is: a part of the write that is not in the transaction shows
// at one of the two. test/soak/killed-service.test.ts has all steps of each write on both databases.
describeKilled((kind) =>
  kind === 'mysql'
    ? { create: ['before the commit', 'after the commit'], batch: ['after the commit'], update: ['before the commit'] }
    : { create: ['before the commit', 'after the commit'], batch: [], update: [] }
)
