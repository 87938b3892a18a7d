import type { EveryEntityOptions } from '../every-entity/tested-application.js'

/** Whether `npm run soak` runs, in which these tests do all that they can. */
export const isSoak = process.env['IN_SOAK'] !== undefined

/** `npm test` makes each call over one transport in turn, and tries some of what one rule decides. */
export const transports: NonNullable<EveryEntityOptions['transports']> = isSoak ? 'both' : 'in turn'
