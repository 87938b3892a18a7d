import type { Entity } from '../../data-service/entity/entity.js'
import type { Column, KeyColumns } from '../../data-service/entity/fields/columns.js'
import { keyed } from '../../data-service/entity/key.js'
import type { Field } from '../../data-service/entity/fields/field.js'
import { rangeOf } from '../../data-service/entity/fields/numbers.js'
import type { DatabaseKind } from '../stack/databases.js'
import type { OracleRow } from './load-rows.js'
import { answer, inOrder, type OracleAnswer, type OracleQuery } from './read-oracle.js'
import type { OracleProperty } from './resource.js'
import type { RawRow, TestDatabase } from './test-database.js'
import { stored, type WireValue, wireValue } from './wire-value.js'

// The oracle for an application's own entities: their rows by hand-written SQL, and what a read of them must answer.

/**
 * What a paged read of an entity must answer to a caller who sees all of these rows and all columns, worked out in memory:
 * the codes of all violations, or the page and the number of rows on all pages. `rows` are those of `loadEntityRows`,
 * without the rows that the caller does not see. Strings compare without case and accents as in contract.md section 4;
 * sorted by such a column, strings that differ in punctuation may come in another order from a database. `kind`: that of the
 * database, on which it depends how `fullText(…)` is searched. Default: sqlite.
 */
export function readOracle(
  entity: Entity,
  rows: readonly OracleRow[],
  query: OracleQuery & { readonly kind?: DatabaseKind }
): OracleAnswer {
  return answer(
    {
      name: entity.name,
      from: '',
      properties: propertiesOf(entity),
      searchable: entity.searchable,
      fullText: entity.fullText && query.kind === 'mysql',
      key: keyNames(entity)
    },
    rows,
    query
  )
}

/** The properties that a key consists of, in its order. */
export function keyNames({ key }: Entity): string[] {
  return key.map(({ name }) => name)
}

function propertiesOf({ columns, joined, filterable, sortable }: Entity): OracleProperty[] {
  const shown = [
    ...columns.filter(({ field }) => !field.hidden).map(({ name, field }) => ({ name, field, selectable: true })),
    ...joined.map(({ name, field }) => ({ name, field, selectable: false }))
  ]
  return shown.map(({ name, field, selectable }) => ({
    ...propertyOf(name, field),
    selectable,
    filterable: filterable.has(name),
    sortable: sortable.has(name)
  }))
}

export function propertyOf(name: string, field: Field): OracleProperty {
  const { type, nullable, scale, precision, unsigned, words } = field
  const range = type === 'int' || type === 'long' ? { range: rangeOf(field) } : {}
  return { name, type, nullable, scale, fraction: precision, unsigned, words, ...range, sql: name, selectable: true }
}

/**
 * Every row of an entity by property, as on the wire, in order of id: read by a SELECT of its own, past the service. Hidden
 * columns are there too, and joined properties, looked up in the rows of the `entities` that they come from.
 */
export async function loadEntityRows(
  database: TestDatabase,
  entity: Entity,
  entities: readonly Entity[]
): Promise<OracleRow[]> {
  const entityNamed = (name: string): Entity => {
    const found = entities.find((one) => one.name === name)
    if (found === undefined) throw new TypeError(`There is no entity ${name}.`)
    return found
  }
  const rows = await tableRows(database, entity)
  const joins = await Promise.all(
    entity.joined.map(async ({ name, through, further, property }) => {
      // From the last step to the first: what a row of each resource on the way shows.
      const targets = [entityNamed(through.to)]
      const keys: KeyColumns[] = []
      for (const step of further) {
        const reference = targets.at(-1)?.references.find((one) => one.name === step)
        if (reference === undefined) throw new Error(`no ${step}`)
        keys.push(reference.via)
        targets.push(entityNamed(reference.to))
      }
      let found = new Map<string | null, WireValue>()
      for (const [at, target] of targets.toReversed().entries()) {
        const key = keys.toReversed()[at - 1]
        const valueOf = (row: OracleRow): WireValue =>
          key === undefined ? (row[property] ?? null) : (found.get(idIn(row, key)) ?? null)
        found = new Map((await tableRows(database, target)).map((row) => [String(row['id']), valueOf(row)]))
      }
      return { name, via: through.via, found }
    })
  )
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(joins.map(({ name, via, found }) => [name, found.get(idIn(row, via)) ?? null]))
  }))
}

