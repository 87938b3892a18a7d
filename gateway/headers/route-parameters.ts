import type { ParameterName, RouteParameters } from './route-query.js'

/** What each read route takes from its query, contract.md section 4. */
export const ROUTE_PARAMETERS = {
  list: { names: ['fields', 'includeFKs', 'includeChildren'], filters: false, refused: [] },
  paged: {
    names: [
      'sortColumn',
      'sortDirection',
      'pageSize',
      'pageNumber',
      'includeTotal',
      'fields',
      'includeFKs',
      'includeChildren'
    ],
    filters: true,
    refused: []
  },
  export: {
    names: ['sortColumn', 'sortDirection', 'fields', 'bom', 'escapeFormulas'],
    filters: true,
    refused: ['includeChildren']
  },
  lookup: { names: ['search'], filters: false, refused: [] },
  get: { names: ['fields', 'includeFKs', 'includeChildren'], filters: false, refused: [] }
} as const satisfies Readonly<Record<string, RouteParameters<ParameterName>>>

/** A read operation, in the words of the catalogue. */
export type ReadOperation = keyof typeof ROUTE_PARAMETERS

/** Routes without a parameter of their own: writes. */
export const NO_PARAMETERS: RouteParameters<never> = { names: [], filters: false, refused: [] }
