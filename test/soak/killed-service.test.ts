import { describeKilled } from '../faults/writes/killed-service.js'

// In each run of the tests: test/faults/writes/killed-service.test.ts tries a part of the steps.
describeKilled()
