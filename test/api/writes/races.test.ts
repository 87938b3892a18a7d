import { declareRaces } from './races.js'
import { describeWriters } from './writers.js'

/** What they assert holds for every order of events. test/soak/writes.test.ts repeats them over processes. */
const ROUNDS = 1

describeWriters('writes at the same time', (writers) => declareRaces(writers, ROUNDS))
