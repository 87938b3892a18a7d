import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../test/runner/free-port.js'
import type { Database, DatabaseOptions, Row } from './database.js'
import {
  clockEnvironment,
  commonArguments,
  END_WITH_PARENT,
  INIT_FILE,
  makeServerFolder,
  newAccounts,
  serverArguments,
  STORE,
  storeUrls
} from './server-files.js'
import { serverHurts } from './server-hurts.js'
import { ServerNode } from './server-node.js'
import type { ServerProgram } from './server-programs.js'

/** MiB. Empty, the files of a server take about 150. */
const DISK_SIZE = 512

/** One server on a port of 127.0.0.1. */
export async function startSingleServer(program: ServerProgram, options: DatabaseOptions): Promise<Database> {
  const folder = join(options.folder, 'node-1')
  const accounts = newAccounts()
  const address = { host: '127.0.0.1', port: await freePort() }
  const disk = await makeServerFolder({ folder, diskSize: DISK_SIZE, accounts })
  const node = new ServerNode({
    name: 'node-1',
    address,
    accounts,
    folder,
    prefix: END_WITH_PARENT,
    command: [
      ...program.command,
      '--no-defaults',
      ...program.args,
      ...commonArguments(folder),
      ...serverArguments(folder, address),
      ...isolationArguments(options)
    ],
    env: program.hasClock ? await clockEnvironment(folder) : {}
  })
  const dispose = async (): Promise<void> => {
    await node.kill()
    await disk?.unmount()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    options.progress(`Starting ${program.product} …`)
    await program.initialise(commonArguments(folder), [])
    await node.start([`--init-file=${join(folder, INIT_FILE)}`])
    return {
      label: await labelOf(node, program),
      nodes: [node],
      urls: (_node, through = address) => storeUrls(accounts, through),
      query: (sql) => queryStore(node, sql),
      hurts: serverHurts([{ node, disk, hasClock: program.hasClock }]),
      dispose
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** MySQL, and a MariaDB before 10.11.8, have no such setting and pass over it. */
export function isolationArguments({ snapshotIsolation }: DatabaseOptions): string[] {
  if (snapshotIsolation === undefined) return []
  return [`--loose-innodb-snapshot-isolation=${snapshotIsolation ? 'ON' : 'OFF'}`]
}

/** The product with the version and the isolation that the server itself tells. */
export async function labelOf(node: ServerNode, { product }: ServerProgram): Promise<string> {
  const rows = await node.run("SHOW VARIABLES WHERE Variable_name IN ('version', 'innodb_snapshot_isolation')")
  const values = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]))
  const version = /^[\d.]+/.exec(values.get('version') ?? '')?.[0] ?? ''
  const isolation = values.get('innodb_snapshot_isolation')
  return `${product} ${version}${isolation === undefined ? '' : ` with innodb_snapshot_isolation=${isolation}`}`
}

/** As the administrator, whom no limit of connections keeps out. */
export async function queryStore(node: ServerNode, sql: string): Promise<readonly Row[]> {
  const connection = await node.connect('admin', STORE)
  try {
    // Of a node of a cluster: wait until it has what the others have committed. Others do not know the setting.
    await connection.query('SET SESSION wsrep_sync_wait = 1').catch(() => undefined)
    const [rows] = await connection.query(sql)
    return Array.isArray(rows) ? (rows as Row[]) : []
  } finally {
    await connection.end()
  }
}
