import type { Action, CustomRead, JsonShape, Navigation, Property, Resource } from '../data/data-client.js'
import type { Components, ComponentRef } from './components.js'
import { settableProperties } from './schemas.js'

// Examples of bodies. Each is a component that operations refer to, made of the examples of its properties, so that the
// document of a caller shows none of what the caller may not see. A body has no example where one of its members has none.

/** The JSON of a row's own members, or of an item's. */
type ExampleMembers = Readonly<Record<string, unknown>>

/** The example of a property; undefined where there is none, as an earlier data service tells it. */
export function exampleIn({ example }: Pick<Property, 'example'>): unknown {
  return example === '' ? undefined : JSON.parse(example)
}

/** A row, without what an include brings. */
export function rowExample(components: Components, { name, properties }: Resource): ComponentRef | undefined {
  return sharedRef(components, name, exampleMembers(properties))
}

/** The answer of a list, a page or a batch. */
export function rowsExample(components: Components, { name, properties }: Resource): ComponentRef | undefined {
  return sharedRef(components, `${name}.rows`, exampleList(exampleMembers(properties)))
}

export function lookupExample(components: Components, { name, label, properties }: Resource): ComponentRef | undefined {
  const [id, shown] = ['id', label].map((one) => properties.find((property) => property.name === one))
  const row = id && shown && exampleMembers([id, shown])
  if (row === undefined) return undefined
  // A label that is a number is answered as text.
  return sharedRef(components, `${name}.lookup`, { items: [{ id: row['id'], name: String(row[label]) }] })
}

/** The answer to a request without parameters. */
export function totalsExample(components: Components, { name, totals }: Resource): ComponentRef | undefined {
  const row = exampleMembers(totals?.measures ?? [])
  return row && sharedRef(components, `${name}.totals`, [row])
}

/** An update of one property. */
export function historyExample(components: Components, resource: Resource): ComponentRef | undefined {
  const [first] = settableProperties(resource, 'setOnUpdate')
  const value = first && exampleIn(first)
  const changes = first === undefined || value === undefined ? {} : { [first.name]: { before: null, after: value } }
  const entry = { id: '7', at: '2026-01-31T08:00:00.000Z', action: 'update', changes }
  return sharedRef(components, `${resource.name}.history`, [entry])
}

/** A file with its byte order mark, a header row and a row (RFC 4180). Versions of rows are in none. */
export function exportExample(components: Components, { name, properties }: Resource): ComponentRef | undefined {
  const row = exampleMembers(properties.filter(({ type }) => type !== 'bytes'))
  if (row === undefined) return undefined
  const lines = [Object.keys(row), Object.values(row).map(cell)]
  return sharedRef(components, `${name}.export`, `\uFEFF${lines.map((line) => `${line.join()}\r\n`).join('')}`)
}

