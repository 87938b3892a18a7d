import type { Children, KeyedEntity } from '../../data-service/entity/entity.js'
import type { Column, KeyColumns } from '../../data-service/entity/fields/columns.js'
import { foreignKeys, type ReferredColumn } from '../oracle/foreign-keys.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { stored, type WireValue } from '../oracle/wire-value.js'
import { OWNERS } from './callers.js'
import { type EntityValues, guidOf, madeOf, madeValue, type Values } from './made-values.js'
import { ownerColumn, type Rule } from './rule.js'
import { idIn, keyColumns, quoted, tableRow, tableRows } from '../oracle/entity-oracle.js'
import { columnNames, storedVersion, withNested } from './stored-rows.js'

/** A row as it was put into the database, past the service. */
export interface MadeRow {
  readonly id: string
  /** In base64. */
  readonly version: string
  readonly values: Values
  readonly children: Readonly<Record<string, readonly MadeRow[]>>
}

/** Whose a row is and what of it is not left to chance. */
interface Wish {
  readonly owner?: number
  readonly values?: Values
}

interface Table {
  readonly name: string
  readonly key: KeyColumns
  readonly columns: readonly Column[]
  readonly versionColumn: string | undefined
  readonly entity: KeyedEntity
  /** The name of the children; undefined for the table of the root. */
  readonly children?: string
}

/** What a RowMaker knows of an application. */
interface MakerOptions {
  readonly entities: readonly KeyedEntity[]
  readonly ruleOf: (entity: KeyedEntity) => Rule
  readonly values: Readonly<Record<string, EntityValues>>
}

/** Owners of the rows that each resource begins with; the third one never calls. */
const FIRST_OWNERS = [...OWNERS, 3, ...OWNERS, 3]
const CHILDREN = 2

/** Puts rows into a database, for any entity. */
export class RowMaker {
  readonly ruleOf: MakerOptions['ruleOf']
  readonly #database: TestDatabase
  readonly #entities: readonly KeyedEntity[]
  readonly #values: MakerOptions['values']
  readonly #keys = new Map<string, ReadonlyMap<string, ReferredColumn>>()
  readonly #ids = new Map<string, bigint>()
  #made = 0

  constructor(database: TestDatabase, { entities, ruleOf, values }: MakerOptions) {
    this.#database = database
    this.#entities = entities
    this.ruleOf = ruleOf
    this.#values = values
  }

  /** What was stated of an entity's rows and bodies. */
  valuesOf({ name }: KeyedEntity): EntityValues {
    return this.#values[name] ?? {}
  }

