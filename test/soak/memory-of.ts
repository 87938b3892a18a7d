import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

/** Peak resident memory of a process so far in MiB, as Linux counts it; undefined elsewhere. */
export function peakMemory(pid: number): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024)
  } catch {
    return undefined
  }
}

/** Files, sockets and the like that a process has open, on Linux. */
export async function openDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}
