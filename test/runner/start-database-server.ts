import type { DatabaseServer } from './database-server.js'
import { Failure } from './failure.js'
import { installPackage } from './install-package.js'
import { hasContainerEngine, startContainer } from './mariadb/container.js'
import { startPrivateServer } from './mariadb/private-server.js'
import { findMariadb } from './mariadb/programs.js'
import { versionOf } from './mariadb/wait-for-server.js'

/**
 * The server of TEST_MYSQL_URL, else a private MariaDB, installed when it is missing and may be, else one in a
 * container. Throws when there is none to be had: no database is ever skipped.
 */
export async function startDatabaseServer(): Promise<DatabaseServer> {
  const given = process.env['TEST_MYSQL_URL']
  if (given) return givenServer(given)
  if (findMariadb() !== undefined) return startPrivateServer()
  if ((await installPackage('mariadb-server')) && findMariadb() !== undefined) return startPrivateServer()
  if (await hasContainerEngine()) return startContainer()
  throw new Failure(
    'The tests need MariaDB or MySQL, and skip neither: set TEST_MYSQL_URL to a server where databases may be made ' +
      '(mysql://user:password@host:3306), or install the package mariadb-server, or start a container engine.'
  )
}

async function givenServer(url: string): Promise<DatabaseServer> {
  try {
    return { url, description: `the server of TEST_MYSQL_URL, ${await versionOf(url)}`, stop: async () => {} }
  } catch (error) {
    throw new Failure(`The server of TEST_MYSQL_URL does not let us in: ${String(error)}.`)
  }
}
