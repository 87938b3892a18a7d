import type { Resource } from '../data-calls.js'

/** One call that shows a filter, the order and a choice of fields, to be pasted into a shell. */
export function exampleCall({ name, label, properties, operations, publicReads }: Resource, base: string): string {
  const token = publicReads ? '' : ` -H "Authorization: Bearer $TOKEN"`
  if (!operations.includes('paged')) return `curl -i '${base}/${name}'${token}`
  const byLabel = properties.find((one) => one.name === label && one.operators.includes('contains'))
  const sorted = properties.find((one) => one.sortable && one.name === label)
  const parameters = [
    ...(byLabel === undefined ? [] : [`filters[${label}].operator=contains`, `filters[${label}].value=a`]),
    ...(sorted === undefined ? [] : [`sortColumn=${sorted.name}`, 'sortDirection=desc']),
    'pageSize=5',
    `fields=${[...new Set(['id', label])].join(',')}`
  ]
  return `curl -gi '${base}/${name}/paged?${parameters.join('&')}'${token}`
}
