import { col, literal, Op, type Sequelize, where, type WhereOptions } from 'sequelize'
import { type RowCondition, shapeOf, whereAll } from '../conditions.js'
import type { SqlDialect } from '../dialect.js'
import { LruCache } from '../lru-cache.js'
import { type StatementText, statementText } from '../statement.js'

/** The part of Sequelize's generator that is used here; its types say `unknown`. */
interface ChangeGenerator {
  bulkInsertQuery(table: string, rows: readonly object[], options: object): string
  updateQuery(table: string, values: object, where: WhereOptions, options: object): { readonly query: string }
  deleteQuery(table: string, where: WhereOptions, options: object): string
}

/** Which rows of a table: those that meet all conditions, with one of so many versions, or whatever version. */
export interface Match {
  readonly table: string
  readonly conditions: readonly RowCondition[]
  readonly versions: number
}

const TEXTS_KEPT = 500

/**
 * The texts of one database's changes, each shape compiled once. Values are bound under `r0_<column>` for the first
 * row of an INSERT, `s_<column>` for what an UPDATE sets, `e0` for the first version that a row may have, and as
 * `boundValues` says for conditions.
 */
export class ChangeTexts {
  readonly #generator: ChangeGenerator
  readonly #dialect: SqlDialect
  readonly #compiled = new LruCache<string, StatementText>(TEXTS_KEPT)

  constructor(sequelize: Sequelize, dialect: SqlDialect) {
    // The class behind getQueryInterface() has had these methods through all of Sequelize 6; tests compile every shape.
    this.#generator = sequelize.getQueryInterface().queryGenerator as ChangeGenerator
    this.#dialect = dialect
  }

  insert(table: string, columns: readonly string[], rows: number): StatementText {
    return this.#text(['insert', table, columns, rows], () => {
      const row = (index: number) => Object.fromEntries(columns.map((one) => [one, literal(`$r${index}_${one}`)]))
      return this.#generator.bulkInsertQuery(
        table,
        Array.from({ length: rows }, (_, index) => row(index)),
        {}
      )
    })
  }

  update(match: Match, columns: readonly string[]): StatementText {
    return this.#text(['update', ...keyOf(match), columns], () => {
      const values = Object.fromEntries(columns.map((one) => [one, literal(`$s_${one}`)]))
      return this.#generator.updateQuery(match.table, values, this.#where(match), {}).query
    })
  }

  delete(match: Match): StatementText {
    return this.#text(['delete', ...keyOf(match)], () =>
      this.#generator.deleteQuery(match.table, this.#where(match), {})
    )
  }

  #text(key: readonly unknown[], make: () => string): StatementText {
    return this.#compiled.get(key.join('|'), () => statementText(make()))
  }

  #where({ table, conditions, versions }: Match): WhereOptions {
    if (conditions.some(({ path }) => path.through !== null)) {
      throw new TypeError(`A change of ${table} can be conditioned on its own columns alone`)
    }
    const all = whereAll(conditions, { dialect: this.#dialect, root: table })
    if (versions === 0) return all
    const names = Array.from({ length: versions }, (_, index) => `$e${index}`)
    return { [Op.and]: [all, where(col(`${table}.row_version`), Op.in, literal(`(${names.join(', ')})`))] }
  }
}

function keyOf({ table, conditions, versions }: Match): string[] {
  return [table, shapeOf(conditions), String(versions)]
}
