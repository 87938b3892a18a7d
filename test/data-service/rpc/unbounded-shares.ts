import type { ReadDeps } from '../../../data-service/operations/reads.js'

/** Admits every read at once. */
export const unboundedShares: ReadDeps['shares'] = {
  admit: (_context, _size, read) => read(),
  checkMemory: () => undefined,
  saw: () => undefined,
  write: (_context, _row, write) => Promise.resolve(write())
}
