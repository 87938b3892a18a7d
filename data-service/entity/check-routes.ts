import { readMistakes } from './check-access.js'
import type { CustomRead } from './custom-read.js'
import type { Entity } from './entity.js'
import type { FieldType } from './field.js'
import { routeNames } from './resolve-reads.js'

const KEBAB_CASE = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const RESERVED: readonly string[] = ['paged', 'export', 'lookup']
/** The one kind of id that can be kebab-case. */
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What `where` may compare, by the type of its value. */
const SCALARS: Readonly<Partial<Record<FieldType, string>>> = { string: 'string', bool: 'boolean', int: 'number' }

/** Mistakes in routes of a resource's own: names that are another's, and what custom reads show. */
export function routeMistakes(entity: Entity, permissions: readonly string[]): string[] {
  const names = routeNames(entity)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  return [
    ...twice.map((name) => `two routes are called \`${name}\`; an owner filter could not tell them apart.`),
    ...[...entity.customReads.values()].flatMap((read) =>
      [...nameMistakes(read), ...readMistakes(entity, read.access, permissions), ...shownMistakes(read)].map(
        (mistake) => `custom read \`${read.name}\`: ${mistake}`
      )
    )
  ]
}

function nameMistakes({ name }: CustomRead): string[] {
  if (RESERVED.includes(name)) return ['the name is that of a read.']
  if (!KEBAB_CASE.test(name)) return ['the name must be kebab-case such as `session-ids`.']
  return GUID.test(name) ? ['the name could be an id.'] : []
}

function shownMistakes({ items, sort, where }: CustomRead): string[] {
  const mistakes = items.length === 0 ? ['it shows nothing: say item or items.'] : []
  for (const { name, field } of [...items, ...sort]) {
    if (field.hidden) mistakes.push(`\`${name}\` is hidden.`)
  }
  if (new Set(items).size < items.length) mistakes.push('items names a field twice.')
  for (const { column, value } of where) {
    const { name, field } = column
    if (typeof value !== SCALARS[field.type])
      mistakes.push(`\`${name}\` is ${field.type} and never ${JSON.stringify(value)}.`)
  }
  return mistakes
}
