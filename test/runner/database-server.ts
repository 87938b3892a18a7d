import { execFile, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { RowDataPacket } from 'mysql2'
import { createConnection } from 'mysql2/promise'
import { ensureGalera, ensureMariadb, Failure } from './programs.js'

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
const CONTAINER_IMAGE = 'mariadb:10.11'
const CONTAINER_START_MS = 120_000
const run = promisify(execFile)

/**
 * The server of TEST_MYSQL_URL; else a private MariaDB, which is installed when it is missing and we may install it;
 * else one in a container. Throws a Failure when none of these can be had, because no database is ever skipped.
 */
export async function startDatabaseServer(): Promise<DatabaseServer> {
  const given = process.env['TEST_MYSQL_URL']
  if (given) return givenServer(given)
  // In a process group of its own: Ctrl-C in the terminal must not end the server before the tests have ended.
  if (await ensureMariadb()) return startPrivateServer({ ownGroup: true })
  if (await hasContainerEngine()) return startContainer()
  throw new Failure(
    'The tests need MariaDB or MySQL, and skip neither: set TEST_MYSQL_URL to a server where databases may be made ' +
      '(mysql://user:password@host:3306), or install the package mariadb-server, or start a container engine.'
  )
}

async function givenServer(url: string): Promise<DatabaseServer> {
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

/**
 * Starts a MariaDB on a free loopback port with a data folder of its own. A guard process holds it and removes the
 * data. A test needs no `ownGroup`: the runner stops what is left in the process group of a test file's process.
 */
export async function startPrivateServer({ ownGroup = false } = {}): Promise<PrivateServer> {
  await ensureMariadb()
  const guard = await startGuard(['single'], ownGroup)
  return {
    url: guard.urls[0] ?? '',
    description: `private MariaDB ${guard.version}`,
    kill: () => guard.order('kill'),
    restart: () => guard.order('restart'),
    freeze: () => guard.order('freeze'),
    thaw: () => guard.order('thaw'),
    stop: guard.stop
  }
}

/** A Galera cluster, each node of which accepts writes. */
export interface Galera {
  /** `mysql://user:password@host:port` of each node, of an account with all rights. */
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/** Starts a cluster of `size` nodes on free loopback ports, with data folders of their own. */
export async function startGalera(size: number): Promise<Galera> {
  await ensureGalera()
  const { urls, stop } = await startGuard(['galera', String(size)], false)
  return { urls, stop }
}

/** What the guard process (mariadb-guard.ts) is asked to do with a server that is alone. */
export type GuardOrder = 'kill' | 'restart' | 'freeze' | 'thaw'

/** What the guard process says: once that the servers accept clients; of each order that it is done; or what failed. */
export type GuardMessage =
  | { readonly urls: readonly string[]; readonly version: string }
  | { readonly done: GuardOrder }
  | { readonly error: string }

interface Guard {
  readonly urls: readonly string[]
  readonly version: string
  order(what: GuardOrder): Promise<void>
  /** Stops the servers and removes their data. */
  stop(): Promise<void>
}

async function startGuard(args: readonly string[], ownGroup: boolean): Promise<Guard> {
  const guard = fork(fileURLToPath(new URL('mariadb-guard.js', import.meta.url)), args, { detached: ownGroup })
  // The event is `exit`, because `close` does not come after a disconnect from this side.
  const ended = once(guard, 'exit')
  const nextMessage = (): Promise<GuardMessage> =>
    new Promise((resolve) => {
      guard.once('message', (received) => resolve(received as GuardMessage)) // mariadb-guard.ts alone has the channel
      guard.once('exit', () => resolve({ error: `the guard process ended with code ${guard.exitCode}` }))
    })
  const ready = await nextMessage()
  if (!('urls' in ready)) {
    await ended
    throw new Failure(`A private MariaDB did not start: ${'error' in ready ? ready.error : 'no reason given'}`)
  }
  return {
    ...ready,
    async order(what) {
      const answer = nextMessage()
      guard.send(what)
      const message = await answer
      if ('error' in message) throw new Failure(`A private MariaDB did not ${what}: ${message.error}`)
    },
    async stop() {
      if (guard.connected) guard.disconnect()
      await ended
    }
  }
}

async function hasContainerEngine(): Promise<boolean> {
  return run('docker', ['info']).then(
    () => true,
    () => false
  )
}

/** Starts MariaDB in a container on a free loopback port. */
async function startContainer(): Promise<DatabaseServer> {
  const password = randomBytes(12).toString('hex')
  const options = ['--detach', '--rm', '--publish=127.0.0.1::3306', '--tmpfs=/var/lib/mysql']
  const server = [
    '--character-set-server=utf8mb4',
    `--default-time-zone=${SERVER_TIME_ZONE}`,
    '--max-connections=500',
    '--log-output=TABLE'
  ]
  const { stdout } = await run('docker', [
    'run',
    ...options,
    `--env=MARIADB_ROOT_PASSWORD=${password}`,
    CONTAINER_IMAGE,
    ...server
  ])
  const container = stdout.trim()
  const stop = async (): Promise<void> => void (await run('docker', ['rm', '--force', container]))
  try {
    const { stdout: published } = await run('docker', ['port', container, '3306/tcp'])
    const port = /:(\d+)\s*$/.exec(published)?.[1]
    const url = `mysql://root:${password}@127.0.0.1:${port}`
    const version = await waitForServer(url, AbortSignal.timeout(CONTAINER_START_MS))
    return { url, description: `MariaDB ${version} in a container`, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Resolves with the server's version once it accepts clients. Rejects with the last error when the signal aborts. */
export async function waitForServer(url: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    try {
      return await versionOf(url)
    } catch (error) {
      if (signal.aborted) throw error
      await pause(100)
    }
  }
}

async function versionOf(url: string): Promise<string> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [rows] = await connection.query<({ version: string } & RowDataPacket)[]>('SELECT VERSION() AS version')
    return rows[0]?.version ?? ''
  } finally {
    await connection.end()
  }
}
