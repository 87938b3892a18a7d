import { readFileSync } from 'node:fs'

/** In which Linux counts, whatever the machine. */
const TICKS_PER_SECOND = 100
/** Of utime, stime, cutime and cstime behind the name of the program, in parentheses: the third field is the first there. */
const TIMES = [11, 15] as const

/**
 * Milliseconds that a process has computed, and those processes that it started and saw end. undefined where the system does not
 * tell it, or of a process that has ended.
 */
export function processorTime(pid: number | undefined): number | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = fields.slice(...TIMES).reduce((sum, field) => sum + Number(field), 0)
  return Number.isNaN(ticks) ? undefined : (ticks * 1000) / TICKS_PER_SECOND
}
