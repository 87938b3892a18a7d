import type { Children, Column, Entity, KeyColumns, StoreName } from '../../data-service/entity/entity.js'
import type { Field, Operand } from '../../data-service/entity/fields/field.js'
import { isKey, isKeyed, type Keyed, keyed, keyMaker } from '../../data-service/entity/key.js'
import { ownerColumns } from '../../data-service/entity/validation/validate-access.js'
import { bytesOfBase64url } from '../../data-service/sql/engines/statement.js'
import { searchedColumns } from '../model/full-text.js'
import {
  type ColumnDefault,
  type ColumnType,
  type ForeignKey,
  LONGEST_VARCHAR,
  type Table,
  type TableColumn,
  type TableIndex
} from '../model/tables.js'
import { indexName } from './builders.js'
import { sameType, typeText } from './type-change.js'

/** The tables that the entities of one store need, as far as their files say. */
export interface EntityTables {
  /** By name. Indexes that are not unique leave out the primary key that follows. */
  readonly tables: ReadonlyMap<string, Table>
  /** What a create without a value gives a column, by `table.column`: the value of rows that are there. */
  readonly defaults: ReadonlyMap<string, ColumnDefault>
  /** What the database fills, by `table.column`: in every row, or in new rows without a value. */
  readonly filled: ReadonlyMap<string, 'generated' | 'default'>
  /** Columns that rows are found by and not sorted by, as `table.column`: any index that begins with one serves it. */
  readonly owners: ReadonlySet<string>
  /** Two statements of one column that differ, a sentence each. */
  readonly conflicts: readonly string[]
}

/**
 * What the entity files say of tables: columns with their types, `unique`, an index for what is sortable and one for each
 * owner, a foreign key for each reference and each child collection, and the row version.
 */
export function entityTables(entities: readonly Entity[], store: StoreName): EntityTables {
  const found = new Collected()
  const tableOf = new Map(entities.map((entity) => [entity.name, entity]))
  if (store === 'primary') {
    for (const entity of entities) {
      found.addTable(entity, { owner: entity.name, versionColumn: entity.versionColumn })
    }
  }
  for (const entity of entities) {
    for (const children of entity.children.filter((one) => one.store === store)) {
      found.addChildren(children, { to: keyed(entity), owner: entity.name })
    }
    if (store !== 'primary') continue
    for (const { to, via } of entity.references) {
      const target = tableOf.get(to)
      if (target !== undefined && isKeyed(target))
        found.addForeignKey(entity.table, via, { to: target, onDelete: 'restrict' })
    }
    for (const owner of ownerColumns(entity)) found.addOwner(entity, owner)
    for (const property of entity.sortable) {
      const place = sortedColumn(entity, property, entities)
      if (place !== undefined) found.addSorted(place)
    }
    if (entity.fullText) found.addFullText(entity)
  }
  return found.tables()
}

/** A column that rows are sorted by. */
interface SortedColumn {
  readonly table: string
  readonly column: string
  /** Whether the primary key serves it, as the id or the first part of a composite one. Otherwise an index does. */
  readonly isOfKey: boolean
}

/** The column that a property is sorted by, in the entity's own table or in the joined one. */
export function sortedColumn(entity: Entity, property: string, entities: readonly Entity[]): SortedColumn | undefined {
  const named = (resource: string | undefined) => entities.find(({ name }) => name === resource)
  const joined = entity.joined.find(({ name }) => name === property)
  let target = joined === undefined ? entity : named(joined.through.to)
  for (const step of joined?.further ?? []) {
    target = named(target?.references.find(({ name }) => name === step)?.to)
  }
  const column = target?.columns.find(({ name }) => name === (joined?.property ?? property))
  if (target === undefined || column === undefined) return undefined
  return { table: target.table, column: column.column, isOfKey: column === target.key[0] }
}

interface DraftTable {
  readonly owner: string
  readonly columns: Map<string, TableColumn>
  /** In the order of the key, with several columns. */
  primaryKey: readonly string[] | undefined
  readonly unique: Set<string>
  readonly foreignKeys: Map<string, ForeignKey>
  fullText?: Omit<TableIndex, 'name'>
}

/** A table that a foreign key leads to. */
interface ReferredTable extends Keyed {
  readonly table: string
}

/** Tables in the making: a table may be that of an entity and of a child collection at once. */
class Collected {
  readonly #tables = new Map<string, DraftTable>()
  readonly #defaults = new Map<string, ColumnDefault>()
  readonly #filled = new Map<string, 'generated' | 'default'>()
  readonly #conflicts: string[] = []

