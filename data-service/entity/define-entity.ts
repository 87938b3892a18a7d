import type { Children, Column, Computed, Entity, Joined, Reference } from './entity.js'
import type {
  ChildCollections,
  ComputedDefinition,
  EntityDefinition,
  JoinedDefinition,
  JoinedProperties,
  References
} from './entity-definition.js'
import { text, type Field, type FieldType } from './field.js'
import type { ChildrenDefinition, Fields } from './field-types.js'
import { OPERATORS, type OperatorOf } from './operator.js'
import { resolveFilter, resolveReads, type ReadsPart } from './resolve-reads.js'
import { finder, resolveWrites, type WritesDefinition } from './resolve-writes.js'
import { snakeCase } from './snake-case.js'
import { suggestion } from './suggestion.js'

/** Makes an entity of its definition. It never throws: checkCatalogue reports the mistakes of all entities at once. */
export function defineEntity<
  const F extends Fields,
  const R extends References<F> = Record<never, never>,
  const J extends JoinedProperties<R> = Record<never, never>,
  const C extends ChildCollections = Record<never, never>
>(definition: EntityDefinition<F, R, J, C>): Entity {
  const mistakes: string[] = []
  const columns = columnsOf(definition.fields)
  const children = childrenOf(definition.children ?? {})
  const column = finder(columns, { what: 'a field', standIn: standInColumn, mistakes })
  const references: Reference[] = Object.entries(definition.references ?? {}).map(([name, { to, via }]) => ({
    name,
    to,
    via: column(via)
  }))
  const joined = joinedOf(definition.joined ?? {}, references, mistakes)
  // The names in them are the entity's own and its functions get the rows that those names stand for.
  const reads = definition as unknown as ReadsPart
  const writing = resolveWrites(definition as unknown as WritesDefinition, {
    column,
    children: finder(children, { what: 'a child collection', standIn: standInChildren, mistakes })
  })
  const reading = resolveReads(reads, { column })
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
    children,
    ...reading,
    ...writing,
    ownerFilter: resolveFilter(reads, { ...reading, ...writing }, { column, mistakes }),
    overrides: definition.overrides ?? {},
    mistakes
  }
}

/** Takes the place of a column that does not exist until the mistake is reported. */
function standInColumn(name: string): Column {
  return { name, column: snakeCase(name), field: text(1) }
}

function standInChildren(name: string): Children {
  return { name, table: '', foreignKey: '', columns: [], store: 'primary' }
}

/** The id first, wherever the entity file says it. */
function columnsOf(fields: Readonly<Record<string, Field>>): Column[] {
  const columns = Object.entries(fields).map(([name, field]) => ({ name, column: snakeCase(name), field }))
  return [...columns.filter(({ name }) => name === 'id'), ...columns.filter(({ name }) => name !== 'id')]
}

function joinedOf<R>(
  definitions: Readonly<Record<string, JoinedDefinition<R>>>,
  references: readonly Reference[],
  mistakes: string[]
): Joined[] {
  return Object.entries(definitions).map(([name, { through, property, field }]) => {
    const reference = references.find((one) => one.name === through)
    if (reference === undefined) {
      const names = references.map((one) => one.name)
      mistakes.push(`joined \`${name}\` goes through \`${through}\`, no reference.${suggestion(through, names)}`)
    }
    return { name, through: reference ?? { name: through, to: '', via: standInColumn(through) }, property, field }
  })
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
