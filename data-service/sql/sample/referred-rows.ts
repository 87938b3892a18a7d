import { QueryTypes, type Sequelize } from 'sequelize'
import type { SampleMaker } from './sample-aggregate.js'

/** How many rows new ones refer to, at most. */
export const REFERRED = 1000

/** Looks up what `count` new rows of a resource refer to, and returns what makes them. */
export type BulkMaker = (sequelize: Sequelize, count: number) => Promise<SampleMaker>

/** Throws an Error that says what to load first where there is nothing to refer to. */
export async function atLeastOne<T>(found: Promise<readonly T[]>, resource: string): Promise<readonly T[]> {
  const rows = await found
  if (rows.length === 0) throw new Error(`The new rows refer to ${resource}, and there are none: load some first`)
  return rows
}

/** The lowest ids of a table, ints or longs. */
export async function someIds(sequelize: Sequelize, table: string): Promise<number[]> {
  return (await someKeys(sequelize, table)).map(Number)
}

/** The lowest ids of a table, whatever their type. */
export async function someKeys(sequelize: Sequelize, table: string): Promise<string[]> {
  const rows = await sequelize.query<{ id: unknown }>(`SELECT id FROM ${table} ORDER BY id LIMIT ${REFERRED}`, {
    type: QueryTypes.SELECT
  })
  return rows.map(({ id }) => String(id))
}
