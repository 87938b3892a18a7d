import {
  applyStep,
  type ColumnDefault,
  type ColumnType,
  type ForeignKey,
  freeName,
  partNames,
  primaryKeyOf,
  type Schema,
  type Table,
  type TableColumn,
  type TableIndex,
  type TableStep
} from '../model/tables.js'
import type { EntityTables } from './entity-tables.js'
import { sameType, typeChange, typeText } from './type-change.js'

/** The steps that turn the tables of the migrations into those of the entities. */
export interface Difference {
  /** In the order in which they run. */
  readonly steps: readonly TableStep[]
  /** Differences that no step covers unless the author says more, a sentence each that names the flag. */
  readonly problems: readonly string[]
  /** Tables, columns and indexes that migrations made and that are in no entity file. They stay unless drops are allowed. */
  readonly kept: readonly string[]
}

export interface DifferenceOptions {
  /** Names of tables of the engine, which are never dropped. */
  readonly engineTables: ReadonlySet<string>
  /** From `table` to another name, or from `table.column` to another column. */
  readonly renames?: ReadonlyMap<string, string>
  /** The values of rows that are there, by `table.column`. */
  readonly defaults?: ReadonlyMap<string, string>
  readonly allowDrops?: boolean
  readonly allowDataLoss?: boolean
}

/**
 * Compares the tables that all migrations make with those that the entities need.
 */
export function difference(made: Schema, wanted: EntityTables, options: DifferenceOptions): Difference {
  const work = new Differences(made, wanted, options)
  work.rename()
  work.createTables()
  work.compareKeys()
  const altered = work.alterations()
  work.dropForeignKeys(altered)
  work.addColumns()
  work.alterColumns(altered)
  work.addForeignKeys()
  work.addIndexes()
  work.drop()
  return { steps: work.steps, problems: [...wanted.conflicts, ...work.problems], kept: work.kept }
}

class Differences {
  readonly steps: TableStep[] = []
  readonly problems: string[] = []
  readonly kept: string[] = []
  /** The tables after the steps so far. */
  #schema: Schema
  readonly #wanted: EntityTables
  readonly #options: DifferenceOptions
  /** Foreign keys to add at the end: those dropped for an alteration, and those of tables that refer to each other. */
  readonly #later: { readonly table: string; readonly key: ForeignKey }[] = []

  constructor(made: Schema, wanted: EntityTables, options: DifferenceOptions) {
    this.#schema = made
    this.#wanted = wanted
    this.#options = options
  }

  rename(): void {
    for (const [from, to] of this.#options.renames ?? []) {
      const [table = '', column] = from.split('.')
      const found = this.#schema.get(table)
      if (found === undefined) this.problems.push(`--rename ${from}:${to}: no migration makes the table ${table}`)
      else if (column === undefined) this.#add({ kind: 'renameTable', table, to })
      else if (found.columns.some(({ name }) => name === column)) {
        this.#add({ kind: 'renameColumn', table, from: column, to })
      } else this.problems.push(`--rename ${from}:${to}: the table ${table} has no column ${column}`)
    }
  }

