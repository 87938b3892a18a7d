import { inWords, valueText } from './words.js'

// The catalogue as `/admin/catalogue.json` answers it: what the caller may see and call (entity_service.proto has each member).

export interface Property {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly filterable: boolean
  readonly sortable: boolean
  readonly searchable: boolean
  /** Whether no other row may have the value. */
  readonly unique: boolean
  readonly operators: readonly string[]
  readonly minLength: number
  readonly maxLength: number
  readonly scale: number
  readonly minimum: string
  readonly maximum: string
  readonly setOnCreate: boolean
  readonly setOnUpdate: boolean
  readonly requiredOnCreate: boolean
  /** Whether a create takes its value from the token, so that no form asks for it. */
  readonly preset: boolean
  /** The permission that it takes to set it; empty where it takes none. */
  readonly writableBy: string
  readonly description: string
  readonly words: readonly string[]
  /** Whether requests send it and no answer has it. */
  readonly writeOnly: boolean
}

/** A property and the values, as JSON, of which it must have one. */
interface PropertyValues {
  readonly property: string
  readonly values: readonly string[]
}

export interface Action {
  readonly name: string
  readonly description: string
  readonly input: readonly Property[]
  readonly states: readonly PropertyValues[]
  readonly childPrecondition: string
  readonly child: string
  readonly childId: string
}

export interface Navigation {
  readonly name: string
  readonly kind: string
  readonly resource: string
  readonly properties: readonly Property[]
  readonly navigations: readonly Navigation[]
  readonly via: readonly string[]
  readonly writeOnly: readonly Property[]
  /** References of these children. An older gateway tells none. */
  readonly references?: readonly Navigation[]
}

export interface Resource {
  readonly name: string
  readonly description: string
  /** What people call the rows, under which heading the menu has them, and a sign before that; an older gateway tells none. */
  readonly title?: string
  readonly group?: string
  readonly icon?: string
  readonly label: string
  readonly properties: readonly Property[]
  /** What requests send and no answer has. */
  readonly writeOnly: readonly Property[]
  readonly navigations: readonly Navigation[]
  readonly actions: readonly Action[]
  readonly createdChildren: readonly string[]
  readonly key: readonly string[]
  readonly deleteStates: readonly PropertyValues[]
  readonly operations: readonly string[]
  /** What rows can be grouped by, and what can be computed of them; null without totals. */
  readonly totals: { readonly dimensions: readonly Property[]; readonly measures: readonly Property[] } | null
  /** The query parameter that names the owner of the rows that are meant; empty where there is none. */
  readonly ownerParameter: string
  readonly ownerProperty: string
  /** Operations that take the owner parameter, `act` for all actions. */
  readonly ownerFiltered: readonly string[]
  /** Operations and actions that the caller may call. */
  readonly allowed: readonly string[]
}

/** A row as the service answers it. */
export type Row = Readonly<Record<string, unknown>>

/** The answer of `/admin/catalogue.json`. */
export interface CatalogueAnswer {
  readonly resources: readonly Resource[]
  /** Methods and paths of the operations besides those of resources that the caller may call: `GET /accounts`. An older gateway tells none. */
  readonly operations?: readonly string[]
  /** The owner that the caller's token names, in digits; empty without one. */
  readonly owner: string
  /** Whether the caller may name any owner. */
  readonly everyOwner: boolean
}

export class Catalogue {
  readonly resources: readonly Resource[]
  readonly operations: readonly string[]
  readonly owner: string
  readonly everyOwner: boolean
  readonly #byName: ReadonlyMap<string, Resource>

  constructor({ resources, operations = [], owner, everyOwner }: CatalogueAnswer) {
    this.resources = resources
    this.operations = operations
    this.owner = owner
    this.everyOwner = everyOwner
    this.#byName = new Map(resources.map((one) => [one.name, one]))
  }

  find(name: string): Resource | undefined {
    return this.#byName.get(name)
  }

  /** Whether the caller may call an operation or an action of the resource. */
  allows(resource: string, operation: string): boolean {
    return this.find(resource)?.allowed.includes(operation) === true
  }

  /**
   * The resource that a property refers to, where the property is the whole key of the reference and the caller may read
   * that resource.
   */
  referenceOf(owner: WithReferences, { name }: Property): Resource | undefined {
    const reference = referenceBy(owner, name)
    if (reference === undefined || !this.allows(reference.resource, 'paged')) return undefined
    return this.find(reference.resource)
  }

  /** What people read before a value: `Customer` of `customerId`, where the name of the customer is shown. */
  labelOf(owner: WithReferences, property: Property): string {
    const reference = referenceBy(owner, property.name)
    const isShown = this.referenceOf(owner, property) !== undefined
    const isTaken = owner.properties.some(({ name }) => name === reference?.name)
    return inWords(reference === undefined || !isShown || isTaken ? property.name : reference.name)
  }
}

/** A resource, or the children of one. */
export type WithReferences = Pick<Resource, 'properties' | 'navigations'> & Partial<Pick<Navigation, 'references'>>

/** Whose property an action asks for, by its name and type: the rows' own, or that of their children, as the product of a line. */
export function ownerOf(resource: Resource, { name, type }: Property): WithReferences {
  const isOf = ({ properties }: WithReferences): boolean =>
    properties.some((one) => one.name === name && one.type === type)
  return [resource, ...resource.navigations].find(isOf) ?? { properties: [], navigations: [] }
}

function referenceBy({ navigations, references = [] }: WithReferences, property: string): Navigation | undefined {
  return [...references, ...navigations].find(({ via }) => via.length === 1 && via[0] === property)
}

/** Properties that people read: not the version of a row, which is only sent back. */
export function shownProperties({ properties }: Pick<Resource, 'properties'>): readonly Property[] {
  return properties.filter(({ type }) => type !== 'bytes')
}

/** What the form of a create or an update asks for, what no answer has last. */
export function settableProperties(
  { properties, writeOnly }: Pick<Resource, 'properties' | 'writeOnly'>,
  by: 'setOnCreate' | 'setOnUpdate'
): readonly Property[] {
  return [...properties, ...writeOnly].filter((property) => property[by] && !property.preset)
}

/** What people call the rows of a resource. */
export function titleOf({ name, title = '' }: Pick<Resource, 'name' | 'title'>): string {
  return title === '' ? inWords(name) : title
}

/** The id of a row, and its name where it has another. */
export function nameOf(row: Row, { label }: Resource): string {
  const [id, name] = [row['id'], row[label]].map((value) => valueText(value, 'string'))
  return name === undefined || label === 'id' ? String(id) : `${id}: ${name}`
}

/** Whether a row is in the state that an action or a delete needs, as far as the catalogue says. */
export function isInState(row: Row, states: readonly PropertyValues[]): boolean {
  return states.every(({ property, values }) => values.includes(JSON.stringify(row[property])))
}

const CHILD_KINDS: readonly string[] = ['NAVIGATION_KIND_CHILDREN', 'NAVIGATION_KIND_MANY_TO_MANY']

/** The collections that come with a row. */
export function childrenOf({ navigations }: Pick<Resource, 'navigations'>): readonly Navigation[] {
  return navigations.filter(({ kind }) => CHILD_KINDS.includes(kind))
}
