import type { EveryEntityOptions } from '../every-entity/tested-application.js'

/** Whether `npm run soak` runs, in which these tests do all that they can. */
export const isSoak = process.env['IN_SOAK'] !== undefined

/**
 * The seed of data that a test makes at random: that of the run in the soak, and always the same in `npm test`, which judges a
 * change and looks for nothing new.
 */
export const dataSeed = isSoak ? Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31 : 263_784_298

/** `npm test` makes each call over one transport in turn, and tries some of what one rule decides. */
export const transports: NonNullable<EveryEntityOptions['transports']> = isSoak ? 'both' : 'in turn'