  /** A table comes after those that it refers to. Of tables that refer to each other the last gets its key afterwards. */
  createTables(): void {
    const missing = [...this.#wanted.tables.values()].filter(({ name }) => !this.#schema.has(name))
    const ordered: Table[] = []
    const visit = (table: Table, way: readonly Table[]): void => {
      if (ordered.includes(table) || way.includes(table)) return
      for (const { to } of table.foreignKeys) {
        const target = missing.find(({ name }) => name === to)
        if (target !== undefined) visit(target, [...way, table])
      }
      ordered.push(table)
    }
    for (const table of missing) visit(table, [])
    for (const table of ordered) {
      const isThere = ({ to }: ForeignKey): boolean => to === table.name || this.#schema.has(to)
      const foreignKeys = table.foreignKeys.filter(isThere)
      for (const key of table.foreignKeys) if (!isThere(key)) this.#later.push({ table: table.name, key })
      const columns = table.columns.flatMap((column) => this.#filledBy(table, column))
      // #filledBy has added a problem that says why.
      if (columns.length < table.columns.length) continue
      const definition = {
        ...table,
        columns,
        indexes: this.#named('indexes', table.indexes),
        foreignKeys: this.#named('foreignKeys', foreignKeys)
      }
      this.#add({ kind: 'createTable', table: table.name, definition })
    }
  }

  /** No step changes a primary key, since rows are found and referred to by it. A unique index of the same columns is enough. */
  compareKeys(): void {
    for (const [made, wanted] of this.#both()) {
      const [before, after] = [primaryKeyOf(made), primaryKeyOf(wanted)]
      const isServed = made.indexes.some(
        ({ unique, keys }) =>
          unique &&
          isSameSet(
            keys.map(({ column }) => column),
            after
          )
      )
      // An entity may do without the key that its table has.
      if (before.join() === after.join() || isServed || after.length === 0) continue
      this.problems.push(
        `${made.name} has the primary key (${before.join(', ')}) in the migrations and (${after.join(', ')}) in its ` +
          'entity: no step changes that. Make a table with the other key, fill it in a step of sql(…), and drop the old one'
      )
    }
  }

  /** The columns whose type changes, or which may be null or not. */
  alterations(): Alteration[] {
    return this.#both().flatMap(([made, wanted]) =>
      wanted.columns.flatMap((column) => {
        const before = made.columns.find(({ name }) => name === column.name)
        if (before === undefined || (sameType(before.type, column.type) && before.nullable === column.nullable))
          return []
        const alteration = this.#alteration(made.name, before, column)
        return alteration === undefined ? [] : [alteration]
      })
    )
  }

  #alteration(table: string, before: TableColumn, wanted: TableColumn): Alteration | undefined {
    const column = { ...wanted, type: keptAsText(before.type, wanted.type) }
    const name = `${table}.${column.name}`
    const changes = `${name} is ${typeText(before)} in the migrations and ${typeText(column)} in its entity`
    const change = typeChange(before.type, column.type)
    if (change === 'other') {
      this.problems.push(
        `${changes}: no step converts that. Add a column, fill it in a step of sql(…), and drop the old one`
      )
      return undefined
    }
    if (change === 'narrower' && this.#options.allowDataLoss !== true) {
      this.problems.push(`${changes}: values may not fit any more. --allow-data-loss writes it all the same`)
      return undefined
    }
    // A flag that becomes a number has another default.
    const isKept = change === 'same' || (change === 'wider' && typeof before.defaultTo !== 'boolean')
    const kept = isKept && before.defaultTo !== undefined ? { defaultTo: before.defaultTo } : {}
    if (!before.nullable || column.nullable) return { table, before, column: { ...column, ...kept } }
    const defaultTo = this.#defaultOf(name, column)
    if (defaultTo === undefined) {
      this.problems.push(
        `${changes}: rows that are there may have no value. Give them one by defaultTo(…) in the entity file or by ` +
          `--default ${name}=value`
      )
      return undefined
    }
    return { table, before, column: { ...column, defaultTo } }
  }

  /**
   * Drops the foreign keys of columns whose type changes on either side, and those whose target or ON DELETE is another
   * in the entities.
   */
  dropForeignKeys(altered: readonly Alteration[]): void {
    const typed = altered.filter(({ before, column }) => !sameType(before.type, column.type))
    const isTyped = (table: string, column: string): boolean =>
      typed.some((one) => one.table === table && one.column.name === column)
    for (const { name: table, foreignKeys } of this.#schema.values()) {
      const wanted = this.#wanted.tables.get(table)?.foreignKeys ?? []
      const dropped = foreignKeys.filter((key) => {
        const replaced = wanted.some((one) => one.columns.join() === key.columns.join() && !sameKey(one, key))
        const between =
          key.columns.some((column) => isTyped(table, column)) ||
          key.toColumns.some((column) => isTyped(key.to, column))
        if (between && !replaced) this.#later.push({ table, key })
        return replaced || between
      })
      if (dropped.length === 0) continue
      this.#add({ kind: 'dropForeignKeys', table, foreignKeys: dropped.map(({ name }) => name) })
    }
  }

