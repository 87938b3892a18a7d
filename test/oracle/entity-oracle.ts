import type { Entity } from '../../data-service/entity/entity.js'
import type { Column, Field } from '../../data-service/entity/field.js'
import { rangeOf } from '../../data-service/entity/numbers.js'
import type { OracleRow } from './load-rows.js'
import { answer, type OracleAnswer, type OracleQuery } from './read-oracle.js'
import type { OracleProperty } from './resource.js'
import type { TestDatabase } from './test-database.js'
import { type WireValue, wireValue } from './wire-value.js'

// The oracle for an application's own entities: their rows by hand-written SQL, and what a read of them must answer.

/**
 * What a paged read of an entity must answer to a caller who sees all of these rows and all columns, worked out in memory:
 * the codes of all violations, or the page and the number of rows on all pages. `rows` are those of `loadEntityRows`,
 * without the rows that the caller does not see. Strings compare without case and accents as in contract.md section 4;
 * sorted by such a column, strings that differ in punctuation may come in another order from a database.
 */
export function readOracle(entity: Entity, rows: readonly OracleRow[], query: OracleQuery): OracleAnswer {
  return answer(
    { name: entity.name, from: '', properties: propertiesOf(entity), searchable: entity.searchable },
    rows,
    query
  )
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
      const keys: string[] = []
      for (const step of further) {
        const reference = targets.at(-1)?.references.find((one) => one.name === step)
        if (reference === undefined) throw new Error(`no ${step}`)
        keys.push(reference.via.name)
        targets.push(entityNamed(reference.to))
      }
      let found = new Map<WireValue, WireValue>()
      for (const [at, target] of targets.toReversed().entries()) {
        const key = keys.toReversed()[at - 1]
        const valueOf = (row: OracleRow): WireValue =>
          key === undefined ? (row[property] ?? null) : (found.get(row[key] ?? null) ?? null)
        found = new Map((await tableRows(database, target)).map((row) => [row['id'] ?? null, valueOf(row)]))
      }
      return { name, via: through.via.name, found }
    })
  )
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(joins.map(({ name, via, found }) => [name, found.get(row[via] ?? null) ?? null]))
  }))
}

/** A name as both databases take it, which may be one of their words. */
export function quoted(name: string): string {
  return `\`${name.replaceAll('`', '``')}\``
}

/** The quoted column of the id, which is the first of an entity and of children. */
export function idColumn([id]: readonly Column[]): string {
  return quoted(id?.column ?? 'id')
}

/** Every row of an entity's table by SQL of our own, past the service, in order of id; hidden columns included. */
export async function tableRows(database: TestDatabase, { table, columns }: Entity): Promise<OracleRow[]> {
  const names = columns.map(({ column }) => quoted(column)).join(', ')
  const rows = await database.run(`SELECT ${names} FROM ${quoted(table)} ORDER BY ${idColumn(columns)}`)
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, column, field }) => [name, wireValue(propertyOf(name, field), row[column] ?? null)])
    )
  )
}
