import { describeKilled } from './killed-service.js'

// Batches and PUTs claim keys, commit and are replayed as creates are, and SQLite sends nothing that is on its way.
// test/soak/killed-service.test.ts has all steps on both databases.
describeKilled((kind) =>
  kind === 'mysql'
    ? {
        create: [''],
        batch: ['after some rows', 'after the commit'],
        update: ['after the row', 'after the commit']
      }
    : {
        create: ['before its key', 'after its children', 'before the answer', 'before the commit', 'after the commit'],
        batch: ['after some rows'],
        update: ['after the row']
      }
)
