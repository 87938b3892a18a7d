import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, createConnection } from 'mysql2/promise'
import type { Address, DatabaseNode, Row } from './database.js'

/** Milliseconds. A node of a cluster may copy all data from another before it serves. */
const START_MS = 120_000
const STOP_MS = 30_000
const CONNECT_MS = 5_000
const LOG_LINES = 30

/** The file of which libfaketime reads how far the server's clock is off. */
export const CLOCK = 'clock'

/** As libfaketime reads it. */
export function clockOffset(seconds: number): string {
  return `${seconds < 0 ? '' : '+'}${seconds}`
}

/** Of every server of one database. */
export interface Accounts {
  /** With all rights. */
  readonly admin: 'admin'
  /** The service's, which has rights to the databases of the store alone. */
  readonly app: 'app'
  /** Of both. */
  readonly password: string
}

export interface ServerOptions {
  readonly name: string
  readonly address: Address
  readonly accounts: Accounts
  /** Holds `data`, `tmp`, `errors.log` and `clock`. */
  readonly folder: string
  /** The program with all arguments that it always has. */
  readonly command: readonly string[]
  /** Stands before the program: what changes its user or its network. */
  readonly prefix: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Arguments of a start that depend on what the data folder holds. */
  readonly argumentsOfStart?: () => Promise<readonly string[]>
  /** Whether the server that answers serves. Default: it does. */
  readonly isReady?: (connection: Connection) => Promise<boolean>
  /** Whether the server that answers will not serve again unless it is started anew. Default: it will. */
  readonly isLost?: (connection: Connection) => Promise<boolean>
}

/** A server process after the other over the same folder and address. It ends with the process that started it. */
export class ServerNode implements DatabaseNode {
  readonly name: string
  readonly address: Address
  readonly folder: string
  readonly #options: ServerOptions
  #process: ChildProcess | undefined

  constructor(options: ServerOptions) {
    this.name = options.name
    this.address = options.address
    this.folder = options.folder
    this.#options = options
  }

  get isRunning(): boolean {
    const child = this.#process
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** Resolves when it serves, which may take a start. `more` are arguments of this start alone. */
  async start(more: readonly string[] = []): Promise<void> {
    const end = AbortSignal.timeout(START_MS)
    if (await this.#isLost()) await this.terminate()
    if (!this.isRunning) {
      const { prefix, command, env, argumentsOfStart } = this.#options
      const chosen = (await argumentsOfStart?.()) ?? []
      // The kernel ends it when this process is gone, even by SIGKILL.
      const [program = '', ...args] = [...prefix, ...command, ...chosen, ...more]
      const log = await open(join(this.folder, 'errors.log'), 'a')
      const stdio: StdioOptions = ['ignore', log.fd, log.fd] // It says some errors before it opens its log.
      this.#process = spawn(program, args, { stdio, env: { PATH: process.env['PATH'], ...env } })
      await log.close()
      const { pid } = this.#process
      this.#process.on('close', () => void forgetClock(pid))
      this.#process.on('error', () => undefined) // The wait below tells that it does not run.
    }
    for (;;) {
      const failure = await this.#look().then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error : new Error(String(error)))
      )
      if (failure === undefined) return
      if (!this.isRunning || end.aborted) {
        throw new Error(`${this.name} did not start: ${failure.message}\n${await this.#tailOfLog()}`)
      }
      await pause(100)
    }
  }

  async kill(): Promise<void> {
    if (!this.isRunning || this.#process === undefined) return
    const closed = once(this.#process, 'close')
    this.#process.kill('SIGKILL')
    await closed
  }

  async terminate(): Promise<void> {
    if (!this.isRunning || this.#process === undefined) return
    const closed = once(this.#process, 'close')
    this.thaw()
    this.#process.kill('SIGTERM')
    const inTime = await Promise.race([closed.then(() => true), pause(STOP_MS, false, { ref: false })])
    if (!inTime) this.#process.kill('SIGKILL')
    await closed
  }

  freeze(): void {
    if (this.isRunning) this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    if (this.isRunning) this.#process?.kill('SIGCONT')
  }

  async run(sql: string): Promise<readonly Row[]> {
    const connection = await this.connect('admin')
    try {
      const [rows] = await connection.query(sql)
      return Array.isArray(rows) ? (rows as Row[]) : []
    } finally {
      await connection.end()
    }
  }

  /** A connection that stays open. The driver reads what a double cannot hold as its digits, and times as UTC text. */
  connect(account: 'admin' | 'app', database?: string): Promise<Connection> {
    const { address, accounts } = this.#options
    return createConnection({
      ...address,
      user: accounts[account],
      password: accounts.password,
      ...(database === undefined ? {} : { database }),
      connectTimeout: CONNECT_MS,
      supportBigNumbers: true,
      dateStrings: true,
      jsonStrings: true,
      timezone: '+00:00'
    })
  }

  /** Sets the server's clock off by so many seconds. Resolves when a server that runs says so. */
  async skewClock(seconds: number): Promise<void> {
    await writeFile(join(this.folder, CLOCK), clockOffset(seconds))
    const end = AbortSignal.timeout(CONNECT_MS)
    while (this.isRunning) {
      const [row] = await this.run('SELECT UNIX_TIMESTAMP(NOW(6)) AS now')
      if (Math.abs(Number(row?.['now']) - Date.now() / 1000 - seconds) < 2) return
      if (end.aborted) throw new Error(`The clock of ${this.name} did not follow`)
      await pause(50)
    }
  }

  /** Whether it serves statements at this moment. */
  serves(): Promise<boolean> {
    return this.#look().then(
      () => true,
      () => false
    )
  }

  /** As an operator looks at a server that does not serve. One that does not answer may yet. */
  async #isLost(): Promise<boolean> {
    const { isLost } = this.#options
    if (isLost === undefined || !this.isRunning) return false
    try {
      const connection = await this.connect('admin')
      try {
        return await isLost(connection)
      } finally {
        connection.destroy()
      }
    } catch {
      return false
    }
  }

  /** Resolves if it serves. */
  async #look(): Promise<void> {
    const connection = await this.connect('admin')
    try {
      const isReady = (await this.#options.isReady?.(connection)) ?? true
      if (!isReady) throw new Error('It answers and does not serve yet')
    } finally {
      connection.destroy()
    }
  }

  async #tailOfLog(): Promise<string> {
    const log = await readFile(join(this.folder, 'errors.log'), 'utf8').catch(() => '')
    return log.split('\n').slice(-LOG_LINES).join('\n')
  }
}

/** Removes what libfaketime leaves of a process that was killed. */
async function forgetClock(pid: number | undefined): Promise<void> {
  for (const name of ['faketime_shm', 'sem.faketime_sem']) await rm(`/dev/shm/${name}_${pid}`, { force: true })
}
