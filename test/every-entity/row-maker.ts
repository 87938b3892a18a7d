import type { Entity } from '../../data-service/entity/entity.js'
import type { Column } from '../../data-service/entity/field.js'
import { foreignKeys } from '../oracle/foreign-keys.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { stored, type WireValue } from '../oracle/wire-value.js'
import { OWNERS } from './caller.js'
import { FIRST_VALUES, PARENT_VALUES, ROW_VALUES } from '../examples/every-entity/domain-values.js'
import { guidOf, madeValue, type Values } from './made-values.js'
import { ruleOf } from './rule-of.js'
import { ownerColumn } from './rule.js'
import { columnNames } from './table-rows.js'

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
  readonly columns: readonly Column[]
  readonly entity: Entity
}

/** Owners of the rows that each resource begins with; the third one never calls. */
const FIRST_OWNERS = [...OWNERS, 3, ...OWNERS, 3]
const CHILDREN = 2

/** Puts rows into a database, for any entity. */
export class RowMaker {
  readonly #database: TestDatabase
  readonly #entities: readonly Entity[]
  readonly #keys = new Map<string, ReadonlyMap<string, string>>()
  readonly #ids = new Map<string, bigint>()
  #made = 0

  constructor(database: TestDatabase, entities: readonly Entity[]) {
    this.#database = database
    this.#entities = entities
  }

