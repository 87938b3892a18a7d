import { readFileSync } from 'node:fs'

/** Peak resident memory of a process so far in MiB, as Linux counts it; undefined elsewhere. */
export function peakMemory(pid: number): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024)
  } catch {
    return undefined
  }
}
