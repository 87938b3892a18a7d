import {
  DataTypes,
  Model,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type NonAttribute,
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

export class Category extends Model<InferAttributes<Category>, InferCreationAttributes<Category>> {
  declare id: CreationOptional<number>
  declare name: string
}

export class Order extends Model<InferAttributes<Order>, InferCreationAttributes<Order>> {
  declare id: CreationOptional<number>
  declare number: string
  declare customerId: number
  declare status: string
  declare total: string
  declare placedAt: Date
  declare paidAt: Date | null
  declare deliveredAt: Date | null
  declare trackingCode: string | null
  declare rowVersion: CreationOptional<string>
  declare lines?: NonAttribute<OrderLine[]>
}

export class OrderLine extends Model<InferAttributes<OrderLine>, InferCreationAttributes<OrderLine>> {
  declare id: CreationOptional<number>
  declare orderId: number
  declare productId: number
  declare variantId: number | null
  declare quantity: number
  declare unitPrice: string
  declare rowVersion: CreationOptional<string>
}

/** A key with the answer kept under it. */
export class IdempotencyKey extends Model<InferAttributes<IdempotencyKey>, InferCreationAttributes<IdempotencyKey>> {
  declare keyHash: Buffer
  declare fingerprint: Buffer
  declare answer: Buffer | null
  declare createdAt: number
  declare expiresAt: number
}

export class AuditEntry extends Model<InferAttributes<AuditEntry>, InferCreationAttributes<AuditEntry>> {
  declare at: Date
  declare subject: string
  declare resource: string
  declare rowId: string
  declare action: string
  declare rowVersion: Buffer
}

const ID = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } as const

const ROW_VERSION = {
  type: DataTypes.BLOB,
  get(this: Model) {
    const stored: unknown = this.getDataValue('rowVersion')
    return Buffer.isBuffer(stored) ? stored.toString('base64') : ''
  }
}

export function defineModels(sequelize: Sequelize): void {
  defineProduct(sequelize)
  const table = (tableName: string) => ({ sequelize, tableName, underscored: true, timestamps: false })
  Category.init({ id: ID, name: { type: DataTypes.STRING(200), allowNull: false } }, table('categories'))
  Order.init(
    {
      id: ID,
      number: { type: DataTypes.STRING(64), allowNull: false },
      customerId: { type: DataTypes.INTEGER, allowNull: false },
      status: { type: DataTypes.STRING(32), allowNull: false },
      total: { type: DataTypes.DECIMAL(12, 2), allowNull: false },
      placedAt: { type: DataTypes.DATE(3), allowNull: false },
      paidAt: DataTypes.DATE(3),
      deliveredAt: DataTypes.DATE(3),
      trackingCode: DataTypes.STRING(64),
      rowVersion: ROW_VERSION
    },
    table('orders')
  )
  OrderLine.init(
    {
      id: ID,
      orderId: { type: DataTypes.INTEGER, allowNull: false },
      productId: { type: DataTypes.INTEGER, allowNull: false },
      variantId: DataTypes.INTEGER,
      quantity: { type: DataTypes.INTEGER, allowNull: false },
      unitPrice: { type: DataTypes.DECIMAL(10, 2), allowNull: false },
      rowVersion: ROW_VERSION
    },
    table('order_lines')
  )
  Order.hasMany(OrderLine, { as: 'lines', foreignKey: 'orderId' })
  IdempotencyKey.init(
    {
      keyHash: { type: DataTypes.BLOB, primaryKey: true },
      fingerprint: { type: DataTypes.BLOB, allowNull: false },
      answer: DataTypes.BLOB,
      createdAt: { type: DataTypes.BIGINT, allowNull: false },
      expiresAt: { type: DataTypes.BIGINT, allowNull: false }
    },
    table('ur_idempotency_keys')
  )
  AuditEntry.init(
    {
      at: { type: DataTypes.DATE(3), allowNull: false },
      subject: { type: DataTypes.STRING(512), allowNull: false },
      resource: { type: DataTypes.STRING(64), allowNull: false },
      rowId: { type: DataTypes.STRING(64), allowNull: false },
      action: { type: DataTypes.STRING(64), allowNull: false },
      rowVersion: { type: DataTypes.BLOB, allowNull: false }
    },
    table('ur_audit_entries')
  )
}

function defineProduct(sequelize: Sequelize): void {
  Product.init(
    {
      id: ID,
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
      rowVersion: ROW_VERSION
    },
    { sequelize, tableName: 'products', underscored: true, timestamps: false }
  )
}
