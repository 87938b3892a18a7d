import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { ensurePackages, findGalera } from '../../test/runner/programs.js'
import type { Database, DatabaseOptions } from './database.js'
import { galeraHurts } from './galera-hurts.js'
import { type Network, type Place, startNetwork } from './network.js'
import {
  commonArguments,
  INIT_FILE,
  makeServerFolder,
  newAccounts,
  serverArguments,
  storeUrls
} from './server-files.js'
import { type HurtServer, serverHurts } from './server-hurts.js'
import { type Accounts, ServerNode } from './server-node.js'
import { installedMariadb, type ServerProgram } from './server-programs.js'
import { isolationArguments, labelOf, queryStore } from './single-server.js'

const run = promisify(execFile)

const NODES = 3
const PORT = 3306
/** MiB of each node's disk. A node that joins holds the log for those that were away too (gcache.size). */
const DISK_SIZE = 640

/** A node of the cluster: a server in a network of its own. */
interface ClusterNode extends HurtServer {
  readonly place: Place
  /** Takes all data from the node, which has ended: it has to copy them from another. */
  emptyData(): Promise<void>
}

/** Three nodes of which each takes writes. One that was away gets what it missed, or all data, from another. */
export async function startGalera(options: DatabaseOptions): Promise<Database> {
  await ensurePackages('mariadb-server', 'galera-4', 'rsync')
  const provider = findGalera() ?? ''
  const program = await installedMariadb()
  options.progress(`Starting ${NODES} nodes of MariaDB with Galera, each in a network of its own …`)
  const network = await startNetwork(NODES)
  const accounts = newAccounts()
  const nodes: ClusterNode[] = []
  const dispose = async (): Promise<void> => {
    await Promise.all(nodes.map(({ node }) => node.kill()))
    for (const { disk } of nodes) await disk?.unmount()
    await network.close()
    await Promise.all(nodes.map(({ node }) => rm(node.folder, { recursive: true, force: true })))
  }
  try {
    for (const [at] of network.places.entries()) {
      nodes.push(await makeNode({ at, network, accounts, program, provider, options }))
    }
    const [first, ...others] = nodes
    if (first === undefined) throw new RangeError('A cluster has nodes')
    await program.initialise(dataArguments(first.node.folder), asMysql(first.place))
    await first.node.start(['--wsrep-new-cluster', `--init-file=${join(first.node.folder, INIT_FILE)}`])
    // Both copy all data from the first.
    await Promise.all(others.map(({ node }) => node.start()))
    return {
      label: `Galera, ${NODES} nodes of ${await labelOf(first.node, program)}`,
      nodes: nodes.map(({ node }) => node),
      urls: (node, through = nodes[node]?.node.address ?? first.node.address) => storeUrls(accounts, through),
      query: async (sql) => queryStore(await anyServing(nodes), sql),
      hurts: { ...serverHurts(nodes), ...galeraHurts(nodes, network) },
      dispose
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

interface NodeOptions {
  readonly at: number
  readonly network: Network
  readonly accounts: Accounts
  readonly program: ServerProgram
  readonly provider: string
  readonly options: DatabaseOptions
}

async function makeNode({ at, network, accounts, program, provider, options }: NodeOptions): Promise<ClusterNode> {
  const place = network.places[at]
  if (place === undefined) throw new RangeError(`There is no place ${at}`)
  const folder = join(options.folder, `node-${at + 1}`)
  const disk = await makeServerFolder({ folder, diskSize: DISK_SIZE, accounts, owner: 'mysql' })
  const address = { host: place.host, port: PORT }
  const command = [
    ...program.command,
    '--no-defaults',
    ...program.args,
    ...dataArguments(folder),
    ...serverArguments(folder, address),
    ...isolationArguments(options),
    ...clusterArguments(place, network, provider)
  ]
  const node = new ServerNode({
    name: `node-${at + 1}`,
    address,
    accounts,
    folder,
    prefix: asMysql(place),
    command,
    env: {},
    argumentsOfStart: () => recoveredPosition(folder, [...asMysql(place), ...command]),
    isReady: isSynced,
    isLost: hasLeft
  })
  // Galera does not start under libfaketime: its threads cannot be given their priority.
  return { node, disk, hasClock: false, place, emptyData: () => emptyData(folder) }
}

/** As root, rsync of a node that copies its data changes to a user who may not write into the data folder. */
function asMysql({ prefix }: Place): string[] {
  return [...prefix, 'setpriv', '--reuid=mysql', '--regid=mysql', '--clear-groups', '--pdeathsig', 'KILL', '--']
}

function dataArguments(folder: string): string[] {
  return commonArguments(folder).filter((argument) => !argument.startsWith('--user='))
}

/**
 * Timeouts are a third of the default ones, so that a node that is away is left out, and taken back, within seconds
 * (https://galeracluster.com/library/documentation/galera-parameters.html).
 */
function clusterArguments({ host }: Place, { places }: Network, provider: string): string[] {
  const settings = [
    'gcache.size=64M',
    'evs.keepalive_period=PT0.5S',
    'evs.suspect_timeout=PT2S',
    'evs.inactive_timeout=PT5S',
    'evs.install_timeout=PT5S'
  ]
  return [
    '--innodb-autoinc-lock-mode=2',
    '--binlog-format=ROW',
    '--wsrep-on=ON',
    `--wsrep-provider=${provider}`,
    `--wsrep-provider-options=${settings.join(';')}`,
    '--wsrep-cluster-name=campaign',
    `--wsrep-cluster-address=gcomm://${places.map((place) => place.host).join()}`,
    `--wsrep-node-address=${host}`,
    '--wsrep-slave-threads=2',
    '--wsrep-sst-method=rsync'
  ]
}

/**
 * A node that was killed does not know up to which write its data are, and would copy all of them. InnoDB knows: what the
 * package's service does at each start too.
 */
async function recoveredPosition(
  folder: string,
  [program = '', ...args]: readonly string[]
): Promise<readonly string[]> {
  const data = await readdir(join(folder, 'disk/data'))
  if (!data.includes('ibdata1') || !data.includes('grastate.dat')) return []
  const log = join(folder, 'tmp', 'recovery.log')
  await rm(log, { force: true })
  await run(program, [...args, '--wsrep-recover', `--log-error=${log}`])
  const [, position] = /Recovered position:\s*([0-9a-f-]{36}:-?\d+)/.exec(await readFile(log, 'utf8')) ?? []
  return position === undefined ? [] : [`--wsrep-start-position=${position}`]
}

async function isSynced(connection: Connection): Promise<boolean> {
  const [rows] = await connection.query<RowDataPacket[]>(
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')"
  )
  const values = rows.map((row) => String(row['Value']))
  return values.includes('ON') && values.includes('Synced')
}

/**
 * A node that could not do what the others did, since its disk was full, leaves the cluster. Its server goes on and answers that it
 * is not prepared, until somebody starts it anew.
 */
async function hasLeft(connection: Connection): Promise<boolean> {
  const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'wsrep_connected'")
  return rows.some((row) => row['Value'] === 'OFF')
}

/** A node that is in the cluster at this moment. */
async function anyServing(nodes: readonly ClusterNode[]): Promise<ServerNode> {
  for (const { node } of nodes) if (await node.serves()) return node
  throw new Error('No node of the cluster serves')
}

async function emptyData(folder: string): Promise<void> {
  const data = join(folder, 'disk/data')
  await rm(data, { recursive: true })
  await mkdir(data)
  await run('chown', ['mysql:', data])
}
