import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type KeyFile, loadKeys, pathOfKeys, readKeys } from './key-file.js'
import type { KeySet } from './key-set.js'

/** Milliseconds between two looks at the file. */
const EVERY = 2000

/**
 * The service's own keys as their file has them, which is read again whenever it changes, until the process stops. A
 * file that is gone or broken is logged, once for each change, and the keys stay. Throws at first as loadKeys says.
 */
export async function watchKeys(
  from: KeyFile,
  how: { readonly log: Logger; readonly stopping: AbortSignal; readonly every?: number }
): Promise<() => KeySet> {
  const { log, stopping, every = EVERY } = how
  const path = pathOfKeys(from)
  // The look comes before the reading: a change in between is seen by the next look.
  let seen = await look(path)
  let keys = await loadKeys(from)
  // Made just now.
  if (seen === NONE) [seen, keys] = [await look(path), await readKeys(from)]
  const follow = async (): Promise<void> => {
    while (!stopping.aborted) {
      await delay(every, undefined, { signal: stopping, ref: false }).catch(() => undefined)
      const now = await look(path)
      if (now === seen || stopping.aborted) continue
      seen = now
      try {
        keys = await readKeys(from)
        log.info({ signing: keys.signing.kid, keys: keys.verifying.map(({ kid }) => kid) }, 'signing keys read again')
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log.error({ reason }, 'the changed file of the signing keys is of no use; the keys before it stay')
      }
    }
  }
  void follow()
  return () => keys
}

const NONE = 'none'

/** Differs for each state of the file, followed through links; never rejects. */
async function look(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return NONE
  }
}
