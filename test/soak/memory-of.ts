import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'

/** Peak resident memory of a process so far in MiB, as Linux counts it; undefined elsewhere. */
export function peakMemory(pid: number): number | undefined {
  return mebibytes(pid, 'VmHWM')
}

/** As `peakMemory`, without the pages of programs and files, which a limit of memory takes back before it ends a process. */
export function peakOwnMemory(pid: number): number | undefined {
  const [peak, ofFiles] = [mebibytes(pid, 'VmHWM'), mebibytes(pid, 'RssFile')]
  return peak === undefined || ofFiles === undefined ? undefined : peak - ofFiles
}

function mebibytes(pid: number, name: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8').split('\n')
    const kilobytes = status.find((line) => line.startsWith(`${name}:`))?.split(/\s+/)[1]
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1024)
  } catch {
    return undefined
  }
}

/** Files, sockets and the like that a process has open, on Linux. */
export async function openDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}
