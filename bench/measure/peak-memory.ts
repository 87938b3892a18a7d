import { readFileSync, writeFileSync } from 'node:fs'

/** Peak resident memory of each process in MiB, summed, since it began or since forgetPeaks (Linux, VmHWM). */
export function peakMemoryMiB(pids: readonly number[]): number {
  return pids.map(peakOf).reduce((sum, each) => sum + each, 0)
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

function peakOf(pid: number): number {
  const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  if (kib === undefined) throw new Error(`Process ${pid} has no VmHWM.`)
  return Number(kib) / 1024
}
