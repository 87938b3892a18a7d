import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds between two looks at files that are followed. */
export const FOLLOW_EVERY = 2000

/** Until the signal aborts; `every` in milliseconds. */
export interface Following {
  readonly stopping: AbortSignal
  readonly every?: number
}

/** What `stateOf` answers for a single file that is not there. */
export const NO_FILE = 'none'

/** A text that differs for each state of the files, which are followed through links. Never rejects. */
export async function stateOf(paths: readonly string[]): Promise<string> {
  return (await Promise.all(paths.map(stateOfOne))).join(', ')
}

/**
 * Calls `changed` after each change of the files since the state `seen`, until the signal aborts. What `changed` throws
 * is its own to log: it must not reject.
 */
export async function followFiles(
  paths: readonly string[],
  { seen, changed, stopping, every = FOLLOW_EVERY }: Following & { seen: string; changed: () => Promise<void> }
): Promise<void> {
  let last = seen
  while (!stopping.aborted) {
    await delay(every, undefined, { signal: stopping, ref: false }).catch(() => undefined)
    const now = await stateOf(paths)
    if (now === last || stopping.aborted) continue
    last = now
    await changed()
  }
}

async function stateOfOne(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return NO_FILE
  }
}
