import { counters } from './counters.js'
import { creates } from './creates.js'
import { exportsWhileWritten } from './exports.js'
import type { Workload } from './workload.js'

/** Every kind of user, made anew for each run: each remembers the rows that its clients share. */
export function workloads(): readonly Workload[] {
  return [creates(), counters(), exportsWhileWritten()]
}
