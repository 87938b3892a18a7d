import { suggestion } from '../entity/suggestion.js'
import type { Resource } from './catalogue.js'
import { quoted, type FaultList } from './fault-list.js'
import { parseFlag } from './parse-flag.js'
import { propertyName } from './property-name.js'
import type { ShapedProperty } from './read-plan.js'

/** Which parts of a row were asked for, as texts of the request. */
export interface ShapeTexts {
  readonly fields?: string
  readonly includeFks?: string
  readonly includeChildren?: string
}

/** The texts understood; undefined `named` is every property. */
export interface ParsedShape {
  readonly flags: { readonly references: boolean; readonly children: boolean }
  readonly named: readonly ShapedProperty[] | undefined
}

const MAX_FIELDS = 200

export function parseShape(texts: ShapeTexts | null, resource: Resource, faults: FaultList): ParsedShape {
  const include = { code: 'include.invalid', fallback: false } as const
  const flags = {
    references: parseFlag(texts?.includeFks, { ...include, parameter: 'includeFKs' }, faults),
    children: parseFlag(texts?.includeChildren, { ...include, parameter: 'includeChildren' }, faults)
  }
  return {
    flags,
    named: parseFields(texts?.fields, resource, { faults, refuse: (property) => unfitFor(property, flags) })
  }
}

/** undefined for all of them. `refuse` says what is wrong with a property that exists, if anything. */
export function parseFields(
  text: string | undefined,
  resource: Resource,
  how: { readonly faults: FaultList; readonly refuse: (property: ShapedProperty) => string | undefined }
): readonly ShapedProperty[] | undefined {
  if (text === undefined) return undefined
  const named = new Map<string, string>()
  for (const part of text.split(',')) {
    const name = part.trim()
    if (name !== '' && !named.has(name.toLowerCase())) named.set(name.toLowerCase(), name)
  }
  if (named.size === 0) return undefined
  if (named.size > MAX_FIELDS) {
    how.faults.add('fields.invalid', 'fields', `fields takes at most ${MAX_FIELDS} names, not ${named.size}.`)
    return undefined
  }
  const asked: ShapedProperty[] = []
  for (const [key, name] of named) {
    const property = resource.properties.get(key)
    const fault =
      property === undefined
        ? `${quoted(name)} is not a field.${suggestion(name, selectableNames(resource))}`
        : how.refuse(property)
    if (fault !== undefined) how.faults.add('fields.invalid', 'fields', fault)
    else if (property !== undefined) asked.push(property)
  }
  return asked
}

function unfitFor(
  property: ShapedProperty,
  flags: { readonly references: boolean; readonly children: boolean }
): string | undefined {
  const name = propertyName(property)
  switch (property.kind) {
    case 'column':
    case 'rowVersion':
      return undefined
    case 'computed':
    case 'joined':
      return `"${name}" is read-only and has no column of its own: leave fields out to get it.`
    case 'reference':
      return flags.references ? undefined : `"${name}" needs includeFKs=true.`
    case 'children':
      return flags.children ? undefined : `"${name}" needs includeChildren=true.`
  }
}

function selectableNames(resource: Resource): string[] {
  return [...resource.properties.values()]
    .filter(({ kind }) => kind === 'column' || kind === 'rowVersion')
    .map(propertyName)
}
