import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { QueryTypes } from 'sequelize'
import type { Database } from './connect.js'
import { type MysqlSettings, parseDatabaseUrl } from './database-url.js'

const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

/** Whether two URLs of databases spell the same one, as far as the texts tell. */
export function sameUrl(one: string, other: string): boolean {
  return spellingOf(one) === spellingOf(other)
}

function spellingOf(url: string): string {
  const settings = parseDatabaseUrl(url)
  if (settings.kind === 'sqlite') return `sqlite:${resolve(settings.file)}`
  const host = settings.host.toLowerCase()
  return `mysql://${THIS_MACHINE.has(host) ? 'localhost' : host}:${settings.port}/${settings.database}`
}

/**
 * Whether two databases are one, whatever name leads to them: two links to one file, two names of one server, two nodes
 * of one Galera cluster. Both have to be reachable; a file that is not there yet is nobody's.
 */
export async function sameDatabase(one: Database, other: Database): Promise<boolean> {
  const [first, second] = [await identityOf(one), await identityOf(other)]
  return first.some((name) => second.includes(name))
}

/** Names that only this database has. */
async function identityOf(database: Database): Promise<readonly string[]> {
  if (database.kind === 'sqlite') {
    const file = await stat(database.settings.file, { bigint: true }).catch(() => undefined)
    return file === undefined ? [] : [`file ${file.dev}:${file.ino}`]
  }
  return await serverIdentity(database.sequelize, database.settings)
}

async function serverIdentity(
  sequelize: Database['sequelize'],
  { database }: MysqlSettings
): Promise<readonly string[]> {
  const [server] = await sequelize.query<{ name: string }>(
    "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir) AS name",
    { type: QueryTypes.SELECT }
  )
  const [cluster] = await sequelize.query<{ Value: string }>("SHOW STATUS LIKE 'wsrep_cluster_state_uuid'", {
    type: QueryTypes.SELECT
  })
  return [
    `server ${server?.name ?? ''}/${database}`,
    ...(cluster === undefined || cluster.Value === '' ? [] : [`cluster ${cluster.Value}/${database}`])
  ]
}
