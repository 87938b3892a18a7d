import { KeyRing } from './key-ring.js'

/** Keys of other applications that may be kept in the same place are not these. */
export const APPLICATION = 'uniform-rest'

/** A ring that is not shared: its keys are made by this process and end with it. */
export function processRing(now: () => Date): KeyRing {
  const source = {
    keys: () => [],
    lookAgain: () => Promise.resolve(),
    whyUnknown: () => 'DATA_PROTECTION_BLOB_STORAGE_URI is not set, so every process has a ring of its own'
  }
  return new KeyRing({ application: APPLICATION, source, now })
}
