import { col, fn, literal } from 'sequelize'
import type { Children, Column, Entity, Reference } from '../entity/entity.js'
import { int } from '../entity/field.js'
import type { Path, SortKey } from '../plan/condition.js'
import {
  columnOf,
  type Expression,
  keyOf,
  pathKey,
  type RowCondition,
  shapeOf,
  type TextContext,
  whereAll
} from './conditions.js'
import type { SqlDialect } from './dialect.js'
import { LruCache } from './lru-cache.js'
import type { RowModels } from './row-models.js'
import { aliasOf, type Lock, selectText } from './select-text.js'
import { type SelectedField, type Statement, statement } from './statement.js'

/** A column to select: of the row, of a row it refers to, or its version. */
export type SelectedColumn = Path | 'rowVersion'

/** The shape of a SELECT of an entity's rows, and the conditions whose shape it has. */
export interface RowsShape {
  readonly entity: Entity
  readonly selected: readonly SelectedColumn[]
  /** Equal for equal `selected` of the entity. */
  readonly selectedKey: string
  readonly conditions: readonly RowCondition[]
  readonly sort: readonly SortKey[]
  readonly cut: 'whole' | 'limit' | 'limit and offset'
  readonly lock?: Lock
}

export interface ChildrenShape {
  readonly owner: Entity
  readonly children: Children
  readonly conditions: readonly RowCondition[]
  readonly lock?: Lock
}

/** Characters of text and key: many thousand statements, or some dozen of the longest that a caller can ask for. */
const TEXT_KEPT = 16_000_000

/** The statements of one database, each shape compiled once. The cache is bounded, since callers choose shapes. */
export class Statements {
  readonly #models: RowModels
  readonly #dialect: SqlDialect
  readonly #compiled = new LruCache<string, Statement>(TEXT_KEPT, (key, { sql }) => key.length + sql.length)

  constructor(models: RowModels, dialect: SqlDialect) {
    this.#models = models
    this.#dialect = dialect
  }

  rows(shape: RowsShape): Statement {
    const { entity, selectedKey, conditions, sort, cut, lock } = shape
    const order = sort.map(({ path, descending }) => `${pathKey(path)} ${descending}`).join()
    const key = ['rows', entity.name, selectedKey, shapeOf(conditions), order, cut, lock].join('|')
    return this.#compiled.get(key, () => this.#compileRows(shape))
  }

  count(entity: Entity, conditions: readonly RowCondition[]): Statement {
    const key = ['count', entity.name, shapeOf(conditions)].join('|')
    return this.#compiled.get(key, () => this.#compileCount(entity, conditions))
  }

  /** Children by owner: the owner's id, the child's columns, its row version; in order of owner and id. */
  children(shape: ChildrenShape): Statement {
    const key = ['children', shape.children.table, shapeOf(shape.conditions), shape.lock].join('|')
    return this.#compiled.get(key, () => this.#compileChildren(shape))
  }

  #compileRows({ entity, selected, conditions, sort, cut, lock }: RowsShape): Statement {
    const model = this.#models.of(entity)
    const context = { dialect: this.#dialect, root: aliasOf(model) }
    const paths = [...selected, ...conditions.map(({ path }) => path), ...sort.map(({ path }) => path)]
    const text = selectText({
      sequelize: this.#models.sequelize,
      model,
      columns: selected.map((column, index) => [selectedColumn(column, context), `c${index}`]),
      joins: joinedBy(paths).map((reference) => this.#models.association(entity, reference)),
      where: whereAll(conditions, context),
      order: sort.map(({ path, descending }) => [keyOf(path, context), descending ? 'DESC' : 'ASC']),
      ...(lock === undefined ? {} : { lock }),
      ...(cut === 'whole' ? {} : { limit: 'limit' }),
      ...(cut === 'limit and offset' ? { offset: 'offset' } : {})
    })
    return statement(text, selected.map(fieldOf), this.#dialect)
  }

  #compileCount(entity: Entity, conditions: readonly RowCondition[]): Statement {
    const model = this.#models.of(entity)
    const text = selectText({
      sequelize: this.#models.sequelize,
      model,
      columns: [[fn('COUNT', literal('*')), 'c0']],
      joins: joinedBy(conditions.map(({ path }) => path)).map((one) => this.#models.association(entity, one)),
      where: whereAll(conditions, { dialect: this.#dialect, root: aliasOf(model) }),
      order: []
    })
    return statement(text, [int()], this.#dialect)
  }

  #compileChildren({ owner, children, conditions, lock }: ChildrenShape): Statement {
    const model = this.#models.ofChildren(children)
    const context = { dialect: this.#dialect, root: aliasOf(model) }
    const foreignKey = { through: null, column: ownerColumn(owner, children) }
    const columns = children.columns.map((column) => ({ through: null, column }))
    const selected = [foreignKey, ...columns, 'rowVersion'] as const
    const text = selectText({
      sequelize: this.#models.sequelize,
      model,
      columns: selected.map((column, index) => [selectedColumn(column, context), `c${index}`]),
      joins: [],
      where: whereAll(conditions, context),
      order: [foreignKey, ...columns.slice(0, 1)].map((path) => [keyOf(path, context), 'ASC']),
      ...(lock === undefined ? {} : { lock })
    })
    return statement(text, selected.map(fieldOf), this.#dialect)
  }
}

/** The child table's column that holds the owner's id, of the id's type. */
export function ownerColumn(owner: Entity, { foreignKey }: Children): Column {
  return { name: foreignKey, column: foreignKey, field: idColumn(owner).field }
}

export function idColumn({ name, columns: [id] }: Pick<Entity, 'name' | 'columns'>): Column {
  if (id === undefined) throw new TypeError(`${name} has no id`)
  return id
}

function selectedColumn(column: SelectedColumn, context: TextContext): Expression {
  return column === 'rowVersion' ? col(`${context.root}.row_version`) : columnOf(column, context)
}

function fieldOf(column: SelectedColumn): SelectedField {
  return column === 'rowVersion' ? column : column.column.field
}

function joinedBy(columns: readonly SelectedColumn[]): Reference[] {
  const references = columns.flatMap((column) =>
    column === 'rowVersion' || column.through === null ? [] : [column.through]
  )
  return [...new Map(references.map((reference) => [reference.name, reference])).values()]
}
