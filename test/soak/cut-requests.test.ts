import { describeCutRequests } from '../faults/cut-requests.js'
import { eachDatabase } from '../harness/database.js'
import { SECONDS, SEED } from './lengths.js'

// In each run of the tests: test/faults/cut-requests.test.ts.

eachDatabase((kind) => describeCutRequests(kind, { seed: SEED, seconds: SECONDS, cuts: 10 }))
