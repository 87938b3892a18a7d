/** The most rows of a batch create (contract.md section 5). */
export const MAX_BATCH = 500

/** The most rows of a file to import, by what happens at a row that cannot be created. */
export const MAX_IMPORT_ROWS = { stop: 10_000, skip: 1_000_000 } as const

/** The most rows of one child collection in the body of a create request. */
export const MAX_CHILDREN = 1000

/** The most rows that `totalLimit` lets be counted. */
export const MAX_TOTAL_LIMIT = 1_000_000

/** The most conditions that a request may have, those in groups included. */
export const MAX_CONDITIONS = 50

/** The most groups of conditions that a request may have. */
export const MAX_GROUPS = 10

/** The most names of `include`. */
export const MAX_INCLUDES = 10

/** The most dimensions and measures of a request for totals. */
export const MAX_DIMENSIONS = 4
export const MAX_MEASURES = 10

/** The most properties of `sortColumn`. */
export const MAX_SORT_COLUMNS = 4
