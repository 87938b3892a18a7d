import type { Model, ModelStatic, Sequelize, WhereOptions } from 'sequelize'
import { InnerMembers, type InnerPackage, requireInner } from '../../../shared/inner-members.js'

// The inner members of Sequelize that are used: nothing public writes the text of a statement without running it, or says how
// many connections of its pool are in use. docs/decisions/053 has the reasons.

export const SEQUELIZE: InnerPackage = { name: 'sequelize', tested: '6.37.8' }

/** What writes the text of statements; the types of Sequelize say `unknown`. */
interface StatementGenerator {
  selectQuery(table: string, options: object, model: ModelStatic<Model>): string
  bulkInsertQuery(table: string, rows: readonly object[], options: object): string
  updateQuery(table: string, values: object, where: WhereOptions, options: object): { readonly query: string }
  deleteQuery(table: string, where: WhereOptions, options: object): string
}

/** `connectionManager`, whose types do not have its pool. */
interface PoolHolder {
  readonly pool: ConnectionPool
}

/** The pool (the package sequelize-pool). */
interface ConnectionPool {
  readonly maxSize: number
  readonly using: number
  readonly available: number
  readonly waiting: number
}

const GENERATOR = new InnerMembers<StatementGenerator>({
  selectQuery: 'function',
  bulkInsertQuery: 'function',
  updateQuery: 'function',
  deleteQuery: 'function'
})
const POOL_HOLDER = new InnerMembers<PoolHolder>({ pool: 'object' })
const CONNECTION_POOL = new InnerMembers<ConnectionPool>({
  maxSize: 'number',
  using: 'number',
  available: 'number',
  waiting: 'number'
})

/** Throws a StartError for a Sequelize without the inner members that are used. */
export function probeSequelize(sequelize: Sequelize, { hasPool }: { readonly hasPool: boolean }): void {
  const holder = sequelize.connectionManager
  requireInner(SEQUELIZE, [
    ...GENERATOR.missingIn(sequelize.getQueryInterface().queryGenerator),
    ...(hasPool ? [...POOL_HOLDER.missingIn(holder), ...CONNECTION_POOL.missingIn(POOL_HOLDER.of(holder).pool)] : [])
  ])
}

export function generatorOf(sequelize: Sequelize): StatementGenerator {
  // The class behind getQueryInterface() has such an object in all versions of Sequelize 6.
  return GENERATOR.of(sequelize.getQueryInterface().queryGenerator as object)
}

export function poolOf(sequelize: Sequelize): ConnectionPool {
  return CONNECTION_POOL.of(POOL_HOLDER.of(sequelize.connectionManager).pool)
}
