/**
 * The single-valued query parameters of each read of a resource (contract.md section 4), besides filters and the owner
 * parameter. The gateway reads them, and no owner parameter may be called like one.
 */
export const PARAMETERS_OF_READS = {
  list: ['search', 'fields', 'includeFKs', 'includeChildren', 'include'],
  paged: [
    'search',
    'sortColumn',
    'sortDirection',
    'pageSize',
    'pageNumber',
    'after',
    'before',
    'includeTotal',
    'totalLimit',
    'fields',
    'includeFKs',
    'includeChildren',
    'include'
  ],
  export: ['search', 'sortColumn', 'sortDirection', 'fields', 'bom', 'escapeFormulas'],
  lookup: ['search'],
  totals: ['by', 'measures', 'search', 'sortColumn', 'sortDirection'],
  get: ['fields', 'includeFKs', 'includeChildren', 'include']
} as const

/** The reads of resources, by the names that Describe gives them. All have them but for totals, which entity files declare. */
export type ReadName = keyof typeof PARAMETERS_OF_READS

export type ReadParameter = (typeof PARAMETERS_OF_READS)[ReadName][number]

/** The other name of `pageNumber`. */
export const PAGE_ALIAS = 'page'
