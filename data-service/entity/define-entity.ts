import type { ReadAccess, ReadOperation } from './access.js'
import type { Children, Column, Computed, Entity, Joined, Reference, StoreName } from './entity.js'
import { text, type Field, type FieldType } from './field.js'
import { OPERATORS, type OperatorOf } from './operator.js'
import type { ReadOverrides } from './read-overrides.js'
import { snakeCase } from './snake-case.js'
import { suggestion } from './suggestion.js'
import type { Value } from './value.js'

type Fields = Readonly<Record<string, Field>> & { readonly id: Field<'int' | 'long' | 'guid', false> }
type VisibleName<F> = { [K in keyof F]: F[K] extends { hidden: true } ? never : K }[keyof F] & string
type NameOfType<F, T extends FieldType> = { [K in keyof F]: F[K] extends Field<T, false> ? K : never }[keyof F] & string
type TypeOf<F, K extends keyof F> = F[K] extends Field<infer T> ? T : never
type ReferenceDefinition<F> = { readonly to: string; readonly via: NameOfType<F, 'int' | 'long' | 'guid'> }
type ChildrenDefinition = {
  readonly table: string
  readonly foreignKey: string
  readonly fields: Fields
  readonly store?: StoreName
}
type JoinedDefinition<R> = { readonly through: keyof R & string; readonly property: string; readonly field: Field }

export interface ComputedDefinition<F> {
  readonly type: FieldType
  readonly nullable?: boolean
  readonly from: readonly VisibleName<F>[]
  /** Gets the values of `from`, in order. */
  readonly value: (...values: Value[]) => Value
}

/** What an entity file says. `read` covers every read that has no word of its own in `readOne`. */
export interface EntityDefinition<
  F extends Fields,
  R extends Readonly<Record<string, ReferenceDefinition<F>>>,
  J extends Readonly<Record<string, JoinedDefinition<R>>>
> {
  /** Route segment, kebab-case plural. */
  readonly name: string
  /** Default: the name in snake_case. */
  readonly table?: string
  readonly description: string
  readonly fields: F
  readonly computed?: Readonly<Record<string, ComputedDefinition<F>>>
  readonly joined?: J
  /** Properties that `filters[…]` takes: all operators of the type, unless `operators` says fewer. */
  readonly filterable: readonly (VisibleName<F> | (keyof NoInfer<J> & string))[]
  readonly operators?: { readonly [K in VisibleName<F>]?: readonly OperatorOf<TypeOf<F, K>>[] }
  /** Properties that `sortColumn` takes: each needs an index, which start-up checks. */
  readonly sortable: readonly (VisibleName<F> | (keyof NoInfer<J> & string))[]
  /** What lookup shows beside the id. */
  readonly label: NameOfType<F, 'string'>
  readonly references?: R
  readonly children?: Readonly<Record<string, ChildrenDefinition>>
  readonly access: {
    readonly read: ReadAccess<NameOfType<F, 'int' | 'long'>>
    /** Single reads that differ, `{ get: ownedById }`. */
    readonly reads?: Readonly<Partial<Record<ReadOperation, ReadAccess<NameOfType<F, 'int' | 'long'>>>>>
  }
  /** Single reads done in the entity's own way; the others stay as they are. */
  readonly overrides?: ReadOverrides
}

/** Makes an entity of its definition. It never throws: checkCatalogue reports the mistakes of all entities at once. */
export function defineEntity<
  const F extends Fields,
  const R extends Readonly<Record<string, ReferenceDefinition<F>>> = Record<never, ReferenceDefinition<F>>,
  const J extends Readonly<Record<string, JoinedDefinition<R>>> = Record<never, JoinedDefinition<R>>
>(definition: EntityDefinition<F, R, J>): Entity {
  const mistakes: string[] = []
  const columns = columnsOf(definition.fields)
  const column = (name: string): Column => {
    const found = columns.find((one) => one.name === name)
    if (found !== undefined) return found
    mistakes.push(
      `\`${name}\` is not a field.${suggestion(
        name,
        columns.map((one) => one.name)
      )}`
    )
    return standIn(name)
  }
  const references: Reference[] = Object.entries(definition.references ?? {}).map(([name, { to, via }]) => ({
    name,
    to,
    via: column(via)
  }))
  const joined: Joined[] = Object.entries(definition.joined ?? {}).map(([name, { through, property, field }]) => {
    const reference = references.find((one) => one.name === through)
    if (reference === undefined) {
      const names = references.map((one) => one.name)
      mistakes.push(`joined \`${name}\` goes through \`${through}\`, no reference.${suggestion(through, names)}`)
    }
    return { name, through: reference ?? { name: through, to: '', via: standIn(through) }, property, field }
  })
  const { read, reads = {} } = definition.access
  return {
    name: definition.name,
    table: definition.table ?? snakeCase(definition.name),
    description: definition.description,
    columns,
    computed: computedOf(definition.computed ?? {}, column),
    joined,
    filterable: new Map(
      definition.filterable.map((name) => {
        const { type } = (joined.find((one) => one.name === name) ?? column(name)).field
        const narrowed: Readonly<Record<string, readonly OperatorOf<FieldType>[] | undefined>> =
          definition.operators ?? {}
        return [name, narrowed[name] ?? OPERATORS[type]]
      })
    ),
    sortable: new Set(definition.sortable),
    label: column(definition.label),
    references,
    children: childrenOf(definition.children ?? {}),
    access: { list: read, paged: read, export: read, lookup: read, get: read, ...reads },
    overrides: definition.overrides ?? {},
    mistakes
  }
}

/** Takes the place of a column that does not exist until the mistake is reported. */
function standIn(name: string): Column {
  return { name, column: snakeCase(name), field: text(1) }
}

/** The id first, wherever the entity file says it. */
function columnsOf(fields: Readonly<Record<string, Field>>): Column[] {
  const columns = Object.entries(fields).map(([name, field]) => ({ name, column: snakeCase(name), field }))
  return [...columns.filter(({ name }) => name === 'id'), ...columns.filter(({ name }) => name !== 'id')]
}

function computedOf<F>(
  definitions: Readonly<Record<string, ComputedDefinition<F>>>,
  column: (name: string) => Column
): Computed[] {
  return Object.entries(definitions).map(([name, { type, nullable = false, from, value }]) => ({
    name,
    type,
    nullable,
    from: from.map(column),
    value: (values) => value(...values)
  }))
}

function childrenOf(definitions: Readonly<Record<string, ChildrenDefinition>>): Children[] {
  return Object.entries(definitions).map(([name, { table, foreignKey, fields, store = 'primary' }]) => ({
    name,
    table,
    foreignKey: snakeCase(foreignKey),
    columns: columnsOf(fields),
    store
  }))
}