  addTable(
    {
      table: name,
      columns,
      key
    }: { readonly table: string; readonly key: readonly Column[]; readonly columns: readonly Column[] },
    { owner, versionColumn }: { readonly owner: string; readonly versionColumn: string | undefined }
  ): void {
    const parts = this.#parts(name, owner)
    if (key.length > 1) parts.primaryKey ??= key.map(({ column }) => column)
    for (const own of columns) {
      const { column, field } = own
      const isOfKey = key.some((one) => one.column === column)
      this.#addColumn(name, owner, {
        name: column,
        type: typeOfField(field),
        nullable: field.nullable,
        key: !isOfKey ? 'none' : isKey(key) && keyMaker(own, { key }) === 'database' ? 'autoIncrement' : 'primary'
      })
      if (field.unique && !(isOfKey && key.length === 1)) parts.unique.add(column)
      if (typeof field.defaultTo !== 'object' && field.defaultTo !== undefined) {
        this.#defaults.set(`${name}.${column}`, defaultOfTable(field.type, field.defaultTo))
      }
      if (field.writability === 'generated') this.#filled.set(`${name}.${column}`, 'generated')
      else if (field.filledByDatabase) this.#filled.set(`${name}.${column}`, 'default')
    }
    if (versionColumn !== undefined) {
      const version = { name: versionColumn, type: { kind: 'rowVersion' }, nullable: false, key: 'none' } as const
      this.#addColumn(name, owner, version)
    }
  }

  /** The foreign key of a child comes after its id; rows of another store have none. */
  addChildren(children: Children, { to, owner: parent }: { readonly to: ReferredTable; readonly owner: string }): void {
    const { name, table, resource, key, foreignKey, columns, versionColumn, store, rootWrites } = children
    const owner = `${parent}.${name}`
    if (resource !== undefined) {
      // The table is that of the resource. Whoever deletes a root must not delete rows that have deletes of their own.
      this.addForeignKey(table, foreignKey, { to, onDelete: rootWrites === 'all' ? 'cascade' : 'restrict' })
      return
    }
    const [first, ...others] = columns
    const plain = foreignKey.map((column) => ({ ...column, field: { ...column.field, unique: false } }))
    this.addTable({ table, key, columns: first === undefined ? [] : [first] }, { owner, versionColumn: undefined })
    this.addTable({ table, key, columns: plain }, { owner, versionColumn: undefined })
    this.addTable({ table, key, columns: others }, { owner, versionColumn })
    if (store === 'primary') this.addForeignKey(table, foreignKey, { to, onDelete: 'cascade' })
    else this.#indexed.add(`${table}.${foreignKey[0].column}`)
    for (const one of children.children) this.addChildren(one, { to: children, owner })
  }

  readonly #indexed = new Set<string>()
  readonly #owners = new Set<string>()
  readonly #sorted = new Set<string>()

  /** Every read of an owner looks for its rows by the column. */
  addOwner({ table, key }: Entity, { column, field }: Column): void {
    if (key[0]?.column !== column && !field.unique) this.#owners.add(`${table}.${column}`)
  }

  /** A row of an aggregate goes with its root, also where it is a resource of its own that refers to the root. */
  addForeignKey(
    table: string,
    via: KeyColumns,
    { to, onDelete }: { readonly to: ReferredTable; readonly onDelete: ForeignKey['onDelete'] }
  ): void {
    const { foreignKeys } = this.#parts(table, table)
    const columns = via.map(({ column }) => column)
    if (foreignKeys.get(columns.join())?.onDelete === 'cascade') return
    foreignKeys.set(columns.join(), {
      name: `${table}_${via[0].column}_fk`,
      columns,
      to: to.table,
      toColumns: to.key.map(({ column }) => column),
      onDelete
    })
  }

  addSorted({ table, column, isOfKey }: SortedColumn): void {
    if (!isOfKey) this.#sorted.add(`${table}.${column}`)
  }

  addFullText(entity: Entity): void {
    const keys = searchedColumns(entity).map(({ column }) => ({ column, descending: false }))
    this.#parts(entity.table, entity.name).fullText = { unique: false, keys, fullText: true }
  }

  tables(): EntityTables {
    const tables = Array.from(this.#tables, ([name, parts]): [string, Table] => {
      const columns = [...parts.columns.values()]
      // The row version stands last, whatever came after it.
      const [versions, others] = [columns.filter(isRowVersion), columns.filter((column) => !isRowVersion(column))]
      return [
        name,
        {
          name,
          columns: [...others, ...versions],
          ...(parts.primaryKey === undefined ? {} : { primaryKey: parts.primaryKey }),
          indexes: [
            ...others.flatMap((column) => this.#indexesOf(name, column, parts)),
            ...compositeIndexes(name, parts),
            ...(parts.fullText === undefined ? [] : [{ ...parts.fullText, name: indexName(name, parts.fullText) }])
          ],
          foreignKeys: [...parts.foreignKeys.values()]
        }
      ]
    })
    return {
      tables: new Map(tables),
      defaults: this.#defaults,
      filled: this.#filled,
      owners: new Set([...this.#owners].filter((one) => !this.#sorted.has(one))),
      conflicts: this.#conflicts
    }
  }

  #indexesOf(table: string, { name: column, type }: TableColumn, parts: DraftTable): TableIndex[] {
    const { unique, foreignKeys, primaryKey } = parts
    const ascending = { column, descending: false }
    const name = `${table}_${column}`
    // No index takes the whole of a TEXT column.
    const isSorted = type.kind !== 'text' && this.#sorted.has(`${table}.${column}`)
    const isLeading = primaryKey?.[0] === column
    const isReferring = (foreignKeys.has(column) || this.#indexed.has(`${table}.${column}`)) && !isLeading
    const isFound = isSorted || isReferring || this.#owners.has(`${table}.${column}`)
    return [
      ...(unique.has(column) ? [{ name: `${name}_unique`, unique: true, keys: [ascending] }] : []),
      ...(isFound ? [{ name, unique: false, keys: [ascending] }] : [])
    ]
  }

  #parts(name: string, owner: string): DraftTable {
    const parts = this.#tables.get(name) ?? {
      owner,
      columns: new Map<string, TableColumn>(),
      primaryKey: undefined,
      unique: new Set<string>(),
      foreignKeys: new Map<string, ForeignKey>()
    }
    this.#tables.set(name, parts)
    return parts
  }

  #addColumn(table: string, owner: string, column: TableColumn): void {
    const parts = this.#parts(table, owner)
    const other = parts.columns.get(column.name)
    parts.columns.set(column.name, other ?? column)
    if (other === undefined || (sameType(other.type, column.type) && other.nullable === column.nullable)) return
    this.#conflicts.push(
      `${owner} and ${parts.owner} say different things of ${table}.${column.name}: ` +
        `${typeText(column)} and ${typeText(other)}`
    )
  }
}