function cell(value: unknown): string {
  const isSet = Array.isArray(value) && value.every((one) => typeof one === 'string')
  const text = typeof value === 'string' ? value : isSet ? value.join() : JSON.stringify(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function createExample(components: Components, resource: Resource): ComponentRef | undefined {
  return sharedRef(components, `${resource.name}.create`, newRowExample(resource))
}

export function batchExample(components: Components, resource: Resource): ComponentRef | undefined {
  return sharedRef(components, `${resource.name}.batch`, exampleList(newRowExample(resource)))
}

/** Files with a new row. */
export function importExamples(
  components: Components,
  resource: Resource
): Readonly<Record<'csv' | 'ndjson', ComponentRef | undefined>> {
  const row = newRowExample(resource)
  if (row === undefined) return { csv: undefined, ndjson: undefined }
  const lines = [Object.keys(row), Object.values(row).map(cell)]
  return {
    csv: sharedRef(components, `${resource.name}.import.csv`, lines.map((line) => `${line.join()}\r\n`).join('')),
    ndjson: sharedRef(components, `${resource.name}.import.ndjson`, `${JSON.stringify(row)}\n`)
  }
}

/** A new row with one child of each collection that a create may hold. */
export function newRowExample(resource: Resource): ExampleMembers | undefined {
  const { navigations, createdChildren } = resource
  const root = exampleMembers(settableProperties(resource, 'setOnCreate').filter(({ preset }) => !preset))
  const children = navigations
    .filter(({ name, kind }) => kind === 'NAVIGATION_KIND_CHILDREN' && createdChildren.includes(name))
    .map((child) => [child.name, exampleList(newChildExample(child))] as const)
  if (root === undefined || children.some(([, rows]) => rows === undefined)) return undefined
  return { ...root, ...Object.fromEntries(children) }
}

function newChildExample(children: Navigation): ExampleMembers | undefined {
  return exampleMembers(settableProperties(children, 'setOnCreate').filter(({ preset }) => !preset))
}

/** What a PUT may set. */
export function updateExample(components: Components, resource: Resource): ComponentRef | undefined {
  return sharedRef(components, `${resource.name}.update`, exampleMembers(settableProperties(resource, 'setOnUpdate')))
}

/** One member, since a PATCH keeps the others. */
export function patchExample(components: Components, resource: Resource): ComponentRef | undefined {
  const [first] = settableProperties(resource, 'setOnUpdate')
  return sharedRef(components, `${resource.name}.patch`, exampleMembers(first === undefined ? [] : [first]))
}

/** A change of one member of a row. */
export function changesExample(components: Components, resource: Resource): ComponentRef | undefined {
  const [first] = settableProperties(resource, 'setOnUpdate')
  const members = exampleMembers(first === undefined ? [] : [first])
  const item = guardedItem(resource)
  return sharedRef(components, `${resource.name}.changes`, exampleList(item && members && { ...item, ...members }))
}

export function deletesExample(components: Components, resource: Resource): ComponentRef | undefined {
  return sharedRef(components, `${resource.name}.deletes`, exampleList(guardedItem(resource)))
}

function guardedItem({ properties }: Resource): ExampleMembers | undefined {
  const id = exampleMembers(properties.filter(({ name }) => name === 'id'))
  return id && { ...id, rowVersion: EXAMPLE_VERSION }
}

/** Eight bytes, as row versions have. */
const EXAMPLE_VERSION = 'AQIDBAUGBwg='

export function actionExample(components: Components, resource: string, action: Action): ComponentRef | undefined {
  const { name, input, childPrecondition } = action
  const members = exampleMembers(input)
  const guard = childPrecondition === '' ? {} : { [childPrecondition]: EXAMPLE_VERSION }
  return sharedRef(components, `${resource}.${name}.input`, members && { ...members, ...guard })
}

export function itemsExample(
  components: Components,
  resource: string,
  { name, items, bareItems }: CustomRead
): ComponentRef | undefined {
  const row = exampleMembers(items)
  return sharedRef(components, `${resource}.read.${name}`, exampleList(bareItems && row ? Object.values(row)[0] : row))
}

/** A body or an answer of an application's operation. */
export function shapeExample(components: Components, name: string, shape: JsonShape): ComponentRef | undefined {
  return sharedRef(components, name, valueIn(shape))
}

function valueIn(shape: JsonShape): unknown {
  if (shape.kind !== 'SHAPE_KIND_LIST') return objectOf(shape)
  const { item, nested } = shape
  return exampleList(item !== null ? exampleIn(item) : nested !== null ? valueIn(nested) : objectOf(shape))
}

function objectOf({ members }: JsonShape): ExampleMembers | undefined {
  return whole(
    members.map(({ name, property, shape }) =>
      property !== null ? [property.name, exampleIn(property)] : [name, shape === null ? undefined : valueIn(shape)]
    )
  )
}

export function exampleMembers(properties: readonly Property[]): ExampleMembers | undefined {
  return whole(properties.map((property) => [property.name, exampleIn(property)]))
}

/** undefined where a member has no example. */
function whole(members: readonly (readonly [name: string, value: unknown])[]): ExampleMembers | undefined {
  return members.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(members)
}

function exampleList(item: unknown): readonly unknown[] | undefined {
  return item === undefined ? undefined : [item]
}

/** In the exact document alone: generators of clients make nothing of examples. */
function sharedRef(components: Components, name: string, value: unknown): ComponentRef | undefined {
  return value === undefined || !components.exact ? undefined : sharedExample(components, name, value)
}

/** A body that is known as it is, under a name of its own. */
export function sharedExample(components: Components, name: string, value: unknown): ComponentRef {
  return components.refer('examples', name, () => ({ value }))
}
