import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { RowDataPacket } from 'mysql2'
import { createConnection } from 'mysql2/promise'
import { freePort } from './free-port.js'
import { ensurePackages, Failure, findProgram } from './programs.js'

const run = promisify(execFile)

/** A MySQL or MariaDB server that tests may make databases on. */
interface DatabaseServer {
  /** `mysql://user:password@host:port` of an account with all rights. */
  readonly url: string
  /** For people: which server it is. */
  readonly description: string
  /** Of its process, where it is one of ours. */
  readonly pid?: number | undefined
  stop(): Promise<void>
}

/** Not the service's zone, so that a session that does not set its own zone shows in the times that the server makes. */
export const SERVER_TIME_ZONE = '+05:30'

const ARGUMENTS = [
  `--default-time-zone=${SERVER_TIME_ZONE}`,
  '--max-connections=500',
  '--skip-log-bin',
  // A commit survives the end of the server, not that of the machine.
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-buffer-pool-size=256M',
  '--innodb-log-file-size=64M'
]
/** Of a server that never starts again. */
const FORGETFUL = [
  '--innodb-flush-log-at-trx-commit=0',
  '--innodb-flush-method=nosync',
  '--skip-innodb-doublewrite',
  '--sync-frm=0'
]

/**
 * The server of TEST_MYSQL_URL; else a private MariaDB, which is installed when it is missing and we may install it. Throws
 * a Failure when neither is to be had, because no database is ever skipped. A forgetful server is faster, and has lost
 * what was committed when it has been killed.
 */
export async function startDatabaseServer({ isForgetful = false } = {}): Promise<DatabaseServer> {
  const url = process.env['TEST_MYSQL_URL'] ?? ''
  // In a process group of its own: Ctrl-C in the terminal must not end the server before the tests have ended.
  if (url === '') return startPrivateServer({ ownGroup: true, args: isForgetful ? FORGETFUL : [] })
  try {
    const description = `the server of TEST_MYSQL_URL, ${await versionOf(url)}`
    return { url, description, stop: () => Promise.resolve() }
  } catch (error) {
    throw new Failure(`The server of TEST_MYSQL_URL does not let us in: ${String(error)}.`)
  }
}

/**
 * Drops templates of databases, and what tests left that were stopped. `freshDatabase` gives their names the prefix of the
 * run. It is for the run itself alone: what a test starts inherits TEST_RUN.
 */
export async function dropDatabasesOf(run: string, url: string): Promise<void> {
  const connection = await createConnection({ uri: url })
  try {
    const names = 'SELECT schema_name AS name FROM information_schema.schemata WHERE LEFT(schema_name, ?) = ?'
    const prefix = `test_${run}`
    const [rows] = await connection.query<({ name: string } & RowDataPacket)[]>(names, [prefix.length, prefix])
    for (const { name } of rows) await connection.query(`DROP DATABASE \`${name}\``)
  } finally {
    await connection.end()
  }
}

interface ServerOptions {
  /** Arguments beside those that every server gets. */
  readonly args?: readonly string[]
  /** Of a node of a cluster, which copies its data and its accounts from another node. */
  readonly isEmpty?: boolean
  /** The user that it runs as where we are root. */
  readonly user?: 'root' | 'mysql'
  /** Whether it has a process group of its own. */
  readonly ownGroup?: boolean
}

/** Starts a MariaDB that a test may stop in the ways a machine fails. */
export async function startPrivateServer(options: ServerOptions = {}): Promise<PrivateServer> {
  const server = await PrivateServer.make({ ...options, args: [...ARGUMENTS, ...(options.args ?? [])] })
  await server.restart()
  return server
}

const START_MS = 100_000
const LOG_LINES = 30
/** Of the account `test`, which may do everything. */
const PASSWORD = randomBytes(12).toString('hex')

/**
 * A MariaDB on a free port of 127.0.0.1, with a folder of its own for all that it writes. No setting comes from the
 * machine's configuration. It ends with this process: the kernel sees to it where there is setpriv.
 */
export class PrivateServer implements DatabaseServer {
  readonly url: string
  readonly #folder: string
  readonly #options: ServerOptions
  readonly #command: readonly string[]
  readonly #dispose = (): void => {
    this.#child?.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
  #child: ChildProcess | undefined
  #version = ''

