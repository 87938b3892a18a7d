import { describeKilled } from './killed-service.js'

// Before the commit everything is written, and after it nothing is: a part of the write that is not in the transaction shows
// at one of the two. A file of SQLite has one connection for writes, so one step of it is enough here.
// test/soak/killed-service.test.ts has all steps of each write on both databases.
describeKilled((kind) =>
  kind === 'mysql'
    ? { create: ['after the commit'], batch: [], import: ['before the commit'], update: ['before the commit'] }
    : { create: [], batch: ['before the commit'], import: ['after the commit'], update: [] }
)
