import { createConnection, type Connection } from 'mysql2/promise'
import { DATABASE_KINDS } from '../stack/databases.js'
import { ApiStore } from './api-store.js'

export interface LoggedStatement {
  readonly thread: number
  /** `Query`, `Prepare`, `Execute`, … */
  readonly command: string
  readonly text: string
}

/**
 * MariaDB's own general log of one database, the judge that the contract names. Log users take turns by a lock of the
 * server, since the switch is global; lines of other databases' connections are left out.
 */
export class StatementLog {
  readonly #connection: Connection
  readonly #database: string
  readonly #before: Readonly<Record<string, unknown>>

  private constructor(connection: Connection, database: string, before: Readonly<Record<string, unknown>>) {
    this.#connection = connection
    this.#database = database
    this.#before = before
  }

  /** Of the server that tests share, unless the account of the database's own URL has the rights that it takes. */
  static async open(databaseUrl: string, account = process.env['TEST_MYSQL_URL']): Promise<StatementLog> {
    const url = new URL(databaseUrl.replace(/^mariadb:/, 'mysql:'))
    const database = url.pathname.slice(1)
    url.pathname = '/'
    const connection = await createConnection({
      uri: (account ?? url.href).replace(/^mariadb:/, 'mysql:'),
      dateStrings: true
    })
    const takesTurn = async (): Promise<boolean> => {
      const [turns] = await connection.query("SELECT GET_LOCK('uniform-rest-general-log', 60) AS taken")
      return Number((turns as { readonly taken: unknown }[])[0]?.taken) === 1
    }
    while (!(await takesTurn()));
    const [rows] = await connection.query('SELECT @@global.general_log AS on_, @@global.log_output AS output')
    await connection.query("SET GLOBAL log_output = 'TABLE'")
    // Each look reads the table from its beginning, which is of no use to who has the turn.
    await connection.query('TRUNCATE TABLE mysql.general_log')
    await connection.query('SET GLOBAL general_log = 1')
    const [before = {}] = rows as Record<string, unknown>[]
    return new StatementLog(connection, database, before)
  }

  /** What the server was told by the connections of a database, its own unless another is named, while `work` ran. */
  async during(work: () => Promise<unknown>, database = this.#database): Promise<LoggedStatement[]> {
    const [[start]] = (await this.#connection.query('SELECT COUNT(*) AS length FROM mysql.general_log')) as unknown as [
      [{ length: number }]
    ]
    const threads = await this.#threads(database)
    await work()
    for (const thread of await this.#threads(database)) threads.add(thread)
    // By their place in the log, which the server appends to: it writes the time of each line in the zone of the line's
    // own session.
    const [rows] = await this.#connection.query(
      `SELECT thread_id AS thread, command_type AS command, CAST(argument AS CHAR) AS text FROM mysql.general_log LIMIT 1000000000 OFFSET ${start.length}`
    )
    // The statement above names the columns.
    const lines = rows as LoggedStatement[]
    for (const { thread, command, text } of lines) {
      if (command === 'Connect' && text.includes(` on ${database} `)) threads.add(Number(thread))
    }
    return withoutDispatcher(lines.filter(({ thread }) => threads.has(Number(thread))))
  }

  async close(): Promise<void> {
    if (Number(this.#before['on_']) === 0) await this.#connection.query('SET GLOBAL general_log = 0')
    await this.#connection.query('SET GLOBAL log_output = ?', [String(this.#before['output'])])
    await this.#connection.end()
  }

  async #threads(database: string): Promise<Set<number>> {
    const [rows] = await this.#connection.query('SELECT id FROM information_schema.processlist WHERE db = ?', [
      database
    ])
    return new Set((rows as { id: number }[]).map(({ id }) => Number(id)))
  }
}

/**
 * The lines without those of the dispatcher of the outbox, which looks for events once a second and settles what earlier
 * writes emitted, whatever the work is.
 */
function withoutDispatcher(lines: readonly LoggedStatement[]): LoggedStatement[] {
  const left = new Set(lines.filter(({ text }) => !/^SELECT .*\bFROM ur_outbox\b/.test(text)))
  const open = new Map<number, LoggedStatement[]>()
  for (const line of left) {
    const { thread, text } = line
    // One that has begun before the work has no beginning here, and is none of the work.
    const transaction = text.startsWith('START TRANSACTION') ? [] : (open.get(thread) ?? [])
    open.set(thread, transaction)
    transaction.push(line)
    if (!/^(COMMIT|ROLLBACK)/.test(text)) continue
    open.delete(thread)
    if (settles(transaction) || !begins(transaction)) for (const one of transaction) left.delete(one)
  }
  // Of those that the dispatcher has only begun.
  for (const transaction of open.values()) {
    if (settles(transaction) || (transaction.length === 1 && begins(transaction)))
      for (const one of transaction) left.delete(one)
  }
  return [...left]
}

function begins([first]: readonly LoggedStatement[]): boolean {
  return first?.text.startsWith('START TRANSACTION') === true
}

function settles(transaction: readonly LoggedStatement[]): boolean {
  return transaction.some(({ text }) => text.startsWith('UPDATE ur_outbox SET'))
}

/** Lines that ran something: not the pool's own connecting, with what it asks the server then, pinging and closing. */
export function statements(lines: readonly LoggedStatement[]): LoggedStatement[] {
  return lines.filter(({ command, text }) => {
    if (!['Query', 'Prepare', 'Execute'].includes(command)) return false
    return !/^(SET |SHOW (VARIABLES|GLOBAL STATUS) |SELECT (VERSION\(\)|1)\b)/i.test(text)
  })
}

/**
 * A suite over a store on a database server that logs every statement, with a function that answers what the server was
 * told while the work ran.
 */
export function describeLogged(
  title: string,
  body: (store: ApiStore, during: (work: () => Promise<unknown>) => Promise<LoggedStatement[]>) => void,
  settings: Parameters<ApiStore['start']>[0] = {}
): void {
  describe(title, () => {
    const kind = DATABASE_KINDS.find((one) => one !== 'sqlite')
    if (kind === undefined) throw new Error('no database server among the kinds')
    const store = new ApiStore(kind)
    let log: StatementLog | undefined

    before(async () => {
      await store.start(settings)
      log = await StatementLog.open(store.databaseUrl)
    })
    after(async () => {
      await log?.close()
      await store.stop()
    })

    body(store, (work) => {
      if (log === undefined) throw new Error('the log is open within tests alone')
      return log.during(work)
    })
  })
}
