import { QueryTypes, type Sequelize } from 'sequelize'
import { serverOf, type MysqlServer } from '../mysql/mysql-session.js'

export type DatabaseKind = 'sqlite' | MysqlServer

/** Which of the three databases this is. MariaDB and MySQL are told apart by asking the server. */
export async function databaseKind(sequelize: Sequelize): Promise<DatabaseKind> {
  if (sequelize.getDialect() === 'sqlite') return 'sqlite'
  const [row] = await sequelize.query<{ version: string }>('SELECT VERSION() AS version', { type: QueryTypes.SELECT })
  return serverOf(row?.version ?? '')
}
