import {
  type AbstractDataTypeConstructor,
  type BelongsTo,
  DataTypes,
  type Model,
  type ModelAttributes,
  type ModelStatic,
  type Sequelize
} from 'sequelize'
import type { Children, Column, Entity, KeyColumns, Reference, StoreName } from '../../../entity/entity.js'
import type { Field } from '../../../entity/fields/field.js'
import { isKeyed, type Keyed, keyed } from '../../../entity/key.js'
import { type Join, type Path, stepsOf } from '../../../plan/model/plans.js'
import { quotedIdentifier } from '../../engines/statement.js'

export type RowModel = ModelStatic<Model>

export interface Table {
  readonly key: readonly Column[]
  readonly columns: readonly Column[]
  readonly versionColumn: string | undefined
}

/** The Sequelize models of one database: those of its entities and of the child tables that live in it. */
export class RowModels {
  readonly #sequelize: Sequelize
  readonly #byName: ReadonlyMap<string, Entity>
  readonly #schemas: readonly { readonly table: string; readonly schema: string }[]
  readonly #entities = new Map<string, RowModel>()
  readonly #children = new Map<Children, ChildModel>()
  readonly #foreignKeys = new Map<BelongsTo, KeyColumns>()
  readonly #keys = new Map<RowModel, KeyColumns>()

  constructor(sequelize: Sequelize, entities: readonly Entity[], store: StoreName) {
    this.#sequelize = sequelize
    this.#byName = new Map(entities.map((entity) => [entity.name, entity]))
    this.#schemas = entities.flatMap(({ table, schema }) => (schema === undefined ? [] : [{ table, schema }]))
    for (const entity of entities) {
      if (store === 'primary') this.#entities.set(entity.name, this.#define(entity, entity.table))
      for (const children of entity.children) {
        if (children.store === store) this.#defineChildren(children, entity.name)
      }
    }
    if (store !== 'primary') return
    for (const entity of entities) {
      this.#refer(this.of(entity), entity.references)
      if (isKeyed(entity)) this.#referToOwner(entity, this.of(entity))
    }
  }

  get sequelize(): Sequelize {
    return this.#sequelize
  }

