import { suggestion } from '../entity/suggestion.js'
import type { Resource } from './catalogue.js'
import type { SortKey } from './condition.js'
import { quoted, type FaultList } from './fault-list.js'
import { propertyName } from './property-name.js'

export interface SortTexts {
  readonly sortColumn?: string
  readonly sortDirection?: string
}

const DESCENDING: ReadonlyMap<string, boolean> = new Map([
  ['asc', false],
  ['ascending', false],
  ['desc', true],
  ['descending', true]
])

/** A total order: the id, ascending, comes last wherever it is not the sort column itself. */
export function parseSort(texts: SortTexts | null, resource: Resource, faults: FaultList): readonly SortKey[] {
  const id = { through: null, column: resource.id }
  const path = texts?.sortColumn === undefined ? id : resource.sortable.get(texts.sortColumn.toLowerCase())
  const descending = DESCENDING.get((texts?.sortDirection ?? 'asc').toLowerCase())
  if (path === undefined) {
    const near = suggestion(texts?.sortColumn ?? '', sortableNames(resource))
    const detail = `${quoted(texts?.sortColumn ?? '')} is not a property that can be sorted by.${near}`
    faults.add('sort.property.unknown', 'sortColumn', detail)
  }
  if (descending === undefined) {
    const detail = `sortDirection takes asc, desc, ascending or descending, not ${quoted(texts?.sortDirection ?? '')}.`
    faults.add('sort.direction.invalid', 'sortDirection', detail)
  }
  const first: SortKey = { path: path ?? id, descending: descending ?? false }
  const isId = first.path.through === null && first.path.column === resource.id
  return isId ? [first] : [first, { path: id, descending: false }]
}

function sortableNames(resource: Resource): string[] {
  return [...resource.properties.values()].map(propertyName).filter((name) => resource.sortable.has(name.toLowerCase()))
}
