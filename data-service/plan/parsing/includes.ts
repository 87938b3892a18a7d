import { MAX_INCLUDES } from '../../../shared/request-limits.js'
import type { Resource } from '../model/catalogue.js'
import type { ShapedProperty } from '../model/plans.js'
import { propertyName } from '../model/projection.js'
import { quoted, type Violations } from './violations.js'

// The parameter `include`: names of navigations, and of navigations of the rows that these lead to.

/** Names of navigations, each with those that are named within it. */
export type Includes = ReadonlyMap<string, ReadonlySet<string>>

export const NO_INCLUDES: Includes = new Map()

export type ResourceOf = (name: string) => Resource | undefined

type NavigationProperty = Extract<ShapedProperty, { kind: 'reference' | 'manyToMany' | 'children' }>

/**
 * Of the names that the caller may know, none that is hidden from it. `resourceOf` is undefined for a resource of which the
 * caller sees no row: what its rows include is never shown, and no answer tells which navigations it has.
 */
export function parseIncludes(
  text: string | undefined,
  resource: Resource,
  { resourceOf, violations }: { readonly resourceOf: ResourceOf; readonly violations: Violations }
): Includes {
  if (text === undefined) return NO_INCLUDES
  const names = text.split(',', MAX_INCLUDES + 1)
  if (names.length > MAX_INCLUDES) {
    violations.add('include.invalid', 'include', `include takes at most ${MAX_INCLUDES} names.`)
    return NO_INCLUDES
  }
  const included = new Map<string, Set<string>>()
  const seen = new Set<string>()
  for (const written of names) {
    const name = written.trim()
    const [first = '', second, ...further] = name.split('.', 3)
    const navigation = navigationsOf(resource).find((one) => isNamed(propertyName(one), first))
    const inner = navigation === undefined || second === undefined ? [] : namesWithin(navigation, resourceOf)
    const nested = inner?.find((one) => isNamed(one, second ?? ''))
    const reject = (what: string): void => violations.add('include.invalid', 'include', `${quoted(name)} ${what}`)
    if (navigation === undefined) reject(`is not a navigation. ${thereAre(navigationsOf(resource).map(propertyName))}`)
    else if (further.length > 0) reject('has more than two levels.')
    else if (second !== undefined && inner !== undefined && nested === undefined) {
      reject(`is not a navigation. ${thereAre(inner.map((one) => `${propertyName(navigation)}.${one}`))}`)
    } else if (seen.has(name.toLowerCase())) reject('is named twice.')
    else {
      seen.add(name.toLowerCase())
      const within = included.get(propertyName(navigation)) ?? new Set()
      included.set(propertyName(navigation), nested === undefined ? within : within.add(nested))
    }
  }
  return included
}

function isNamed(name: string, written: string): boolean {
  return name.toLowerCase() === written.toLowerCase()
}

function navigationsOf({ properties }: Resource): NavigationProperty[] {
  return [...properties.values()].filter(
    (one) => one.kind === 'reference' || one.kind === 'manyToMany' || one.kind === 'children'
  )
}

/** What can be named of the rows that a navigation leads to. Children of children come with these anyway. */
function namesWithin(navigation: NavigationProperty, resourceOf: ResourceOf): string[] | undefined {
  const namesOf = (name: string): string[] | undefined => {
    const target = resourceOf(name)
    return target && navigationsOf(target).map(propertyName)
  }
  switch (navigation.kind) {
    case 'reference':
      return namesOf(navigation.reference.to)
    case 'manyToMany':
      return namesOf(navigation.navigation.target.name)
    case 'children':
      return [...navigation.references.map(({ name }) => name), ...navigation.nested.map((one) => one.children.name)]
  }
}

function thereAre(names: readonly string[]): string {
  return names.length === 0 ? 'There is none.' : `There are: ${names.join(', ')}.`
}