  /** Six rows for each entity, what is referred to first; `states` are those that its rows take turns in. */
  async fill(states: (entity: KeyedEntity) => readonly Values[]): Promise<void> {
    const waiting = new Set(this.#entities)
    const visit = async (entity: KeyedEntity): Promise<void> => {
      if (!waiting.delete(entity)) return
      for (const target of await this.#targets(entity)) await visit(target)
      const all = states(entity)
      for (const [at, owner] of FIRST_OWNERS.entries()) {
        await this.row(entity, {
          owner,
          values: { ...all[at % Math.max(1, all.length)], ...this.valuesOf(entity).firstRows?.[at] }
        })
      }
    }
    for (const entity of this.#entities) await visit(entity)
  }

  /** One more row with its children. */
  async row(entity: KeyedEntity, { owner = OWNERS[0], values = {} }: Wish = {}): Promise<MadeRow> {
    const { table, key, columns, children } = entity
    const stated = this.valuesOf(entity)
    if (stated.madeOf !== undefined) return await this.#seen(entity, stated.madeOf, owner)
    if (stated.given === true) return await this.#given(entity)
    const root = await this.#insert(
      { name: table, key, columns, versionColumn: entity.versionColumn, entity },
      { owner, values: { ...madeOf(stated.rows, this.next()), ...values } }
    )
    return { ...root, children: await this.#children(entity, { children, key, row: root, owner, path: '' }) }
  }

  /** Children of a row, with their own children. Rows of a resource are made as such. */
  async #children(
    entity: KeyedEntity,
    of: {
      readonly children: readonly Children[]
      readonly key: KeyColumns
      readonly row: MadeRow
      readonly owner: number
      /** `lines.` for the children of the children `lines`. */
      readonly path: string
    }
  ): Promise<Record<string, MadeRow[]>> {
    const made: Record<string, MadeRow[]> = {}
    for (const one of of.children.filter(isMadeWithRoot)) {
      const { table: name, key, versionColumn, foreignKey } = one
      const path = `${of.path}${one.name}`
      const own = one.columns.filter(({ column }) => foreignKey.every((other) => other.column !== column))
      const part = { name, key, columns: [...own, ...foreignKey], versionColumn, entity, children: path }
      const ownerKey = foreignKey.map((column, at): [string, WireValue] => [
        column.name,
        of.row.values[of.key[at]?.name ?? ''] ?? null
      ])
      const rows: MadeRow[] = []
      for (let at = 0; at < CHILDREN; at++) {
        const values = {
          ...madeOf(this.valuesOf(entity).children?.[path], this.next()),
          ...Object.fromEntries(ownerKey)
        }
        const row = await this.#insert(part, { owner: of.owner, values })
        const children = await this.#children(entity, { ...of, children: one.children, key, row, path: `${path}.` })
        rows.push({ ...row, children })
      }
      made[one.name] = rows
    }
    return made
  }

  /** A row of a view, which appears with a row of another resource. */
  async #seen(entity: KeyedEntity, source: string, owner: number): Promise<MadeRow> {
    const base = this.#entities.find(({ name }) => name === source)
    if (base === undefined) throw new Error(`${entity.name} is madeOf ${source}, which is no entity.`)
    const { id } = await this.row(base, { owner })
    const row = await tableRow(this.#database, entity, id)
    if (row === undefined) throw new Error(`${entity.name} has no row ${id}, though ${source} has one.`)
    return { id, version: '', values: row, children: {} }
  }

  /** One of the rows that are there. */
  async #given(entity: KeyedEntity): Promise<MadeRow> {
    const rows = await tableRows(this.#database, entity)
    const row = rows[this.next() % Math.max(1, rows.length)]
    if (row === undefined)
      throw new Error(`${entity.name} has no row: make some in \`makeTables\` of describeEveryEntity.`)
    return { id: String(row['id']), version: '', values: row, children: {} }
  }

  /** What a foreign key can hold: the id of a row of the same owner where rows have one; undefined for no such key. */
  async referred(entity: KeyedEntity, column: Column, owner: number): Promise<WireValue | undefined> {
    const target = (await this.#keysOf(entity.table)).get(column.column)
    return target === undefined ? undefined : this.#parent({ target, entity, column, owner })
  }

  /** Values of a composite key that no row has: of its own columns, or of a reference to a new row. */
  async newKey(entity: KeyedEntity, owner: number): Promise<Values> {
    const keys = await this.#keysOf(entity.table)
    const [column] = newParts(entity, keys)
    if (column === undefined) return {}
    const target = keys.get(column.column)
    return {
      [column.name]:
        target === undefined
          ? newValue(column, this.next())
          : await this.#parent({ target, entity, column, owner, isNew: true })
    }
  }

  /** As `referred`, of a child's column. */
  async referredByChild(
    entity: KeyedEntity,
    { table, name }: Children,
    column: Column
  ): Promise<WireValue | undefined> {
    const target = (await this.#keysOf(table)).get(column.column)
    return target === undefined ? undefined : this.#parent({ target, entity, children: name, column, owner: OWNERS[0] })
  }

  /** A number that no row was made with before. */
  next(): number {
    this.#made += 1
    return this.#made
  }

  async #insert(table: Table, { owner, values }: Required<Wish>): Promise<MadeRow> {
    const { name, columns, versionColumn, entity } = table
    const strangers = Object.keys(values).filter((one) => columns.every((column) => column.name !== one))
    if (strangers.length > 0) {
      throw new Error(`The values of ${entity.name} name ${strangers.join(', ')}, which ${name} has no property for.`)
    }
    const n = this.next()
    const keys = await this.#keysOf(name)
    const row: Record<string, WireValue> = {}
    const fresh = newParts(table, keys)
    for (const column of columns.filter(({ field }) => field.writability !== 'generated')) {
      row[column.name] = Object.hasOwn(values, column.name)
        ? (values[column.name] ?? null)
        : await this.#value(table, { column, keys, owner, n, isNew: fresh.includes(column) })
    }
    const version = Buffer.alloc(8)
    version.writeBigUInt64BE(0x0700_0000_0000_0000n + BigInt(n))
    // A table may have a version that the resource does not show.
    const versions = [versionColumn ?? 'row_version']
    const there = await columnNames(this.#database, name)
    const written = columns.filter(({ field }) => field.writability !== 'generated')
    const names = [...written.map(({ column }) => column), ...versions.filter((one) => there.includes(one))].map(quoted)
    const others = Object.entries((table.children === undefined && this.valuesOf(entity).columns) || {})
    const text =
      `INSERT INTO ${quoted(name)} (${[...names, ...others.map(([column]) => quoted(column))].join(', ')}) ` +
      `VALUES (${[...names.map(() => '?'), ...others.map(([, sql]) => sql)].join(', ')})`
    const parameters = [
      ...written.map(({ name: one, field }) => stored(this.#database.kind, field, row[one] ?? null)),
      ...(names.length > written.length ? [version] : [])
    ]
    try {
      await this.#database.run(text, parameters)
    } catch (error) {
      const member = table.children === undefined ? 'rows' : `children: { ${table.children}: …`
      throw new Error(
        `A row of ${name} cannot be inserted: ${String(error)}. It was ${JSON.stringify(row)}. ` +
          `Say in \`values\` of describeEveryEntity what its columns must hold: { '${entity.name}': { ${member}: { … } } }`,
        { cause: error }
      )
    }
    const id = String(idIn(row, table.key))
    const ofContent = entity.contentVersion ? await storedVersion(this.#database, entity, id) : undefined
    return {
      id,
      version: ofContent ?? version.toString('base64'),
      values: table.key.length === 1 ? row : { id, ...row },
      children: {}
    }
  }

  async #value(
    table: Table,
    of: { column: Column; keys: ReadonlyMap<string, ReferredColumn>; owner: number; n: number; isNew: boolean }
  ): Promise<WireValue> {
    const { column, keys, owner, n, isNew } = of
    const { entity, children } = table
    const target = keys.get(column.column)
    if (column.name === 'id' && target === undefined) return this.#newId(table, column, n)
    if (children === undefined && column.name === ownerColumn(this.ruleOf(entity))) return owner
    if (target === undefined) return isNew ? newValue(column, n) : madeValue(column, n)
    // The first rows of a table that refers to itself have nobody to refer to.
    if (column.field.nullable) return null
    return this.#parent({ target, entity, ...(children === undefined ? {} : { children }), column, owner, isNew })
  }

  async #parent(of: {
    target: ReferredColumn
    entity: KeyedEntity
    children?: string
    column: Column
    owner: number
    /** Whether no row may have the value yet. */
    isNew?: boolean
  }): Promise<WireValue> {
    const { target, entity, children, column, owner } = of
    const isNew = of.isNew === true || column.field.unique || column.name === 'id'
    const referred = this.#entities.find(({ table }) => table === target.table)
    const rows = this.#tableNamed(target.table)
    const referredColumn = rows?.columns.find((one) => one.column === target.column) ?? rows?.key[0]
    const path = children === undefined ? column.name : `${children}.${column.name}`
    const values = this.valuesOf(entity).references?.[path]
    if (referred !== undefined && (isNew || values !== undefined)) {
      const made = await this.row(referred, { owner, values: { ...values } })
      return made.values[referredColumn?.name ?? 'id'] ?? null
    }
    const owned = referred && ownerColumn(this.ruleOf(referred))
    const ownedBy = owned === undefined || owned === 'id' ? undefined : columnOf(referred?.columns ?? [], owned).column
    const value = quoted(referredColumn?.column ?? target.column ?? 'id')
    const scope = ownedBy === undefined ? '' : `WHERE ${quoted(ownedBy)} = ${owner}`
    const order = rows === undefined ? value : keyColumns(rows)
    const [row] = await this.#database.run(
      `SELECT ${value} AS id FROM ${quoted(target.table)} ${scope} ORDER BY ${order} LIMIT 1`
    )
    if (row === undefined) {
      const reason = referred === undefined ? 'is the table of no entity' : 'has none yet'
      throw new Error(
        `${entity.name}.${path} needs a row of ${target.table}, which ${reason}: insert one in \`prepare\` of describeEveryEntity.`
      )
    }
    const found = row['id'] ?? null
    // SQLite holds unsigned integers of 64 bits as texts of 20 digits.
    if (typeof found === 'bigint' || column.field.type === 'long') return idValue(BigInt(String(found)), column)
    if (found instanceof Uint8Array) return Buffer.from(found).toString('base64url')
    return found
  }

  #tableNamed(table: string): { readonly key: KeyColumns; readonly columns: readonly Column[] } | undefined {
    return this.#entities
      .flatMap((one) => [one, ...one.children.flatMap(withNested)])
      .find((one) => one.table === table)
  }

  async #newId({ name: table, key }: Table, column: Column, n: number): Promise<WireValue> {
    const { field } = column
    if (field.type === 'guid') return guidOf(n)
    if (['string', 'date', 'base64url'].includes(field.type)) return madeValue(column, n)
    const [row] = await this.#database.run(`SELECT MAX(${keyColumns({ key })}) AS last FROM ${quoted(table)}`)
    const [given, last] = [this.#ids.get(table) ?? 0n, BigInt(String(row?.['last'] ?? 0))]
    // Never that of a row that is gone: what was written down of it is still there.
    const id = (given > last ? given : last) + 1n
    this.#ids.set(table, id)
    return field.type === 'long' ? id.toString() : Number(id)
  }

  /** The entities that a row of this one cannot do without. */
  async #targets(entity: KeyedEntity): Promise<KeyedEntity[]> {
    const referred = new Set<string>()
    for (const { table, columns } of [entity, ...entity.children.filter(isMadeWithRoot).flatMap(withNested)]) {
      const keys = await this.#keysOf(table)
      for (const { name, column, field } of columns) {
        const isOwner = table === entity.table && name === ownerColumn(this.ruleOf(entity))
        const target = field.nullable && !isOwner ? undefined : keys.get(column)
        if (target !== undefined) referred.add(target.table)
      }
    }
    return this.#entities.filter(
      (one) =>
        one !== entity && [one.table, ...one.children.map(({ table }) => table)].some((table) => referred.has(table))
    )
  }

