import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

// proc(5): stat counts in clock ticks, 100 a second nearly everywhere.
let ticksPerSecond: number | undefined

/** User and system CPU seconds since the processes began, all together (Linux). */
export function cpuSeconds(pids: readonly number[]): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  const ticks = pids.map(cpuTicks).reduce((sum, each) => sum + each, 0)
  return ticks / ticksPerSecond
}

function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The second field is the program's name in parentheses and may hold anything; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
