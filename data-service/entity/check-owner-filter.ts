import { READ_OPERATIONS, type ReadAccess } from './access.js'
import { ownerMistakes } from './check-access.js'
import type { Entity } from './entity.js'
import type { Guard, OwnerFilter } from './owner-filter.js'
import type { WriteAccess } from './write-access.js'

const CAMEL_CASE = /^[a-z][a-zA-Z0-9]*$/
/** Parameters that every resource has, in lower case. */
const TAKEN: readonly string[] = [
  'fields',
  'includefks',
  'includechildren',
  'sortcolumn',
  'sortdirection',
  'pagesize',
  'pagenumber',
  'page',
  'includetotal',
  'search',
  'bom',
  'escapeformulas'
]
/** Routes without an id in their path. */
const WITHOUT_ID: readonly string[] = ['list', 'paged', 'export', 'lookup', 'create']

/** Mistakes in an owner filter: its parameter, its owner, and routes that nothing guards without the parameter. */
export function ownerFilterMistakes(entity: Entity): string[] {
  const { ownerFilter, columns } = entity
  if (ownerFilter === undefined) return []
  const { owner, routes } = ownerFilter
  return [
    // A name that is none has been noted already.
    ...(columns.includes(owner) ? ownerMistakes(entity, owner.name) : []),
    ...(routes.size === 0 ? ['it stands before no route.'] : []),
    ...parameterMistakes(entity, ownerFilter),
    ...Array.from(routes).flatMap(([route, guard]) =>
      guard === undefined || stands(guard, route, entity)
        ? []
        : [`\`${route}\` may go without the owner, but its ${WORDS[guard] ?? guard} does not stand there.`]
    )
  ].map((mistake) => `ownerFilter: ${mistake}`)
}

const WORDS: Readonly<Partial<Record<string, string>>> = {
  rowScope: 'row scope (ownRows)',
  permission: 'permission'
} satisfies Record<Guard, string>

function parameterMistakes({ customReads }: Entity, { parameter, owner, routes }: OwnerFilter): string[] {
  if (parameter === undefined) return []
  if (!CAMEL_CASE.test(parameter)) return [`parameter \`${parameter}\` must be camelCase.`]
  if (TAKEN.includes(parameter.toLowerCase())) return [`parameter \`${parameter}\` is one that every resource has.`]
  const byId = [...routes.keys()].find((route) => !WITHOUT_ID.includes(route) && !customReads.has(route))
  if (parameter.toLowerCase() !== 'id' || owner.name === 'id' || byId === undefined) return []
  return [`\`${byId}\` would take the id of its path for the owner, which is in \`${owner.name}\`: name a parameter.`]
}

/** Whether the guard is what the route has. */
function stands(guard: Guard, route: string, entity: Entity): boolean {
  const { customReads, actions, writeAccess } = entity
  const read = READ_OPERATIONS.find((one) => one === route)
  const access: ReadAccess | WriteAccess | undefined =
    read === undefined ? (customReads.get(route)?.access ?? writeAccess) : entity.access[read]
  if (guard === 'rowScope') return access?.kind === 'ownRows'
  // An entity file that got round its types may name another guard.
  return guard === 'permission' && (access?.kind === 'permission' || actions.get(route)?.permission !== undefined)
}