  /** Makes the folder, and the system tables in it. It is to be started by `restart`. */
  static async make(options: ServerOptions): Promise<PrivateServer> {
    await ensurePackages('mariadb-server')
    const server = new PrivateServer(await mkdtemp(join(tmpdir(), 'mariadb-')), await freePort(), options)
    process.once('exit', server.#dispose)
    await server.#install()
    return server
  }

  private constructor(folder: string, port: number, options: ServerOptions) {
    this.url = `mysql://test:${PASSWORD}@127.0.0.1:${port}`
    this.#folder = folder
    this.#options = options
    const { args = [], isEmpty = false, user = 'root' } = options
    const setpriv = findProgram('setpriv')
    const isRoot = process.getuid?.() === 0
    // One that changed its user itself would not be ended with its parent.
    const change = isRoot && user !== 'root' ? [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'] : []
    this.#command = [
      ...(setpriv === undefined ? [] : [setpriv, ...change, '--pdeathsig', 'KILL', '--']),
      findProgram('mariadbd') ?? 'mariadbd',
      '--no-defaults',
      ...(isRoot ? [`--user=${user}`] : []),
      `--datadir=${folder}/data`,
      `--tmpdir=${folder}/tmp`,
      `--socket=${folder}/socket`,
      `--pid-file=${folder}/pid`,
      `--log-error=${folder}/errors.log`,
      ...(isEmpty ? [] : [`--init-file=${folder}/init.sql`]),
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      '--skip-name-resolve',
      '--character-set-server=utf8mb4',
      // Off until a test switches it on. In a table, a test finds the statements of its own connections.
      '--general-log=OFF',
      '--log-output=TABLE',
      ...args
    ]
  }

  async #install(): Promise<void> {
    const folder = this.#folder
    const { user = 'root', isEmpty = false } = this.#options
    const isRoot = process.getuid?.() === 0
    for (const name of ['data', 'tmp']) await mkdir(join(folder, name))
    const account = `CREATE USER IF NOT EXISTS 'test'@'%' IDENTIFIED BY '${PASSWORD}';\n`
    await writeFile(join(folder, 'init.sql'), `${account}GRANT ALL ON *.* TO 'test'@'%' WITH GRANT OPTION;\n`)
    if (!isEmpty) {
      const args = [`--datadir=${folder}/data`, '--auth-root-authentication-method=normal', '--skip-test-db']
      // Without a folder for temporary files the servers of concurrent runs share /tmp.
      const own = [`--tmpdir=${folder}/tmp`, ...(isRoot ? ['--user=root'] : [])]
      await run(findProgram('mariadb-install-db') ?? 'mariadb-install-db', ['--no-defaults', ...args, ...own])
    }
    if (isRoot && user !== 'root') await run('chown', ['-R', `${user}:`, folder])
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  get description(): string {
    return `private MariaDB ${this.#version}`
  }

  /** Starts it, with its data and its port. Resolves when it accepts clients. */
  async restart(...more: readonly string[]): Promise<void> {
    const [program = '', ...args] = [...this.#command, ...more]
    const child = spawn(program, args, { stdio: 'ignore', detached: this.#options.ownGroup ?? false })
    this.#child = child
    const end = performance.now() + START_MS
    for (;;) {
      try {
        this.#version = await versionOf(this.url)
        return
      } catch (error) {
        if (isRunning(child) && performance.now() < end) await pause(50)
        else throw new Failure(`A private MariaDB did not start: ${String(error)}\n${await this.#lastLines()}`)
      }
    }
  }

  /** Ends it with SIGKILL. */
  async kill(): Promise<void> {
    if (this.#child === undefined || !isRunning(this.#child)) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  /** Stops its process with SIGSTOP, so that its connections stay open and nothing answers. */
  freeze(): Promise<void> {
    return Promise.resolve(void this.#child?.kill('SIGSTOP'))
  }

  /** Lets a frozen server continue. */
  thaw(): Promise<void> {
    return Promise.resolve(void this.#child?.kill('SIGCONT'))
  }

  /** Ends it and removes all that it has written. */
  async stop(): Promise<void> {
    process.off('exit', this.#dispose)
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #lastLines(): Promise<string> {
    const text = await readFile(join(this.#folder, 'errors.log'), 'utf8').catch(() => '')
    return text.split('\n').slice(-LOG_LINES).join('\n')
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

/** Rejects while the server accepts no clients. */
async function versionOf(url: string): Promise<string> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [rows] = await connection.query<({ version: string } & RowDataPacket)[]>('SELECT VERSION() AS version')
    return rows[0]?.version ?? ''
  } finally {
    await connection.end()
  }
}
