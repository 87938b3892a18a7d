import {
  type AbstractDataTypeConstructor,
  type BelongsTo,
  DataTypes,
  type Model,
  type ModelAttributes,
  type ModelStatic,
  type Sequelize
} from 'sequelize'
import type { Children, Column, Entity, Reference, StoreName } from '../entity/entity.js'
import type { Field } from '../entity/field.js'

export type RowModel = ModelStatic<Model>

interface Table {
  readonly table: string
  readonly columns: readonly Column[]
}

/** Attribute and column of the version that every root and child row has. */
const ROW_VERSION = { name: 'rowVersion', column: 'row_version' } as const

/** The Sequelize models of one database: those of its entities and of the child tables that live in it. */
export class RowModels {
  readonly #sequelize: Sequelize
  readonly #entities = new Map<string, RowModel>()
  readonly #children = new Map<string, RowModel>()

  constructor(sequelize: Sequelize, entities: readonly Entity[], store: StoreName) {
    this.#sequelize = sequelize
    for (const entity of entities) {
      if (store === 'primary') this.#entities.set(entity.name, this.#define(entity, entity.table))
      for (const children of entity.children) {
        if (children.store === store) this.#children.set(children.table, this.#defineChildren(children, entity))
      }
    }
    if (store === 'primary') for (const entity of entities) this.#refer(entity)
  }

  get sequelize(): Sequelize {
    return this.#sequelize
  }

  of(entity: Entity): RowModel {
    return known(this.#entities.get(entity.name), entity.name)
  }

  ofChildren(children: Children): RowModel {
    return known(this.#children.get(children.table), children.table)
  }

  association(entity: Entity, reference: Reference): BelongsTo {
    // #refer makes belongsTo associations and no others.
    return known(this.of(entity).associations[reference.name] as BelongsTo | undefined, reference.name)
  }

  #define({ columns }: Table, table: string): RowModel {
    const attributes: ModelAttributes = Object.fromEntries(columns.map((column) => [column.name, attribute(column)]))
    const rowVersion = { type: DataTypes.BLOB, field: ROW_VERSION.column, allowNull: false }
    return this.#sequelize.define(table, { ...attributes, [ROW_VERSION.name]: rowVersion }, { tableName: table })
  }

  #defineChildren(children: Children, { columns: [id] }: Entity): RowModel {
    const foreignKey = { ...known(id, 'id'), name: children.foreignKey, column: children.foreignKey }
    const columns = children.columns.some(({ column }) => column === children.foreignKey)
      ? children.columns
      : [...children.columns, foreignKey]
    return this.#define({ table: children.table, columns }, children.table)
  }

  #refer(entity: Entity): void {
    for (const { name, to, via } of entity.references) {
      const target = known(this.#entities.get(to), to)
      // Foreign keys are the migrations' business.
      this.of(entity).belongsTo(target, { as: name, foreignKey: via.name, targetKey: 'id', constraints: false })
    }
  }
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new TypeError(`No model of ${name}`)
  return found
}

function attribute({ name, column, field }: Column): ModelAttributes[string] {
  return { type: dataType(field), field: column, allowNull: field.nullable, primaryKey: name === 'id' }
}

function dataType({ type, maxLength, precision, scale }: Field): ReturnType<AbstractDataTypeConstructor> | string {
  switch (type) {
    case 'string':
      return DataTypes.STRING(maxLength)
    case 'bool':
      return DataTypes.BOOLEAN()
    case 'int':
      return DataTypes.INTEGER()
    case 'long':
      return DataTypes.BIGINT()
    case 'decimal':
      return DataTypes.DECIMAL(precision, scale)
    case 'dateTime':
      return DataTypes.DATE(3)
    case 'guid':
      return DataTypes.CHAR(36)
  }
}
