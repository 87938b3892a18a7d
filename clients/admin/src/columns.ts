import { type Property, type Resource, shownProperties } from './catalogue.js'
import type { ListFilter } from './filter-conditions.js'

/**
 * The key under which the filter of a list, and so its address, holds the columns that were chosen. No property has such a name.
 */
export const CHOSEN_COLUMNS = '@columns'

type Listed = Pick<Resource, 'label' | 'properties'>

const MOST = { table: 8, phone: 5 }
/** The subject of an audit entry has as much. */
const LONGEST_LISTED = 512

/** What a list shows of each row at first: what every row has, and nothing that is long. */
function usualColumns(resource: Listed, most: number): readonly Property[] {
  const short = resource.properties.filter(
    ({ type, maxLength }) => !['bytes', 'binary', 'json'].includes(type) && maxLength <= LONGEST_LISTED
  )
  const first = ['id', resource.label].flatMap((one) => short.filter(({ name }) => name === one))
  return [...new Set([...first, ...short.filter(({ nullable }) => !nullable), ...short])].slice(0, most)
}

/** The columns that the filter of a list names, or those that it has at first. */
export function chosenColumns(resource: Listed, filter: ListFilter, isPhone: boolean): readonly Property[] {
  const names = filter[CHOSEN_COLUMNS]
  const chosen = Array.isArray(names) ? shownProperties(resource).filter(({ name }) => names.includes(name)) : []
  return chosen.length > 0 ? chosen : usualColumns(resource, isPhone ? MOST.phone : MOST.table)
}
