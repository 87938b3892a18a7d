import type { Logger } from 'pino'
import { followFiles, NO_FILE, stateOf } from '../../shared/follow-files.js'
import { type KeyFile, loadKeys, pathOfKeys, readKeys } from './key-file.js'
import type { KeySet } from './key-set.js'

/**
 * The service's own keys as their file has them, which is read again whenever it changes, until the process stops. A
 * file that is gone or broken is logged, once for each change, and the keys stay. Throws at first as loadKeys says.
 */
export async function watchKeys(
  from: KeyFile,
  how: { readonly log: Logger; readonly stopping: AbortSignal; readonly every?: number }
): Promise<() => KeySet> {
  const { log } = how
  const path = pathOfKeys(from)
  // The look comes before the reading: a change in between is seen by the next look.
  let seen = await stateOf([path])
  let keys = await loadKeys(from)
  // Made just now.
  if (seen === NO_FILE) [seen, keys] = [await stateOf([path]), await readKeys(from)]
  const changed = async (): Promise<void> => {
    try {
      keys = await readKeys(from)
      log.info({ signing: keys.signing.kid, keys: keys.verifying.map(({ kid }) => kid) }, 'signing keys read again')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.error({ reason }, 'the changed file of the signing keys is of no use; the keys before it stay')
    }
  }
  void followFiles([path], { ...how, seen, changed })
  return () => keys
}
