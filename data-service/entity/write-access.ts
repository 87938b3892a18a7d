import type { OwnRows, Permitted } from './access.js'

/**
 * Who may write a resource. `permission`: callers who have it, every row. `ownRows`: the bypass role every row, an
 * owner the rows that are theirs, where another's answers as one that does not exist.
 */
export type WriteAccess<Name extends string = string> = Permitted | OwnRows<Name>

/** The writes of a resource besides its actions. */
export const WRITE_OPERATIONS = ['create', 'update', 'delete'] as const
export type WriteOperation = (typeof WRITE_OPERATIONS)[number]