  /** Six rows for each entity, what is referred to first; `states` are those that its rows take turns in. */
  async fill(states: (entity: Entity) => readonly Values[]): Promise<void> {
    const waiting = new Set(this.#entities)
    const visit = async (entity: Entity): Promise<void> => {
      if (!waiting.delete(entity)) return
      for (const target of await this.#targets(entity)) await visit(target)
      const all = states(entity)
      for (const [at, owner] of FIRST_OWNERS.entries()) {
        await this.row(entity, {
          owner,
          values: { ...all[at % Math.max(1, all.length)], ...FIRST_VALUES[entity.name]?.[at] }
        })
      }
    }
    for (const entity of this.#entities) await visit(entity)
  }

  /** One more row with its children. */
  async row(entity: Entity, { owner = OWNERS[0], values = {} }: Wish = {}): Promise<MadeRow> {
    const { name, table, columns, children } = entity
    const root = await this.#insert(
      { name: table, columns, entity },
      { owner, values: { ...ROW_VALUES[name], ...values } }
    )
    const made: Record<string, MadeRow[]> = {}
    for (const one of children.filter(({ store }) => store === 'primary')) {
      const parent: Column = { name: one.foreignKey, column: one.foreignKey, field: columnOf(columns, 'id').field }
      const part = { name: one.table, columns: [...one.columns, parent], entity }
      made[one.name] = []
      for (let at = 0; at < CHILDREN; at++) {
        const wish = {
          owner,
          values: { ...ROW_VALUES[`${name}.${one.name}`], [parent.name]: root.values['id'] ?? null }
        }
        made[one.name]?.push(await this.#insert(part, wish))
      }
    }
    return { ...root, children: made }
  }

  /** What a foreign key can hold: the id of a row of the same owner where rows have one; undefined for no such key. */
  async referred(entity: Entity, { name, column, field }: Column, owner: number): Promise<WireValue | undefined> {
    const target = (await this.#keysOf(entity.table)).get(column)
    return target === undefined
      ? undefined
      : this.#parent({ target, unique: field.unique, path: `${entity.name}.${name}`, owner })
  }

  /** As `referred`, of a child's column. */
  async referredByChild(
    entity: Entity,
    table: string,
    { name, column, field }: Column
  ): Promise<WireValue | undefined> {
    const target = (await this.#keysOf(table)).get(column)
    const path = `${entity.name}.${table}.${name}`
    return target === undefined ? undefined : this.#parent({ target, unique: field.unique, path, owner: OWNERS[0] })
  }

  /** A number that no row was made with before. */
  next(): number {
    this.#made += 1
    return this.#made
  }

  async #insert({ name, columns, entity }: Table, { owner, values }: Required<Wish>): Promise<MadeRow> {
    const n = this.next()
    const keys = await this.#keysOf(name)
    const row: Record<string, WireValue> = {}
    for (const column of columns) {
      row[column.name] = Object.hasOwn(values, column.name)
        ? (values[column.name] ?? null)
        : await this.#value({ name, columns, entity }, { column, keys, owner, n })
    }
    const version = Buffer.alloc(8)
    version.writeBigUInt64BE(0x0700_0000_0000_0000n + BigInt(n))
    const versioned = (await columnNames(this.#database, name)).includes('row_version')
    const names = [...columns.map(({ column }) => column), ...(versioned ? ['row_version'] : [])]
    await this.#database.run(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, [
      ...columns.map(({ name: one, field }) => stored(this.#database.kind, field, row[one] ?? null)),
      ...(versioned ? [version] : [])
    ])
    return { id: String(row['id']), version: version.toString('base64'), values: row, children: {} }
  }

  async #value(
    table: Table,
    of: { column: Column; keys: ReadonlyMap<string, string>; owner: number; n: number }
  ): Promise<WireValue> {
    const { column, keys, owner, n } = of
    const isRoot = table.name === table.entity.table
    if (column.name === 'id') return this.#newId(table.name, column, n)
    if (isRoot && column.name === ownerColumn(ruleOf(table.entity))) return owner
    const target = keys.get(column.column)
    if (target === undefined) return madeValue(column, n)
    // The first rows of a table that refers to itself have nobody to refer to.
    if (column.field.nullable) return null
    const path = `${table.entity.name}.${column.name}`
    return this.#parent({ target, unique: column.field.unique, path, owner })
  }

  async #parent(of: { target: string; unique: boolean; path: string; owner: number }): Promise<WireValue> {
    const { target, unique, path, owner } = of
    const entity = this.#entities.find(({ table }) => table === target)
    const values = PARENT_VALUES[path]
    if (entity !== undefined && (unique || values !== undefined)) {
      return (await this.row(entity, { owner, values: { ...values } })).values['id'] ?? null
    }
    const owned = entity && ownerColumn(ruleOf(entity))
    const column = owned === undefined || owned === 'id' ? undefined : columnOf(entity?.columns ?? [], owned).column
    const [row] = await this.#database.run(
      `SELECT id FROM ${target} ${column === undefined ? '' : `WHERE ${column} = ${owner}`} ORDER BY id LIMIT 1`
    )
    if (row === undefined) throw new Error(`${target} has no row for ${path}`)
    return typeof row['id'] === 'bigint' ? Number(row['id']) : (row['id'] ?? null)
  }

  async #newId(table: string, { field }: Column, n: number): Promise<WireValue> {
    if (field.type === 'guid') return guidOf(n)
    const [row] = await this.#database.run(`SELECT MAX(id) AS last FROM ${table}`)
    const [given, last] = [this.#ids.get(table) ?? 0n, BigInt(row?.['last'] ?? 0)]
    // Never that of a row that is gone: what was written down of it is still there.
    const id = (given > last ? given : last) + 1n
    this.#ids.set(table, id)
    return field.type === 'long' ? id.toString() : Number(id)
  }

  async #targets(entity: Entity): Promise<Entity[]> {
    const tables = [
      entity.table,
      ...entity.children.filter(({ store }) => store === 'primary').map(({ table }) => table)
    ]
    const keys = await Promise.all(tables.map((table) => this.#keysOf(table)))
    const referred = new Set(keys.flatMap((one) => [...one.values()]))
    return this.#entities.filter(
      (one) =>
        one !== entity && [one.table, ...one.children.map(({ table }) => table)].some((table) => referred.has(table))
    )
  }

  async #keysOf(table: string): Promise<ReadonlyMap<string, string>> {
    const known = this.#keys.get(table) ?? (await foreignKeys(this.#database, table))
    this.#keys.set(table, known)
    return known
  }
}

function columnOf(columns: readonly Column[], name: string): Column {
  const found = columns.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no column ${name}`)
  return found
}
