import { QueryTypes, type Sequelize } from 'sequelize'

/** MariaDB and MySQL differ in the names of collations alone. */
export type DatabaseKind = 'sqlite' | 'mariadb' | 'mysql'

export async function databaseKind(sequelize: Sequelize): Promise<DatabaseKind> {
  if (sequelize.getDialect() === 'sqlite') return 'sqlite'
  const [row] = await sequelize.query<{ version: string }>('SELECT VERSION() AS version', { type: QueryTypes.SELECT })
  return row?.version.includes('MariaDB') === true ? 'mariadb' : 'mysql'
}