  addColumns(): void {
    for (const [made, wanted] of this.#both()) {
      const missing = wanted.columns.filter(({ name }) => !made.columns.some((one) => one.name === name))
      const columns = missing.flatMap((column) => this.#addable(wanted, column))
      if (columns.length === 0) continue
      const isNew = (column: string): boolean => columns.some(({ name }) => name === column)
      const indexes = wanted.indexes.filter(({ keys }) => keys.every(({ column }) => isNew(column)))
      this.#add({
        kind: 'addColumns',
        table: made.name,
        columns,
        indexes: this.#named('indexes', indexes),
        foreignKeys: this.#named(
          'foreignKeys',
          wanted.foreignKeys.filter(({ columns: own, to }) => own.every(isNew) && this.#schema.has(to))
        )
      })
    }
  }

  /** Rows that are there, and replicas of the version before, have no value for a new column. */
  #addable(table: Table, column: TableColumn): TableColumn[] {
    if (this.#wanted.filled.has(`${table.name}.${column.name}`)) return this.#filledBy(table, column)
    if (column.nullable || column.type.kind === 'rowVersion') return [column]
    const name = `${table.name}.${column.name}`
    const defaultTo = this.#defaultOf(name, column)
    const isUnique = table.indexes.some((index) => index.unique && index.keys[0]?.column === column.name)
    if (defaultTo !== undefined && !isUnique) return [{ ...column, defaultTo }]
    this.problems.push(
      isUnique
        ? `${name} is new, unique and never null: rows that are there would all have one value. Make it optional(…), ` +
            'fill it in a step of sql(…), and require it in a later migration'
        : `${name} is new and never null: rows that are there have no value. Make it optional(…), or give them one by ` +
            `defaultTo(…) in the entity file or by --default ${name}=value`
    )
    return []
  }

  /** A new column with the default that the database fills it with. None, and a problem, if nothing says how it is filled. */
  #filledBy(table: Table, column: TableColumn): TableColumn[] {
    const name = `${table.name}.${column.name}`
    const filled = this.#wanted.filled.get(name)
    if (filled === undefined) return [column]
    const defaultTo = filled === 'default' ? this.#defaultOf(name, column) : undefined
    if (defaultTo !== undefined) return [{ ...column, defaultTo }]
    this.problems.push(
      filled === 'default'
        ? `${name} is filledByDatabase(…): say its default by --default ${name}=value, or make the column in a step of ` +
            'sql(…) where it is an expression'
        : `${name} is generated(…): no word of migrations says how. Make the column in a step of sql(…) and say in its ` +
            'second argument what it leaves'
    )
    return []
  }

  #defaultOf(name: string, { type }: TableColumn): ColumnDefault | undefined {
    const given = this.#options.defaults?.get(name)
    if (given === undefined) return this.#wanted.defaults.get(name)
    switch (type.kind) {
      case 'boolean':
        if (given !== 'true' && given !== 'false') this.problems.push(`--default ${name} must be true or false`)
        return given === 'true'
      case 'tinyint':
      case 'smallint':
      case 'mediumint':
      case 'year':
      case 'int':
        if (/^-?\d{1,10}$/.test(given)) return Number(given)
        this.problems.push(`--default ${name} must be a whole number, not ${JSON.stringify(given)}`)
        return 0
      case 'double':
      case 'float':
        if (/^-?\d+(?:\.\d+)?$/.test(given)) return Number(given)
        this.problems.push(`--default ${name} must be a number, not ${JSON.stringify(given)}`)
        return 0
      case 'enum':
        if (!type.words.includes(given)) {
          this.problems.push(`--default ${name} must be one of ${type.words.join(', ')}, not ${JSON.stringify(given)}`)
        }
        return given
      case 'bigint':
        if (!/^-?\d{1,20}$/.test(given)) {
          this.problems.push(`--default ${name} must be a whole number, not ${JSON.stringify(given)}`)
        }
        return given
      case 'decimal':
        if (!/^-?\d+(?:\.\d+)?$/.test(given)) {
          this.problems.push(`--default ${name} must be a decimal such as 19.90, not ${JSON.stringify(given)}`)
        }
        return given
      default:
        return given
    }
  }

  alterColumns(altered: readonly Alteration[]): void {
    for (const { table, column } of altered) this.#add({ kind: 'alterColumn', table, column })
  }

  addForeignKeys(): void {
    const wanted = this.#both().flatMap(([made, { foreignKeys }]) =>
      foreignKeys
        .filter((key) => key.columns.every((column) => made.columns.some(({ name }) => name === column)))
        .map((key) => ({ table: made.name, key }))
    )
    for (const { table, key } of [...this.#later, ...wanted]) {
      const made = this.#schema.get(table)
      if (made === undefined || made.foreignKeys.some((one) => sameKey(one, key))) continue
      this.#add({ kind: 'addForeignKeys', table, foreignKeys: this.#named('foreignKeys', [key]) })
    }
    for (const { name: table, columns, foreignKeys } of this.#schema.values()) {
      for (const { column, to, toColumn } of foreignKeys.flatMap(columnPairs)) {
        const from = columns.find(({ name }) => name === column)
        const target = this.#schema.get(to)?.columns.find(({ name }) => name === toColumn)
        if (from === undefined || target === undefined || sameType(from.type, target.type)) continue
        const types = `${typeText({ ...from, nullable: false })} and ${typeText({ ...target, nullable: false })}`
        this.problems.push(`${table}.${column} refers to ${to}.${toColumn} and must have its type: they are ${types}`)
      }
    }
  }

  addIndexes(): void {
    for (const [made, wanted] of this.#both()) {
      const there = new Set(made.indexes.map((index) => formOf(made, index)))
      const indexes = wanted.indexes.filter(
        (index) =>
          !there.has(formOf(made, index)) &&
          !this.#isServedOwner(wanted, made, index) &&
          index.keys.every(({ column }) => made.columns.some(({ name }) => name === column))
      )
      if (indexes.length === 0) continue
      this.#add({ kind: 'addIndexes', table: made.name, indexes: this.#named('indexes', indexes) })
    }
  }

  /** Whether an index of several columns begins with an owner that rows are not sorted by. */
  #isServedOwner(wanted: Table, made: Table, { unique, keys: [first, ...others] }: TableIndex): boolean {
    if (first === undefined || others.length > 0 || unique || first.descending) return false
    if (!this.#wanted.owners.has(`${wanted.name}.${first.column}`)) return false
    return made.indexes.some(({ keys: [key] }) => key?.column === first.column && !key.descending)
  }

  /** Drops what is in no entity file. Sorted indexes of several columns and foreign keys stay: no entity file can say them. */
  drop(): void {
    const { engineTables } = this.#options
    for (const [made, wanted] of this.#both()) {
      if (engineTables.has(made.name)) continue
      const columns = made.columns.filter(
        ({ name, type }) => type.kind !== 'rowVersion' && !wanted.columns.some((one) => one.name === name)
      )
      if (columns.length > 0) {
        this.#dropOrKeep(
          columns.map((column) => `the column ${made.name}.${column.name}${withoutValue(column)}`),
          { kind: 'dropColumns', table: made.name, columns: columns.map(({ name }) => name) }
        )
      }
      const now = this.#schema.get(made.name) ?? made
      const forms = new Set(wanted.indexes.map((index) => formOf(now, index)))
      const indexes = now.indexes.filter((index) => !forms.has(formOf(now, index)) && isOfOneColumn(now, index))
      const unneeded = indexes.filter(
        (index) => !now.foreignKeys.some(({ columns: [column] }) => column === index.keys[0]?.column) || index.unique
      )
      if (unneeded.length > 0) {
        this.#dropOrKeep(
          unneeded.map(({ name, unique }) => `the ${unique ? 'unique ' : ''}index ${name} of ${made.name}`),
          { kind: 'dropIndexes', table: made.name, indexes: unneeded.map(({ name }) => name) }
        )
      }
    }
    const left = [...this.#schema.keys()].filter((name) => !this.#wanted.tables.has(name) && !engineTables.has(name))
    if (this.#options.allowDrops === true) {
      for (const name of this.#schema.keys()) {
        const foreignKeys =
          this.#schema.get(name)?.foreignKeys.filter(({ to }) => left.includes(to) && to !== name) ?? []
        if (foreignKeys.length === 0) continue
        this.#add({ kind: 'dropForeignKeys', table: name, foreignKeys: foreignKeys.map((key) => key.name) })
      }
    }
    for (const name of left) this.#dropOrKeep([`the table ${name}`], { kind: 'dropTable', table: name })
  }

  #dropOrKeep(what: readonly string[], step: TableStep): void {
    if (this.#options.allowDrops === true) this.#add(step)
    else this.kept.push(...what)
  }

  #add(step: TableStep): void {
    this.#schema = applyStep(this.#schema, step)
    this.steps.push(step)
  }

  /** The tables that are there and that the entities name, each as the steps so far leave it. */
  #both(): (readonly [made: Table, wanted: Table])[] {
    return [...this.#wanted.tables.values()].flatMap((wanted) => {
      const made = this.#schema.get(wanted.name)
      return made === undefined ? [] : [[made, wanted] as const]
    })
  }

  /**
   * Names that no other index, or foreign key, has: one that was renamed with its column, or with its table, keeps its old
   * name, and long names are cut to the same beginning. An index has the name of no table either: on SQLite the index of
   * `role.user` cannot have the name of the table `role_user`.
   */
  #named<Part extends TableIndex | ForeignKey>(of: 'indexes' | 'foreignKeys', parts: readonly Part[]): Part[] {
    const tables = of === 'indexes' ? [...this.#schema.keys(), ...this.#wanted.tables.keys()] : []
    const taken = new Set([...tables, ...[...this.#schema.values()].flatMap((table) => partNames(table[of]))])
    return parts.map((part) => {
      const name = freeName(part.name, taken)
      taken.add(name)
      return { ...part, name }
    })
  }
}

/** Words stay in a column of text, which versions before take for text and an index sorts. */
function keptAsText(before: ColumnType, after: ColumnType): ColumnType {
  if (after.kind !== 'enum' || (before.kind !== 'varchar' && before.kind !== 'enum')) return after
  if (before.length === undefined) return after
  return { ...after, length: Math.max(before.length, ...after.words.map((word) => word.length)) }
}

interface Alteration {
  readonly table: string
  readonly before: TableColumn
  readonly column: TableColumn
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}

/** Two indexes of one form do the same, whatever their names. */
function formOf(table: Table, { unique, fullText, keys }: TableIndex): string {
  if (fullText) return `full text of ${keys.map(({ column }) => column).join(',')}`
  let own = keys
  for (const primary of unique ? [] : primaryKeyOf(table).toReversed()) {
    const last = own.at(-1)
    if (own.length > 1 && last?.column === primary && !last.descending) own = own.slice(0, -1)
  }
  return `${unique} ${own.map(({ column, descending }) => `${column}${descending ? ' desc' : ''}`).join(',')}`
}

function isOfOneColumn(table: Table, index: TableIndex): boolean {
  return index.fullText === true || !formOf(table, index).includes(',')
}

function sameKey(one: ForeignKey, other: ForeignKey): boolean {
  const form = ({ columns, to, toColumns, onDelete }: ForeignKey): string =>
    [columns.join(), to, toColumns.join(), onDelete].join(' ')
  return form(one) === form(other)
}

/** Each column of a foreign key with the one that it refers to. */
function columnPairs({
  columns,
  to,
  toColumns
}: ForeignKey): readonly { column: string; to: string; toColumn: string }[] {
  return columns.map((column, at) => ({ column, to, toColumn: toColumns[at] ?? '' }))
}

function withoutValue({ nullable, defaultTo, key }: TableColumn): string {
  if (nullable || defaultTo !== undefined || key !== 'none') return ''
  return ', which is never null, so that no row can be created'
}
