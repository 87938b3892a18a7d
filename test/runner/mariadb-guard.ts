import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { type GuardMessage, type GuardOrder, SERVER_TIME_ZONE, waitForServer } from './database-server.js'
import { freePort } from './free-port.js'
import { findGalera, findMariadb, type GaleraPrograms, type MariadbPrograms } from './programs.js'

// This process holds private MariaDB servers: `single` for one, `galera <size>` for the nodes of a cluster. It lives as
// long as the channel to its parent is open. So the servers are stopped and their data is removed in every case: when
// the parent asks for it, ends, crashes, or is ended by Ctrl-C or SIGKILL.

const START_MS = 100_000
const STOP_MS = 20_000
const LOG_LINES = 30

const folder = await mkdtemp(join(tmpdir(), 'mariadb-'))
const password = randomBytes(12).toString('hex')

/** One server process after the other over the same folder and port. */
class MariadbServer {
  readonly folder: string
  readonly port: number
  readonly #program: string
  readonly #args: readonly string[]
  #process: ChildProcess | undefined

  constructor(program: string, at: { readonly folder: string; readonly port: number }, args: readonly string[]) {
    this.folder = at.folder
    this.port = at.port
    this.#program = program
    this.#args = args
  }

  get url(): string {
    return `mysql://test:${password}@127.0.0.1:${this.port}`
  }

  /** Resolves with the server's version once it accepts clients. */
  async start(): Promise<string> {
    if (!process.connected) throw new Error('The parent process has ended')
    const child = spawn(this.#program, this.#args, { stdio: 'ignore' })
    this.#process = child
    const ended = once(child, 'close').then(() => {
      throw new Error(`mariadbd on port ${this.port} ended with code ${child.exitCode}`)
    })
    const version = await Promise.race([waitForServer(this.url, AbortSignal.timeout(START_MS)), ended])
    ended.catch(() => undefined)
    return version
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal)
  }

  async kill(): Promise<void> {
    await this.#end((child) => Promise.resolve(void child.kill('SIGKILL')))
  }

  /** Ends it with SIGTERM, and with SIGKILL when that takes too long. */
  async stop(): Promise<void> {
    await this.#end(async (child, closed) => {
      child.kill('SIGCONT') // It may be frozen.
      child.kill('SIGTERM')
      const inTime = await Promise.race([closed.then(() => true), pause(STOP_MS, false, { ref: false })])
      if (!inTime) child.kill('SIGKILL')
    })
  }

  async #end(how: (child: ChildProcess, closed: Promise<unknown>) => Promise<void>): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    await how(child, closed)
    await closed
  }
}

const servers: MariadbServer[] = []
/** mariadb-install-db while it runs: its folder must not be removed before it has ended. */
let installing: Promise<unknown> = Promise.resolve()
const parentGone = once(process, 'disconnect')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (process.connected) process.disconnect()
  })
}
process.on('message', (order) => void obey(order as GuardOrder)) // database-server.ts alone has the channel

try {
  const ready = await Promise.race([start(process.argv.slice(2)), parentGone.then(() => undefined)])
  if (ready !== undefined) tell(ready)
  await parentGone
} catch (error) {
  tell({ error: `${String(error)}\n${await errorLogs()}` })
  process.exitCode = 1
} finally {
  await installing.catch(() => undefined)
  await Promise.all(servers.map((server) => server.stop()))
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  process.exit()
}

function start([kind, size]: readonly string[]): Promise<GuardMessage> {
  return kind === 'galera' ? startCluster(Number(size)) : startSingle()
}

async function obey(order: GuardOrder): Promise<void> {
  try {
    const [server] = servers
    if (order === 'kill') await server?.kill()
    else if (order === 'restart') await server?.start()
    else server?.signal(order === 'freeze' ? 'SIGSTOP' : 'SIGCONT')
    tell({ done: order })
  } catch (error) {
    tell({ error: `${String(error)}\n${await errorLogs()}` })
  }
}

function tell(message: GuardMessage): void {
  if (process.connected) process.send?.(message)
}

async function errorLogs(): Promise<string> {
  const logs = await Promise.all(
    servers.map((server) => readFile(join(server.folder, 'errors.log'), 'utf8').catch(() => ''))
  )
  return logs.map((text) => text.split('\n').slice(-LOG_LINES).join('\n')).join('\n')
}

async function startSingle(): Promise<GuardMessage> {
  const programs = findMariadb()
  if (programs === undefined) throw new Error('MariaDB is not installed')
  const port = await freePort()
  const server = new MariadbServer(programs.server, { folder, port }, [
    ...(await commonArguments({ folder, port, user: 'root' })),
    `--init-file=${join(folder, 'init.sql')}`,
    `--default-time-zone=${SERVER_TIME_ZONE}`,
    '--max-connections=500',
    '--skip-log-bin',
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-buffer-pool-size=256M',
    '--innodb-log-file-size=64M'
  ])
  servers.push(server)
  await installData(programs, { folder, user: 'root' })
  const version = await server.start()
  return { urls: [server.url], version }
}

