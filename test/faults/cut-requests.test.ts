import { describeCutRequests } from './cut-requests.js'

// For a minute, on both databases and with another seed each time, in test/soak/cut-requests.test.ts.
describeCutRequests('sqlite', { seed: 1, seconds: 0, cuts: 3 })
