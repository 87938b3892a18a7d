import type { Resource } from '../data-calls.js'
import { ownerParameterOf } from '../entity-routes/owner-parameter.js'

/** One call that shows a filter, the order and a choice of fields, to be pasted into a shell. */
export function exampleCall(resource: Resource, base: string): string {
  const { name, label, properties, operations, publicReads } = resource
  const token = publicReads ? '' : ` -H "Authorization: Bearer $TOKEN"`
  if (!operations.includes('paged')) return `curl -i '${base}/${name}${query(owner(resource, 'list'))}'${token}`
  const byLabel = properties.find((one) => one.name === label && one.operators.includes('contains'))
  const sorted = properties.find((one) => one.sortable && one.name === label)
  const parameters = [
    ...(byLabel === undefined ? [] : [`filters[${label}].operator=contains`, `filters[${label}].value=a`]),
    ...(sorted === undefined ? [] : [`sortColumn=${sorted.name}`, 'sortDirection=desc']),
    ...owner(resource, 'paged'),
    'pageSize=5',
    `fields=${[...new Set(['id', label])].join(',')}`
  ]
  return `curl -gi '${base}/${name}/paged${query(parameters)}'${token}`
}

function owner(resource: Resource, operation: 'list' | 'paged'): string[] {
  const parameter = ownerParameterOf(resource, operation)
  return parameter === undefined ? [] : [`${parameter}=1`]
}

function query(parameters: readonly string[]): string {
  return parameters.length === 0 ? '' : `?${parameters.join('&')}`
}