/** The first node makes the cluster and the account. The others copy both, with all data, from an earlier node. */
async function startCluster(size: number): Promise<GuardMessage> {
  const programs = findGalera()
  if (programs === undefined) throw new Error('MariaDB, Galera or rsync is not installed')
  const first = await makeNode(programs, 0, undefined)
  await installData(programs, { folder: first.server.folder, user: 'mysql' })
  const version = await startNode(first.server)
  const others = []
  for (let index = 1; index < size; index++) others.push(await makeNode(programs, index, first.group))
  await Promise.all(others.map(({ server }) => startNode(server)))
  return { urls: servers.map(({ url }) => url), version }
}

/** `peer` is the replication port of a node that runs; without it the node makes a new cluster. */
async function makeNode(
  programs: GaleraPrograms,
  index: number,
  peer: number | undefined
): Promise<{ readonly server: MariadbServer; readonly group: number }> {
  const place = join(folder, `node${index}`)
  await mkdir(place)
  const [port, group] = [await freePort(), await freePort()]
  const [wholeTransfer, partialTransfer] = [await freePort(), await freePort()]
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${group}`,
    `ist.recv_addr=127.0.0.1:${partialTransfer}`,
    'gcache.size=8M'
  ]
  const server = new MariadbServer(programs.server, { folder: place, port }, [
    ...(await commonArguments({ folder: place, port, user: 'mysql' })),
    '--innodb-buffer-pool-size=32M',
    '--innodb-log-file-size=16M',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-autoinc-lock-mode=2',
    '--binlog-format=ROW',
    '--wsrep-on=ON',
    `--wsrep-provider=${programs.provider}`,
    `--wsrep-provider-options=${provider.join(';')}`,
    '--wsrep-cluster-name=test',
    `--wsrep-cluster-address=gcomm://${peer === undefined ? '' : `127.0.0.1:${peer}`}`,
    `--wsrep-node-address=127.0.0.1:${group}`,
    `--wsrep-node-incoming-address=127.0.0.1:${port}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${wholeTransfer}`,
    ...(peer === undefined ? [`--init-file=${join(place, 'init.sql')}`, '--wsrep-new-cluster'] : [])
  ])
  servers.push(server)
  return { server, group }
}

async function startNode(server: MariadbServer): Promise<string> {
  const version = await server.start()
  const end = AbortSignal.timeout(START_MS)
  while (!(await isReady(server.url).catch(() => false))) {
    if (end.aborted) throw new Error(`The node on port ${server.port} was not ready in time`)
    await pause(50)
  }
  return version
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

interface Place {
  readonly folder: string
  /**
   * The user that the server changes to when we are root. A server alone stays root. A node of a cluster changes to
   * `mysql`, because as root its rsync changes to `nobody`, who may not write into the data folder.
   */
  readonly user: 'root' | 'mysql'
}

/** Writes the system tables, and the statements that make the account when the server starts. */
async function installData(programs: MariadbPrograms, place: Place): Promise<void> {
  const run = promisify(execFile)(programs.installDb, [
    '--no-defaults',
    ...userArgument(place),
    `--datadir=${join(place.folder, 'data')}`,
    // Without it the servers of concurrent runs share /tmp.
    `--tmpdir=${join(place.folder, 'tmp')}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db'
  ])
  installing = run
  await run
  await writeFile(
    join(place.folder, 'init.sql'),
    `CREATE USER IF NOT EXISTS 'test'@'%' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO 'test'@'%' WITH GRANT OPTION;\n`
  )
  own(place)
}

/** Makes the folders too. No setting comes from the machine's configuration, and no file is outside the folder. */
async function commonArguments(place: Place & { readonly port: number }): Promise<string[]> {
  for (const name of ['data', 'tmp']) await mkdir(join(place.folder, name))
  own(place)
  return [
    '--no-defaults',
    ...userArgument(place),
    `--datadir=${join(place.folder, 'data')}`,
    `--tmpdir=${join(place.folder, 'tmp')}`,
    `--socket=${join(place.folder, 'socket')}`,
    `--pid-file=${join(place.folder, 'pid')}`,
    `--log-error=${join(place.folder, 'errors.log')}`,
    '--bind-address=127.0.0.1',
    `--port=${place.port}`,
    '--skip-name-resolve',
    '--character-set-server=utf8mb4',
    // Off until a test switches it on. In a table, a test finds the statements of its own connections.
    '--general-log=OFF',
    '--log-output=TABLE'
  ]
}

/** MariaDB does not run as root unless an argument says so. */
function userArgument({ user }: Place): string[] {
  return process.getuid?.() === 0 ? [`--user=${user}`] : []
}

function own({ user }: Place): void {
  if (process.getuid?.() === 0 && user !== 'root') execFileSync('chown', ['-R', `${user}:`, folder])
}
