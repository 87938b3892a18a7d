import {
  DataTypes,
  Model,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize
} from 'sequelize'

/** The products table the way Sequelize's guide declares one; the getters give values their form on the wire. */
export class Product extends Model<InferAttributes<Product>, InferCreationAttributes<Product>> {
  declare id: CreationOptional<number>
  declare name: string
  declare sku: string
  declare categoryId: number
  declare price: string
  declare weightGrams: number | null
  declare barcode: string | null
  declare isActive: boolean
  declare releasedAt: Date | null
  declare externalId: string | null
  declare description: string | null
  declare displayName: CreationOptional<string>
  declare rowVersion: CreationOptional<string>
}

export function defineProduct(sequelize: Sequelize): void {
  Product.init(
    {
      id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
      name: { type: DataTypes.STRING(200), allowNull: false },
      sku: { type: DataTypes.STRING(64), allowNull: false },
      categoryId: { type: DataTypes.INTEGER, allowNull: false },
      price: { type: DataTypes.DECIMAL(10, 2), allowNull: false },
      weightGrams: DataTypes.INTEGER,
      barcode: DataTypes.BIGINT,
      isActive: { type: DataTypes.BOOLEAN, allowNull: false },
      releasedAt: DataTypes.DATE(3),
      externalId: DataTypes.CHAR(36),
      description: DataTypes.STRING(2000),
      displayName: {
        type: DataTypes.VIRTUAL(DataTypes.STRING, ['name', 'sku']),
        get() {
          return `${this.name} (${this.sku})`
        }
      },
      rowVersion: {
        type: DataTypes.BLOB,
        get() {
          const stored: unknown = this.getDataValue('rowVersion')
          return Buffer.isBuffer(stored) ? stored.toString('base64') : ''
        }
      }
    },
    { sequelize, tableName: 'products', underscored: true, timestamps: false }
  )
}
