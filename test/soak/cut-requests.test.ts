import { describeCutRequests } from '../faults/cut-requests.js'
import { eachDatabase } from '../harness/database.js'
import { SECONDS, SEED } from './lengths.js'

eachDatabase((kind) => describeCutRequests(kind, { seed: SEED, seconds: SECONDS, cuts: 10 }))
