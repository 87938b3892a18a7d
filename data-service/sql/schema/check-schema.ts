import { StartError } from '../../../shared/start-error.js'
import type { Entity, StoreName } from '../../entity/entity.js'
import type { Database, TableRight, TableRights } from '../engines/engine.js'
import { OWN_TABLES, type OwnNames, ownTableNames, RECORD } from '../engines/own-tables.js'
import type { LiveTable } from '../engines/live-schema/live-schema.js'
import { sortedColumn } from './entity-tables.js'

/** The tables of a database, as its catalogue describes them. */
interface ActualSchema {
  /** The columns of each table. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>
  /** `table.column ASC` or `table.column DESC` for the first key of each index. */
  readonly sortOrders: ReadonlySet<string>
}

function actualSchema(tables: Iterable<LiveTable>): ActualSchema {
  const columns = new Map<string, ReadonlySet<string>>()
  const sortOrders = new Set<string>()
  for (const table of tables) {
    columns.set(table.name, new Set(table.columns.map(({ name }) => name)))
    for (const { unique, keys } of table.indexes) {
      // A unique index does not continue with the primary key, so that equal values of it have no order.
      const [first] = keys
      if (unique || first?.column === undefined) continue
      sortOrders.add(`${table.name}.${first.column} ${first.descending ? 'DESC' : 'ASC'}`)
    }
  }
  return { columns, sortOrders }
}

/**
 * Compares the entity files with the tables of one store: every column exists, children have an index on their root's
 * id, and every sortable property has an index for each direction. Throws one StartError that lists all that is missing.
 */
export async function checkSchema(
  database: Database,
  /** `setting` names the database in the error. */
  { store, setting }: { readonly store: StoreName; readonly setting: string },
  entities: readonly Entity[]
): Promise<void> {
  const { tables } = await database.schema.describe()
  const mistakes = schemaMistakes(actualSchema(tables.values()), store, entities)
  if (mistakes.length === 0) return
  const count = `${mistakes.length} mistake${mistakes.length === 1 ? '' : 's'}`
  throw new StartError(`${count} in the tables of ${setting}.\n- ${mistakes.join('\n- ')}\n${ADVICE}`)
}

/** A changed migration has no effect on a database in which it has run. */
const ADVICE =
  'Mend this in a new migration, which `uniform-rest migrate create <name>` writes: one that ran is not run again. On a ' +
  'throw-away database delete DATA_DIR instead.'

/** What is missing, a sentence each. */
function schemaMistakes(schema: ActualSchema, store: StoreName, entities: readonly Entity[]): string[] {
  // `describe` sees one database, and what is in another belongs to the engine: its migrations made it.
  const seen = entities.filter((entity) => entity.schema === undefined)
  return seen.flatMap((entity) => [
    ...(store === 'primary' ? [...missingColumns(schema, entity), ...missingOrders(schema, entity, entities)] : []),
    ...missingInChildren(schema, store, entity)
  ])
}

interface Columned {
  readonly name: string
  readonly table: string
  readonly columns: readonly { readonly column: string }[]
  readonly versionColumn: string | undefined
}

function missingColumns(
  schema: ActualSchema,
  { name, table, columns, versionColumn }: Columned,
  more: readonly string[] = []
): string[] {
  const actual = schema.columns.get(table)
  if (actual === undefined) return [`${name}: there is no table ${table}; a new migration must create it`]
  return [...columns.map(({ column }) => column), ...(versionColumn === undefined ? [] : [versionColumn]), ...more]
    .filter((column) => !actual.has(column))
    .map((column) => `${name}: the table ${table} has no column ${column}; a new migration must add it`)
}

function missingInChildren(schema: ActualSchema, store: StoreName, entity: Entity): string[] {
  return entity.children
    .filter((children) => children.store === store)
    .flatMap(({ name, table, foreignKey: [leading, ...others], columns, versionColumn }) => {
      const full = `${entity.name}.${name}`
      const missing = missingColumns(schema, { name: full, table, columns, versionColumn }, [
        leading.column,
        ...others.map(({ column }) => column)
      ])
      if (missing.length > 0 || schema.sortOrders.has(`${table}.${leading.column} ASC`)) return missing
      return [`${full}: no index leads with ${table}.${leading.column}; a new migration must add it`]
    })
}

function missingOrders(schema: ActualSchema, entity: Entity, entities: readonly Entity[]): string[] {
  return [...entity.sortable].flatMap((property) => {
    const found = sortedColumn(entity, property, entities)
    if (found === undefined) return [`${entity.name}: nothing tells which column the sortable ${property} is`]
    const { table } = found
    const place = `${table}.${found.column}`
    return found.directions
      .filter((direction) => schema.columns.has(table) && !schema.sortOrders.has(`${place} ${direction}`))
      .map(
        (direction) =>
          `${entity.name}: the sortable ${property} has no index (${place} ${direction}, id); ` +
          'a new migration must add it'
      )
  })
}

/**
 * What the service does with the rows of the tables of one store. Of a resource without writes and actions it reads them:
 * what a rule of another resource writes there is not in its entity file.
 */
export function neededRights(entities: readonly Entity[], store: StoreName): TableRights[] {
  const rights = new Map<string, { readonly rights: Set<TableRight>; readonly column: string }>()
  const need = (table: string, column: string, more: readonly TableRight[]): void => {
    const found = rights.get(table) ?? { rights: new Set<TableRight>(), column }
    for (const right of ['SELECT', ...more] as const) found.rights.add(right)
    rights.set(table, found)
  }
  for (const entity of entities) {
    const { table, columns, versionColumn = columns[0]?.column ?? '', children } = entity
    if (store === 'primary') need(table, versionColumn, rightsToRoot(entity))
    for (const one of children.filter((child) => child.store === store)) {
      const column = one.versionColumn ?? one.foreignKey[0].column
      need(one.table, column, one.versionColumn === undefined ? [] : rightsToChildren(entity))
    }
  }
  return Array.from(rights, ([table, found]) => ({ table, rights: [...found.rights], column: found.column }))
}

/** As `neededRights`, for the tables of the engine: all of them in the primary store, and the record of migrations in both. */
export function neededRightsToOwn({ prefix }: OwnNames, store: StoreName): TableRights[] {
  const record: TableRights = { table: `${prefix}${RECORD}`, rights: ['SELECT'], column: 'name' }
  if (store !== 'primary') return [record]
  const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const
  const others = ownTableNames().map((table) => ({
    table: `${prefix}${table}`,
    rights,
    column: OWN_TABLES[table].columns[0]
  }))
  return [record, ...others]
}

function rightsToRoot({ writes, actions }: Entity): TableRight[] {
  return [
    ...(writes.has('create') ? (['INSERT'] as const) : []),
    ...(writes.has('update') || actions.size > 0 ? (['UPDATE'] as const) : []),
    ...(writes.has('delete') ? (['DELETE'] as const) : [])
  ]
}

/** Rows of children go with their root by its foreign key. What a rule does with them is not in the entity file. */
function rightsToChildren({ creation, updateRule, deletion, actions }: Entity): TableRight[] {
  const hasRule = updateRule !== undefined || deletion.rule !== undefined || actions.size > 0
  if (hasRule) return ['INSERT', 'UPDATE', 'DELETE']
  return creation.children.length > 0 || creation.prepare !== undefined ? ['INSERT'] : []
}
