import { Failure } from './programs.js'
import { Mariadb, versionOf } from './mariadb.js'

/** A MySQL or MariaDB server that tests may make databases on. */
interface DatabaseServer {
  /** `mysql://user:password@host:port` of an account with all rights. */
  readonly url: string
  /** For people: which server it is. */
  readonly description: string
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
  if (url === '') return startPrivateServer({ ownGroup: true, args: isForgetful ? FORGETFUL : [] })
  try {
    return { url, description: `the server of TEST_MYSQL_URL, ${await versionOf(url)}`, stop: async () => {} }
  } catch (error) {
    throw new Failure(`The server of TEST_MYSQL_URL does not let us in: ${String(error)}.`)
  }
}

/** A private server that a test may stop in the ways a machine fails. */
export interface PrivateServer extends DatabaseServer {
  /** Ends it with SIGKILL. */
  kill(): Promise<void>
  /** Starts it again with its data and its port. Resolves when it accepts clients. */
  restart(): Promise<void>
  /** Stops its process with SIGSTOP, so that its connections stay open and nothing answers. */
  freeze(): Promise<void>
  /** Lets a frozen server continue. */
  thaw(): Promise<void>
}

/** Starts a MariaDB on a free loopback port with a data folder of its own. It ends with this process. */
export async function startPrivateServer({
  ownGroup = false,
  args = [] as readonly string[]
} = {}): Promise<PrivateServer> {
  // In a process group of its own: Ctrl-C in the terminal must not end the server before the tests have ended.
  const server = await Mariadb.make({ ownGroup, args: [...ARGUMENTS, ...args] })
  try {
    const version = await server.start()
    return {
      url: server.url,
      description: `private MariaDB ${version}`,
      kill: () => server.kill(),
      restart: async () => void (await server.start()),
      freeze: async () => server.signal('SIGSTOP'),
      thaw: async () => server.signal('SIGCONT'),
      stop: () => server.stop()
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}
