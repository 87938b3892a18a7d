import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'

// Preloaded (`node --import`) into a data service: what it does every minute it does ten times a second.
const MINUTE = 60_000
const patient = timers.setTimeout
timers.setTimeout = (delay, ...rest) => patient(delay === MINUTE ? 100 : delay, ...rest)
syncBuiltinESMExports()
