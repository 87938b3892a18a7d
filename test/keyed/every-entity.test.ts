import { describeEveryEntity } from 'uniform-rest/testing'
import { isSoak, transports } from '../harness/in-soak.js'
import { declarePart } from '../harness/part-of-tests.js'
import application from './uniform-rest.config.js'

// `npm run soak` has it on both databases. In each run test/examples/sakila has composite keys on MariaDB.
const databases = isSoak ? {} : { databases: ['sqlite'] as const }

declarePart(4, () =>
  describeEveryEntity({
    application,
    ...databases,
    transports,
    folder: new URL('.', import.meta.url),
    bypassRole: 'Admin',
    prepare: async ({ run }) => {
      for (const code of ['low', 'High']) {
        await run(`INSERT INTO grades (code, note, row_version) VALUES ('${code}', 'A grade', X'0000000000000001')`)
      }
    },
    values: { grades: { given: true } }
  })
)
