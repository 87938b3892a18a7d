import type { Field } from '../../entity/field.js'

type Columns = Readonly<Record<string, Field>> & { readonly id: Field<'int' | 'long' | 'guid'> }

/** What a migration says of a new table, in the property names of the entity file; columns are named in snake_case. */
export interface TableDefinition<C extends Columns> {
  /** The row version is not listed: every table has one. An `id` that is int or long numbers itself. */
  readonly columns: C
  /** Columns that rows are sorted by, each way, with the id as the tie-break. */
  readonly sorted?: readonly (keyof C & string)[]
  /** Column to the table of the aggregate's root: its rows go with the root. */
  readonly partOf?: { readonly [K in keyof C]?: string }
  /** Column to the table it refers to: a row that is referred to cannot be deleted. */
  readonly references?: { readonly [K in keyof C]?: string }
  /** Columns that rows are found by without any of the above, as an id from another database is. */
  readonly indexed?: readonly (keyof C & string)[]
  /** Columns of which no two rows have all values alike; a single one says `unique` instead. */
  readonly uniqueTogether?: readonly (readonly [keyof C & string, ...(keyof C & string)[]])[]
}

/** A table as the renderers need it. */
export interface Table {
  readonly name: string
  readonly columns: ReadonlyMap<string, Field>
  readonly sorted: ReadonlySet<string>
  readonly indexed: ReadonlySet<string>
  readonly uniqueTogether: readonly (readonly string[])[]
  readonly foreignKeys: readonly ForeignKey[]
}

export interface ForeignKey {
  readonly from: string
  readonly to: string
  readonly onDelete: 'CASCADE' | 'RESTRICT'
}

/** Describes a table. Every foreign key is indexed, whether rows are sorted by it or not. */
export function table<const C extends Columns>(name: string, definition: TableDefinition<C>): Table {
  const foreignKeys = [
    ...foreignKeysOf(definition.partOf ?? {}, 'CASCADE'),
    ...foreignKeysOf(definition.references ?? {}, 'RESTRICT')
  ]
  return {
    name,
    columns: new Map(Object.entries(definition.columns)),
    sorted: new Set(definition.sorted),
    indexed: new Set([...(definition.indexed ?? []), ...foreignKeys.map(({ from }) => from)]),
    uniqueTogether: definition.uniqueTogether ?? [],
    foreignKeys
  }
}

function foreignKeysOf(targets: Readonly<Record<string, string | undefined>>, onDelete: ForeignKey['onDelete']) {
  return Object.entries(targets).flatMap(([from, to]): ForeignKey[] =>
    to === undefined ? [] : [{ from, to, onDelete }]
  )
}
