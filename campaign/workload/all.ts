import { agents } from './agents.js'
import { counters } from './counters.js'
import { creates } from './creates.js'
import { exportsWhileWritten } from './exports.js'
import { imports } from './imports.js'
import { machines } from './machines.js'
import { owners } from './owners.js'
import { saves } from './saves.js'
import { sessions } from './sessions.js'
import { stock } from './stock.js'
import type { Workload } from './workload.js'

/** Every kind of user, made anew for each run: each remembers the rows that its clients share. */
export function workloads(): readonly Workload[] {
  return [
    creates(),
    counters(),
    exportsWhileWritten(),
    imports(),
    owners(),
    stock(),
    sessions(),
    saves(),
    agents(),
    machines()
  ]
}