/** A name as both databases take it, which may be one of their words. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

/** The quoted columns of a key. */
export function keyColumns({ key }: { readonly key: readonly Column[] }): string {
  return key.map(({ column }) => quoted(column)).join(', ')
}

/**
 * The text of the `id` that these columns of a row hold, null where one of them is null: the value itself, or the values
 * with commas between them, in which `%`, `,` and `/` are percent-encoded (contract section 3).
 */
export function idIn(row: OracleRow, columns: readonly Column[]): string | null {
  const parts = columns.map(({ name }) => row[name] ?? null)
  if (parts.includes(null)) return null
  if (parts.length === 1) return String(parts[0])
  const encoded = (part: WireValue): string =>
    String(part).replaceAll('%', '%25').replaceAll(',', '%2C').replaceAll('/', '%2F')
  return parts.map(encoded).join(',')
}

/** The parts of the `id` of a composite key, or the `id` itself. */
export function partsOfId(id: string, { key }: { readonly key: KeyColumns }): string[] {
  return key.length === 1 ? [id] : id.split(',').map((part) => decodeURIComponent(part))
}

/**
 * Every row of an entity's table by SQL of our own, past the service, in order of id; hidden columns included, and the text
 * of a composite key as `id`.
 */
export async function tableRows(database: TestDatabase, entity: Entity): Promise<OracleRow[]> {
  const rows = await database.run(`${await selectFrom(database, entity)} ORDER BY ${keyColumns(entity)}`)
  return inOrder(
    rows.map((row) => wireRow(entity, row)),
    propertiesOfKey(entity)
  )
}

/** The row of an entity's table with the id, as `tableRows` has it. */
export async function tableRow(database: TestDatabase, entity: Entity, id: string): Promise<OracleRow | undefined> {
  const { key } = entity
  const condition = key.map(({ column }) => `${quoted(column)} = ?`).join(' AND ')
  const parts = partsOfId(id, keyed(entity)).map((part, at) => stored(database.kind, key[at]?.field ?? TEXT, part))
  const [row] = await database.run(`${await selectFrom(database, entity)} WHERE ${condition}`, parts)
  return row === undefined ? undefined : wireRow(entity, row)
}

const TEXT = { type: 'string' } as const

async function selectFrom(database: TestDatabase, { table, columns }: Entity): Promise<string> {
  const names = columns.map(({ column }) => quoted(column)).join(', ')
  return `SELECT ${names} FROM ${quoted(await standingTable(database, table))}`
}

function wireRow({ columns, key }: Entity, row: RawRow): OracleRow {
  const values = Object.fromEntries(
    columns.map(({ name, column, field }) => [name, wireValue(propertyOf(name, field), row[column] ?? null)])
  )
  return key.length === 1 ? values : { id: idIn(values, key), ...values }
}

function propertiesOfKey({ key }: Entity): OracleProperty[] {
  return key.map(({ name, field }) => propertyOf(name, field))
}

/** Entity files call the engine's audit entries `audit_entries`, whatever prefix they have in a database. */
async function standingTable(database: TestDatabase, table: string): Promise<string> {
  if (table !== 'audit_entries') return table
  const rows =
    database.kind === 'sqlite'
      ? await database.run("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%audit_entries'")
      : await database.run(
          "SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE '%audit_entries'"
        )
  return String(rows[0]?.['name'] ?? table)
}
