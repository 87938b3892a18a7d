import type { Field, FieldType } from '../../entity/field.js'
import { collationOf } from '../mysql/mysql-session.js'
import type { DatabaseKind } from './database-kind.js'

/** Decimals are whole numbers of their smallest unit on SQLite, which has no exact decimals of its own. */
const SQLITE_TYPE: Record<FieldType, string> = {
  string: 'TEXT',
  bool: 'INTEGER',
  int: 'INTEGER',
  long: 'INTEGER',
  decimal: 'INTEGER',
  dateTime: 'TEXT',
  guid: 'TEXT'
}

/** The type that a column of the field has in a database, without its NULL or NOT NULL. */
export function columnType(field: Field, kind: DatabaseKind): string {
  if (kind === 'sqlite') return SQLITE_TYPE[field.type]
  switch (field.type) {
    case 'string':
      return `VARCHAR(${field.maxLength}) CHARACTER SET utf8mb4 COLLATE ${collationOf(kind)}`
    case 'bool':
      return 'TINYINT(1)'
    case 'int':
      return 'INT'
    case 'long':
      return 'BIGINT'
    case 'decimal':
      return `DECIMAL(${field.precision},${field.scale})`
    case 'dateTime':
      return 'DATETIME(3)'
    case 'guid':
      return 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin'
  }
}

/** The type of `row_version`, eight bytes that every row of a root and of a child has. */
export function rowVersionType(kind: DatabaseKind): string {
  return kind === 'sqlite' ? 'BLOB' : 'BINARY(8)'
}