const isRowVersion = ({ type }: TableColumn): boolean => type.kind === 'rowVersion'

/** The indexes of foreign keys of several columns, unless the primary key begins with them. */
function compositeIndexes(table: string, { foreignKeys, primaryKey = [] }: DraftTable): TableIndex[] {
  return [...foreignKeys.values()].flatMap(({ columns }): TableIndex[] => {
    const isServed = columns.every((column, at) => primaryKey[at] === column)
    if (columns.length === 1 || isServed) return []
    const keys = columns.map((column) => ({ column, descending: false }))
    return [{ name: `${table}_${columns.join('_')}`, unique: false, keys }]
  })
}

/** Tables have bytes as base64. */
function defaultOfTable(type: Field['type'], value: Operand): Operand {
  return type === 'base64url' ? bytesOfBase64url(value).toString('base64') : value
}

function typeOfField(field: Field): ColumnType {
  const { type, storage, unsigned, precision, maxLength, maxBytes, words } = field
  const sign = unsigned ? ({ unsigned } as const) : {}
  if (storage === 'bits') return { kind: 'bit', bits: precision }
  switch (type) {
    case 'string':
      if (maxBytes !== undefined) return { kind: 'text', bytes: maxBytes }
      // A character takes up to four bytes.
      return maxLength > LONGEST_VARCHAR
        ? { kind: 'text', bytes: 4 * maxLength }
        : { kind: 'varchar', length: maxLength }
    case 'bool':
      return { kind: 'boolean' }
    case 'int':
      return storage === 'year' ? { kind: 'year' } : { kind: INT_KINDS[storage], ...sign }
    case 'long':
      return { kind: 'bigint', ...sign }
    case 'decimal':
      return { kind: 'decimal', precision, scale: field.scale }
    case 'double':
      return { kind: storage === 'float' ? 'float' : 'double' }
    case 'dateTime':
      return precision === 3 ? { kind: 'datetime' } : { kind: 'datetime', precision }
    case 'time':
      return precision === 0 ? { kind: 'time' } : { kind: 'time', precision }
    case 'enum':
    case 'set':
      return { kind: type, words }
    case 'binary':
    case 'base64url':
      return { kind: field.minLength === maxLength ? 'binary' : 'varbinary', length: maxLength }
    case 'date':
    case 'guid':
    case 'json':
      return { kind: type }
  }
}

const INT_KINDS = {
  usual: 'int',
  tinyInt: 'tinyint',
  smallInt: 'smallint',
  mediumInt: 'mediumint',
  float: 'int',
  flag: 'int'
} as const
