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
const START_MS = 100_000
const LOG_LINES = 30
/** Of the account `test`, which may do everything. */
const PASSWORD = randomBytes(12).toString('hex')

export interface MariadbOptions {
  /** Arguments beside those that every server gets. */
  readonly args?: readonly string[]
  /** Of a node of a cluster, which copies its data and its accounts from another node. */
  readonly isEmpty?: boolean
  /** The user that it runs as where we are root. */
  readonly user?: 'root' | 'mysql'
  /** Whether it is in a process group of its own, which Ctrl-C in the terminal does not reach. */
  readonly ownGroup?: boolean
}

/**
 * A MariaDB on a free port of 127.0.0.1, with a folder of its own for all that it writes. No setting comes from the
 * machine's configuration. The kernel ends it when this process ends, in whatever way.
 */
export class Mariadb {
  readonly url: string
  readonly #folder: string
  readonly #options: MariadbOptions
  readonly #command: readonly string[]
  readonly #dispose = (): void => {
    this.#child?.kill('SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
  #child: ChildProcess | undefined

  /** Makes the folder, and the system tables unless the server is to be empty. */
  static async make(options: MariadbOptions = {}): Promise<Mariadb> {
    await ensurePackages('mariadb-server')
    const server = new Mariadb(await mkdtemp(join(tmpdir(), 'mariadb-')), await freePort(), options)
    process.once('exit', server.#dispose)
    await server.#install()
    return server
  }

  private constructor(folder: string, port: number, options: MariadbOptions) {
    this.url = `mysql://test:${PASSWORD}@127.0.0.1:${port}`
    this.#folder = folder
    this.#options = options
    const { args = [], isEmpty = false } = options
    this.#command = [
      ...asUser(options),
      findProgram('mariadbd') ?? 'mariadbd',
      '--no-defaults',
      ...(process.getuid?.() === 0 && options.user !== 'mysql' ? ['--user=root'] : []),
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
    for (const name of ['data', 'tmp']) await mkdir(join(folder, name))
    const account = "'test'@'%'"
    const statements = [
      `CREATE USER IF NOT EXISTS ${account} IDENTIFIED BY '${PASSWORD}'`,
      `GRANT ALL ON *.* TO ${account} WITH GRANT OPTION`
    ]
    await writeFile(join(folder, 'init.sql'), statements.map((statement) => `${statement};\n`).join(''))
    const { user = 'root', isEmpty = false } = this.#options
    const isRoot = process.getuid?.() === 0
    if (!isEmpty) {
      const args = [`--datadir=${folder}/data`, '--auth-root-authentication-method=normal', '--skip-test-db']
      // Without a folder for temporary files the servers of concurrent runs share /tmp.
      const own = [`--tmpdir=${folder}/tmp`, ...(isRoot ? ['--user=root'] : [])]
      await run(findProgram('mariadb-install-db') ?? 'mariadb-install-db', ['--no-defaults', ...args, ...own])
    }
    if (isRoot && user !== 'root') await run('chown', ['-R', `${user}:`, folder])
  }

  /** Starts it, anew after `kill` with its data and its port. Resolves with its version when it accepts clients. */
  async start(...more: readonly string[]): Promise<string> {
    const [program = '', ...args] = [...this.#command, ...more]
    const child = spawn(program, args, { stdio: 'ignore', detached: this.#options.ownGroup ?? false })
    this.#child = child
    const end = performance.now() + START_MS
    for (;;) {
      try {
        return await versionOf(this.url)
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

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
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

/** What stands before a server's command. Where there is no setpriv, `exit` ends the server. */
function asUser({ user = 'root' }: MariadbOptions): string[] {
  const setpriv = findProgram('setpriv')
  if (setpriv === undefined) return []
  // A server that changes its user itself is no longer ended with its parent.
  const change =
    process.getuid?.() === 0 && user !== 'root' ? [`--reuid=${user}`, `--regid=${user}`, '--clear-groups'] : []
  return [setpriv, ...change, '--pdeathsig', 'KILL', '--']
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

/** Rejects while the server accepts no clients. */
export async function versionOf(url: string): Promise<string> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [rows] = await connection.query<({ version: string } & RowDataPacket)[]>('SELECT VERSION() AS version')
    return rows[0]?.version ?? ''
  } finally {
    await connection.end()
  }
}
