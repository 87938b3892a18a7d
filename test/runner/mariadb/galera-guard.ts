import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { findGalera, type GaleraPrograms } from './programs.js'
import { freePort } from '../free-port.js'

/** What the guard tells its parent: once that all nodes are in the cluster, in the order of their start; or what went wrong. */
export type GaleraMessage = { readonly urls: readonly string[] } | { readonly error: string }

interface Node {
  readonly folder: string
  readonly port: number
  /** Of replication, of whole transfers and of partial ones. */
  readonly group: number
  readonly transfer: number
  readonly catchUp: number
}

const START_MS = 100_000
const STOP_MS = 10_000

// As guard.ts for one server: the nodes live as long as the channel to the parent.
const folder = await mkdtemp(join(tmpdir(), 'galera-'))
const children: ChildProcess[] = []
const parentGone = once(process, 'disconnect')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.disconnect())

try {
  const programs = findGalera()
  if (programs === undefined) throw new Error('MariaDB, Galera or rsync is not installed')
  const urls = await Promise.race([start(programs, Number(process.argv[2])), parentGone.then(() => undefined)])
  if (urls !== undefined && process.connected) process.send?.({ urls } satisfies GaleraMessage)
  await parentGone
} catch (error) {
  if (process.connected) process.send?.({ error: `${String(error)}\n${await errorLogs()}` } satisfies GaleraMessage)
  process.exitCode = 1
} finally {
  await Promise.all(children.map(stop))
  await rm(folder, { recursive: true, force: true })
  process.exit()
}

/** The first node makes the cluster and the account; the others get both, with all its data, from a node before them. */
async function start(programs: GaleraPrograms, size: number): Promise<string[]> {
  const password = randomBytes(12).toString('hex')
  const nodes = await Promise.all(Array.from({ length: size }, (_, index) => makeNode(index)))
  const [first] = nodes
  if (first === undefined) throw new RangeError('A cluster has a node at least')
  await promisify(execFile)(programs.installDb, [
    '--no-defaults',
    ...asUser(),
    `--datadir=${join(first.folder, 'data')}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db'
  ])
  await writeFile(
    join(first.folder, 'init.sql'),
    `CREATE USER IF NOT EXISTS 'test'@'%' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO 'test'@'%' WITH GRANT OPTION;\n`
  )
  own(folder)
  const urlOf = ({ port }: Node): string => `mysql://test:${password}@127.0.0.1:${port}`
  const end = AbortSignal.timeout(START_MS)
  const run = async (node: Node): Promise<void> => {
    const isFirst = node === first
    const child = spawn(programs.server, nodeArguments(programs, node, isFirst ? undefined : first), {
      stdio: 'ignore'
    })
    children.push(child)
    const ended = once(child, 'close').then(() => {
      throw new Error(`node ${nodes.indexOf(node) + 1} ended with code ${child.exitCode}`)
    })
    await Promise.race([untilReady(urlOf(node), end), ended])
    ended.catch(() => undefined)
  }
  await run(first)
  await Promise.all(nodes.slice(1).map(run))
  return nodes.map(urlOf)
}

async function makeNode(index: number): Promise<Node> {
  const place = join(folder, `node${index}`)
  await promisify(execFile)('mkdir', ['-p', join(place, 'data')])
  own(folder)
  const [port, group, transfer, catchUp] = [await freePort(), await freePort(), await freePort(), await freePort()]
  return { folder: place, port, group, transfer, catchUp }
}

function nodeArguments(programs: GaleraPrograms, node: Node, first: Node | undefined): string[] {
  const provider = [
    `gmcast.listen_addr=tcp://127.0.0.1:${node.group}`,
    `ist.recv_addr=127.0.0.1:${node.catchUp}`,
    'gcache.size=8M'
  ]
  return [
    '--no-defaults',
    ...asUser(),
    `--datadir=${join(node.folder, 'data')}`,
    `--socket=${join(node.folder, 'socket')}`,
    `--pid-file=${join(node.folder, 'pid')}`,
    `--log-error=${join(node.folder, 'log.err')}`,
    '--bind-address=127.0.0.1',
    `--port=${node.port}`,
    '--skip-name-resolve',
    '--character-set-server=utf8mb4',
    '--innodb-buffer-pool-size=32M',
    '--innodb-log-file-size=16M',
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-autoinc-lock-mode=2',
    '--binlog-format=ROW',
    '--general-log=OFF',
    '--log-output=TABLE',
    '--wsrep-on=ON',
    `--wsrep-provider=${programs.provider}`,
    `--wsrep-provider-options=${provider.join(';')}`,
    '--wsrep-cluster-name=test',
    `--wsrep-cluster-address=gcomm://${first === undefined ? '' : `127.0.0.1:${first.group}`}`,
    `--wsrep-node-address=127.0.0.1:${node.group}`,
    `--wsrep-node-incoming-address=127.0.0.1:${node.port}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${node.transfer}`,
    ...(first === undefined ? [`--init-file=${join(node.folder, 'init.sql')}`, '--wsrep-new-cluster'] : [])
  ]
}

/** As root the transfer's rsync would become `nobody`, who may not write there: the package's own user may. */
function asUser(): string[] {
  return process.getuid?.() === 0 ? ['--user=mysql'] : []
}

function own(place: string): void {
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'mysql:', place])
}

async function untilReady(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    if (await isReady(url).catch(() => false)) return
    if (signal.aborted) throw new Error('a node was not ready in time')
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

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  const inTime = await Promise.race([closed.then(() => true), pause(STOP_MS, false, { ref: false })])
  if (inTime) return
  child.kill('SIGKILL')
  await closed
}

async function errorLogs(): Promise<string> {
  const logs = await Promise.all(
    children.map((_, index) => readFile(join(folder, `node${index}`, 'log.err'), 'utf8').catch(() => ''))
  )
  return logs.map((text) => text.split('\n').slice(-20).join('\n')).join('\n')
}
