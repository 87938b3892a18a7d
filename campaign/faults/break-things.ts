import { setTimeout as delay } from 'node:timers/promises'
import type { HistoryFile } from '../history.js'
import type { Watch } from '../watch.js'
import type { Fault } from './fault.js'
import type { PlannedGroup } from './plan.js'
import { reachOf } from './reach.js'

/** A mend may start a process, whose database another fault of the pair has broken, or join a node to its cluster. */
const MENDS_WITHIN_MS = 180_000

/**
 * Breaks one thing or two at a time and mends them. Resolves with whether everything is whole: where something cannot be mended
 * nothing else is broken, because nobody could tell what a system shows that stays broken.
 */
export async function breakThings(
  plan: Iterable<PlannedGroup>,
  at: {
    /** Asked before each group, whose faults begin after so many milliseconds of peace. */
    readonly goesOn: (peace: number, next: readonly Fault[]) => boolean
    readonly now: () => number
    readonly history: Pick<HistoryFile, 'add'>
    readonly watch: Pick<Watch, 'breaks' | 'report'>
    /** How many data services there are. */
    readonly services: number
  }
): Promise<boolean> {
  const { goesOn, now, history, watch, services } = at
  let isWhole = true
  for (const { peace, injuries } of plan) {
    const next = injuries.map(({ fault }) => fault)
    if (!goesOn(peace, next)) break
    await delay(peace)
    await Promise.all(
      injuries.map(async ({ fault, after, lasts, random }) => {
        await delay(after)
        const reach = reachOf(fault, services)
        const begun = { fault: fault.name, from: now(), touches: reach.touches }
        const mended = watch.breaks(reach)
        await history.add({ begun })
        try {
          const mend = await fault.inject(random)
          await delay(lasts)
          const hits = await within(MENDS_WITHIN_MS, mend())
          await history.add({ injury: { ...begun, until: now(), hits } })
        } catch (error) {
          isWhole = false
          watch.report(`${fault.name} could not be injected or mended: ${String(error)}`)
          await history.add({ injury: { ...begun, until: now(), hits: 0 } })
        } finally {
          mended()
        }
      })
    )
    if (!isWhole) break
  }
  return isWhole
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const late = new AbortController()
  const timeout = delay(milliseconds, undefined, { signal: late.signal }).then(() => {
    throw new Error(`It took longer than ${milliseconds} ms`)
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    late.abort()
    timeout.catch(() => undefined)
  }
}
