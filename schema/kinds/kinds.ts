import type { EngineName } from '../../data-service/sql/engines/engine-name.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import { MysqlSchema } from './mysql/mysql-schema.js'
import type { SchemaTools } from '../model/schema-tools.js'
import { SqliteSchema } from './sqlite/sqlite-schema.js'

/** The schema tools of each kind of database. */
const KINDS: Readonly<Record<EngineName, (database: Database) => SchemaTools>> = {
  sqlite: ({ sequelize }) => new SqliteSchema(sequelize),
  mysql: ({ sequelize }) => new MysqlSchema(sequelize)
}

/** Reads and changes the schema of an opened database. Sends nothing before the first call. */
export function schemaOf(database: Database): SchemaTools {
  return KINDS[database.kind](database)
}
