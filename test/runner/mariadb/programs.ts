import { findProgram } from '../find-program.js'

/** The server and the program that makes its data folder. */
export interface MariadbPrograms {
  readonly server: string
  readonly installDb: string
}

/** undefined where MariaDB is not installed. */
export function findMariadb(): MariadbPrograms | undefined {
  const server = findProgram('mariadbd')
  const installDb = findProgram('mariadb-install-db')
  return server === undefined || installDb === undefined ? undefined : { server, installDb }
}
