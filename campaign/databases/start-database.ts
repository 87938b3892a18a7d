import type { Database, DatabaseKind, DatabaseOptions } from './database.js'
import { startGalera } from './galera.js'
import { installedMariadb, newestMariadb, newestMysql } from './server-programs.js'
import { startSingleServer } from './single-server.js'
import { startSqlite } from './sqlite-database.js'

/** Starts a database of a kind. What is missing is fetched. Throws a Failure that says what cannot be had. */
export async function startDatabase(kind: DatabaseKind, options: DatabaseOptions): Promise<Database> {
  switch (kind) {
    case 'sqlite':
      return startSqlite(options)
    case 'mariadb':
      return startSingleServer(await installedMariadb(), options)
    case 'mariadb-newest':
      return startSingleServer(await newestMariadb(options.progress), options)
    case 'mysql':
      return startSingleServer(await newestMysql(options.progress), options)
    case 'galera':
      return startGalera(options)
  }
}