  /**
   * A SELECT with the schema of each table that has one, after FROM and JOIN. Sequelize writes schema and table as one name
   * for MySQL and MariaDB.
   */
  inSchemas(text: string): string {
    return this.#schemas.reduce(
      (named, { table, schema }) =>
        named.replaceAll(
          `${quotedIdentifier(table)} AS `,
          `${quotedIdentifier(schema)}.${quotedIdentifier(table)} AS `
        ),
      text
    )
  }

  of(entity: Entity): RowModel {
    return known(this.#entities.get(entity.name), entity.name)
  }

  ofChildren(children: Children): ChildModel {
    return known(this.#children.get(children), children.name)
  }

  /** The joins that these paths of a table need, each once. */
  joins(root: RowModel, paths: readonly Path[]): readonly JoinShape[] {
    const joins: MutableJoin[] = []
    for (const { through } of paths) {
      let [model, siblings] = [root, joins]
      for (const { name } of through === null ? [] : stepsOf(through)) {
        // Only #belongsTo makes associations.
        const association = known(model.associations[name] as BelongsTo | undefined, name)
        let join = siblings.find((one) => one.association === association)
        if (join === undefined) siblings.push((join = { association, joins: [] }))
        ;[model, siblings] = [association.target, join.joins]
      }
    }
    return joins
  }

  #define({ key, columns, versionColumn }: Table, table: string): RowModel {
    const attributes: ModelAttributes = Object.fromEntries(
      columns.map((column) => [column.name, attribute(column, key)])
    )
    const rowVersion = versionColumn && { type: DataTypes.BLOB, field: versionColumn, allowNull: false }
    const all = { ...attributes, ...(rowVersion && { rowVersion }) }
    return this.#sequelize.define(table, all, { tableName: table })
  }

  #defineChildren(children: Children, owner: string): void {
    const { name, columns, foreignKey, table } = children
    const further = foreignKey.filter((one) => !columns.some(({ column }) => column === one.column))
    const path = `${owner}.${name}`
    this.#children.set(children, {
      model: this.#define({ ...children, columns: [...columns, ...further] }, table),
      path
    })
    for (const one of children.children) this.#defineChildren(one, path)
  }

  #refer(from: RowModel, references: readonly Reference[]): void {
    for (const { name, to, via } of references) {
      const target = known(this.#entities.get(to), to)
      this.#belongsTo(from, target, { as: name, via })
      this.#keys.set(target, keyed(known(this.#byName.get(to), to)).key)
    }
  }

  /**
   * Joins children to the row that they belong to, under the name `OWNER_JOIN`. The foreign key of a child may equal the key of
   * that row in other characters (`a` and `A`), so the key is read from the row itself.
   */
  #referToOwner(owner: ChildrenOwner & { readonly children: readonly Children[] }, target: RowModel): void {
    for (const children of owner.children.filter(({ store }) => store === 'primary')) {
      const { model } = this.ofChildren(children)
      this.#refer(model, children.references)
      if (hasTextKey(owner)) {
        this.#keys.set(target, owner.key)
        this.#belongsTo(model, target, { as: OWNER_JOIN, via: children.foreignKey })
      }
      this.#referToOwner(children, model)
    }
  }

  #belongsTo(from: RowModel, target: RowModel, { as, via }: { readonly as: string; readonly via: KeyColumns }): void {
    // The migrations make the foreign keys, not Sequelize. The condition of a join is that of includeOf.
    const [first] = via
    const foreignKey = Object.entries(from.getAttributes()).find(([, { field }]) => field === first.column)?.[0]
    const association = from.belongsTo(target, { as, foreignKey: known(foreignKey, first.name), constraints: false })
    this.#foreignKeys.set(association, via)
  }

  /** The columns of a join: those of the foreign key, and those of the key that they refer to. */
  columnsOf(association: BelongsTo): { readonly via: KeyColumns; readonly key: KeyColumns } {
    const { as, target } = association
    return { via: known(this.#foreignKeys.get(association), as), key: known(this.#keys.get(target), as) }
  }
}

/** The name of the model of children, after the names of what they belong to: `orders.lines`. */
interface ChildModel {
  readonly model: RowModel
  readonly path: string
}

/** What children belong to: an entity, or the children whose own children they are. */
export interface ChildrenOwner extends Keyed {
  readonly name: string
}

export function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new TypeError(`No model of ${name}`)
  return found
}

function attribute(column: Column, key: readonly Column[]): ModelAttributes[string] {
  const { field } = column
  return { type: dataType(field), field: column.column, allowNull: field.nullable, primaryKey: key.includes(column) }
}

/** Whether the database may take a foreign key for a key that is written in other characters. */
export function hasTextKey({ key }: Keyed): boolean {
  return key.some(({ field }) => field.type === 'string')
}

/** The name of the join from children to the row that they belong to, which is no name of a property. */
const OWNER_JOIN = '$owner'

/** The key of the row that children belong to, as that row has it. */
export function ownerPaths({ name, key }: ChildrenOwner, { foreignKey }: Children): Path[] {
  const through: Join = { name: OWNER_JOIN, to: name, via: foreignKey }
  return key.map((column) => ({ through, column }))
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
    case 'double':
      return DataTypes.DOUBLE()
    case 'dateTime':
      return DataTypes.DATE(3)
    case 'guid':
      return DataTypes.CHAR(36)
    case 'date':
    case 'time':
    case 'enum':
    case 'set':
    case 'json':
      return DataTypes.TEXT()
    case 'binary':
    case 'base64url':
      return DataTypes.BLOB()
  }
}

/** A reference to join, which leads to at most one row, and further ones from that row. */
export interface JoinShape {
  readonly association: BelongsTo
  readonly joins: readonly JoinShape[]
}

interface MutableJoin {
  readonly association: BelongsTo
  readonly joins: MutableJoin[]
}
