import { DataTypes, Model, type InferAttributes, type InferCreationAttributes, type Sequelize } from 'sequelize'

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

export function defineWriteModels(sequelize: Sequelize): void {
  IdempotencyKey.init(
    {
      keyHash: { type: DataTypes.BLOB, primaryKey: true },
      fingerprint: { type: DataTypes.BLOB, allowNull: false },
      answer: DataTypes.BLOB,
      createdAt: { type: DataTypes.BIGINT, allowNull: false },
      expiresAt: { type: DataTypes.BIGINT, allowNull: false }
    },
    { sequelize, tableName: 'ur_idempotency_keys', underscored: true, timestamps: false }
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
    { sequelize, tableName: 'ur_audit_entries', underscored: true, timestamps: false }
  )
}