  async #keysOf(table: string): Promise<ReadonlyMap<string, ReferredColumn>> {
    const known = this.#keys.get(table) ?? (await foreignKeys(this.#database, table))
    this.#keys.set(table, known)
    return known
  }
}

/** Children that a row is made with: not those of the other store, nor rows of a resource that has writes of its own. */
function isMadeWithRoot({ store, resource, rootWrites }: Children): boolean {
  return store === 'primary' && (resource === undefined || rootWrites === 'all')
}

/**
 * The column of a composite key that makes the key of a new row new: one that refers to nothing, or the last one. An `id`
 * that refers to another row refers to a new one.
 */
function newParts({ key }: Pick<Table, 'key'>, keys: ReadonlyMap<string, ReferredColumn>): Column[] {
  const own = key.find(({ column }) => !keys.has(column))
  if (key.length === 1) return own === undefined ? [...key] : []
  return [own ?? key.at(-1) ?? key[0]]
}

/** A value that no row has in a part of its key: made integers come again after a thousand. */
function newValue(column: Column, n: number): WireValue {
  const { type, storage, maximum } = column.field
  return type === 'int' && storage === 'usual' && maximum === undefined ? n : madeValue(column, n)
}

function columnOf(columns: readonly Column[], name: string): Column {
  const found = columns.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no column ${name}`)
  return found
}

/** A long is a string on the wire. */
function idValue(id: bigint, { field }: Column): WireValue {
  return field.type === 'long' ? id.toString() : Number(id)
}
