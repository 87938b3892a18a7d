import type { CatalogueSnapshot } from '../data/catalogue.js'
import type { Navigation, Property, Resource } from '../data/data-client.js'

// What `describe_resources` tells an agent: the catalogue as the caller sees it, in as few words as it takes.

/** Every resource with what the caller may do to it, in one line each. */
export function resourceList({ resources, allowed }: CatalogueSnapshot): object {
  const usable = [...resources.values()].filter(({ name }) => mayUse(name, allowed))
  return {
    resources: usable.map(({ name, description }) => ({ name, description, allowed: allowed.get(name) ?? [] })),
    further: 'Call describe_resources with `names` for the properties, actions and totals of some of them.'
  }
}

/** Documents may show a resource that the caller can do nothing with. */
export function mayUse(name: string, allowed: CatalogueSnapshot['allowed']): boolean {
  return (allowed.get(name) ?? []).length > 0
}

/** Resources in full. */
export function describedResources(names: readonly string[], seen: CatalogueSnapshot): object {
  const resources = names.flatMap((name) => seen.resources.get(name) ?? [])
  return { resources: resources.map((one) => describedResource(one, seen)) }
}

function describedResource(resource: Resource, { allowed, resources }: CatalogueSnapshot): object {
  const { name, description, actions, totals } = resource
  const names = allowed.get(name) ?? []
  const operators = operatorsByType(resource.properties)
  const searched = resource.properties.filter(({ searchable }) => searchable).map((one) => one.name)
  const open = actions.filter((action) => names.includes(action.name))
  return {
    name,
    description,
    allowed: names,
    properties: resource.properties.map((one) => ({ ...describedProperty(one), ...shownOperators(one, operators) })),
    operators,
    ...some('writeOnly', resource.writeOnly.map(describedProperty)),
    ...some(
      'include',
      resource.navigations.flatMap((one) => includeNames(one, resources))
    ),
    ...some('createdWith', resource.createdChildren),
    ...some('search', searched),
    ...(totals === null
      ? {}
      : {
          totals: {
            dimensions: totals.dimensions.map((one) => one.name),
            measures: totals.measures.map((one) => one.name)
          }
        }),
    ...some(
      'actions',
      open.map((action) => ({
        name: action.name,
        description: action.description,
        ...some('from', action.states),
        ...some('to', action.becomes),
        ...some('values', action.input.map(describedProperty))
      }))
    ),
    ...(resource.deleteCondition === '' ? {} : { deletable: resource.deleteCondition }),
    ...(resource.ownerParameter === '' ? {} : { ownerParameter: resource.ownerParameter })
  }
}

function some<Name extends string, Item>(name: Name, items: readonly Item[]): { [name in Name]?: readonly Item[] } {
  return items.length === 0 ? {} : ({ [name]: items } as { [name in Name]: readonly Item[] })
}

type OperatorsByType = Readonly<Record<string, readonly string[]>>

/** Nearly all properties of one type have the same operators. */
function operatorsByType(properties: readonly Property[]): OperatorsByType {
  const filterable = properties.filter(({ operators }) => operators.length > 0)
  return Object.fromEntries(filterable.map(({ type, operators }) => [type, operators]))
}

function shownOperators({ type, operators }: Property, byType: OperatorsByType): object {
  if (operators.length === 0) return {}
  return operators.join() === byType[type]?.join() ? { filterable: true } : { operators }
}

function describedProperty(property: Property): object {
  const { name, type, nullable, description, sortable, unique, words, maxLength } = property
  const { setOnCreate, requiredOnCreate, setOnUpdate, minimum, maximum, scale } = property
  return {
    name,
    type,
    ...(description === '' ? {} : { description }),
    ...(nullable ? { nullable } : {}),
    ...some('words', words),
    ...(maxLength > 0 ? { maxLength } : {}),
    ...(minimum === '' ? {} : { minimum }),
    ...(maximum === '' ? {} : { maximum }),
    ...(type === 'decimal' ? { scale } : {}),
    ...(sortable ? { sortable } : {}),
    ...(unique ? { unique } : {}),
    ...(setOnCreate ? { onCreate: requiredOnCreate ? 'required' : 'optional' } : {}),
    ...(setOnUpdate ? { onUpdate: true } : {})
  }
}

/** `lines`, and `lines.product` for a reference of the lines. */
function includeNames({ name, ...of }: Navigation, resources: CatalogueSnapshot['resources']): string[] {
  const isReference = of.kind === 'NAVIGATION_KIND_REFERENCE'
  const behind = isReference ? (resources.get(of.resource)?.navigations ?? []) : [...of.navigations, ...of.references]
  return [name, ...behind.map((one) => `${name}.${one.name}`)]
}
