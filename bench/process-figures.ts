import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

// proc(5): stat counts in clock ticks, 100 a second nearly everywhere.
let ticksPerSecond: number | undefined

/** User and system CPU seconds since the processes began, all together (Linux). */
export function cpuSeconds(pids: readonly number[]): number {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  return sumOf(pids.map(cpuTicks)) / ticksPerSecond
}

function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The second field is the program's name in parentheses and may hold anything; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}

/** Resident memory of each process in MiB, summed, as it is now (Linux, VmRSS). */
export function residentMiB(pids: readonly number[]): number {
  return sumOf(pids.map((pid) => statusMiB(pid, 'VmRSS')))
}

/** Peak resident memory of each process in MiB, summed, since it began or since forgetPeaks (Linux, VmHWM). */
export function peakMemoryMiB(pids: readonly number[]): number {
  return sumOf(pids.map((pid) => statusMiB(pid, 'VmHWM')))
}

/** Starts a new peak at what is resident now; false where the kernel does not let us. */
export function forgetPeaks(pids: readonly number[]): boolean {
  try {
    // proc(5): 5 resets the peak resident set size of the process.
    for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return true
  } catch {
    return false
  }
}

function statusMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  if (kib === undefined) throw new Error(`Process ${pid} has no ${field}.`)
  return Number(kib) / 1024
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
