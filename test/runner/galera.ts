import { setTimeout as pause } from 'node:timers/promises'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { PrivateServer } from './database-server.js'
import { freePort } from './free-port.js'
import { ensurePackages, findGalera } from './programs.js'

const READY_MS = 100_000

/** A Galera cluster, each node of which accepts writes. */
export interface Galera {
  /** `mysql://user:password@host:port` of each node, of an account with all rights. */
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/** Starts a cluster of `size` nodes on free loopback ports, with data folders of their own. They end with this process. */
export async function startGalera(size: number): Promise<Galera> {
  await ensurePackages('mariadb-server', 'galera-4', 'rsync')
  const nodes: PrivateServer[] = []
  const stop = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.stop())))
  try {
    // It makes the cluster and the account. The others copy both, with all data, from an earlier node.
    const group = await freePort()
    const first = await makeNode(group)
    nodes.push(first)
    await start(first, '--wsrep-new-cluster')
    while (nodes.length < size) nodes.push(await makeNode(await freePort(), group))
    await Promise.all(nodes.slice(1).map((node) => start(node)))
    return { urls: nodes.map(({ url }) => url), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** `group` is the port of its replication, and `peer` that of a node that runs. */
async function makeNode(group: number, peer?: number): Promise<PrivateServer> {
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
    `ist.recv_addr=127.0.0.1:${await freePort()}`,
    'gcache.size=8M'
  ]
  return PrivateServer.make({
    isEmpty: peer !== undefined,
    // As root its rsync would change to `nobody`, who may not write into the data folder.
    user: 'mysql',
    args: [
      '--innodb-buffer-pool-size=32M',
      '--innodb-log-file-size=16M',
      '--innodb-flush-log-at-trx-commit=0',
      '--innodb-autoinc-lock-mode=2',
      '--binlog-format=ROW',
      '--wsrep-on=ON',
      `--wsrep-provider=${findGalera() ?? ''}`,
      `--wsrep-provider-options=${provider.join(';')}`,
      '--wsrep-cluster-name=test',
      `--wsrep-cluster-address=gcomm://${peer === undefined ? '' : `127.0.0.1:${peer}`}`,
      `--wsrep-node-address=127.0.0.1:${group}`,
      '--wsrep-sst-method=rsync',
      `--wsrep-sst-receive-address=127.0.0.1:${await freePort()}`
    ]
  })
}

async function start(node: PrivateServer, ...args: readonly string[]): Promise<void> {
  await node.restart(...args)
  const end = performance.now() + READY_MS
  while (!(await isReady(node.url).catch(() => false))) {
    if (performance.now() > end) throw new Error(`The node ${new URL(node.url).host} was not ready in time`)
    await pause(50)
  }
}

async function isReady(url: string): Promise<boolean> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [rows] = await connection.query<RowDataPacket[]>("SHOW GLOBAL STATUS LIKE 'wsrep_ready'")
    return rows[0]?.['Value'] === 'ON'
  } finally {
    await connection.end()
  }
}
