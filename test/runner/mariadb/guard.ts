import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../free-port.js'
import { findMariadb, type MariadbPrograms } from './programs.js'
import { asRoot, serverArguments } from './server-arguments.js'
import { waitForServer } from './wait-for-server.js'

/**
 * What the guard is told by its parent: end the server by SIGKILL; start it again with its data, at its port; stop its
 * process without ending it, and let it go on.
 */
export type GuardOrder = 'kill' | 'restart' | 'freeze' | 'thaw'

/** What the guard tells its parent: once that the server runs, and of each order that it is done; or what went wrong. */
export type GuardMessage =
  { readonly url: string; readonly version: string } | { readonly done: GuardOrder } | { readonly error: string }

const START_MS = 60_000
const STOP_MS = 20_000

// A process of its own that holds the private server. It lives as long as the channel to its parent, so the server is
// stopped and its data removed whatever becomes of the parent: its end, Ctrl-C, a crash or SIGKILL.
const folder = await mkdtemp(join(tmpdir(), 'mariadb-'))
let server: ChildProcess | undefined
let restart: () => Promise<unknown> = () => Promise.reject(new Error('The server has not been started yet'))
const parentGone = once(process, 'disconnect')
process.on('message', (order) => void obey(order as GuardOrder)) // of private-server.ts, nobody else has the channel
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.disconnect())

try {
  const programs = findMariadb()
  if (programs === undefined) throw new Error('MariaDB is not installed')
  const ready = await Promise.race([start(programs), parentGone.then(() => undefined)])
  if (ready !== undefined) tell(ready)
  await parentGone
} catch (error) {
  tell({ error: `${String(error)}\n${await errorLog()}` })
  process.exitCode = 1
} finally {
  await stop()
  await rm(folder, { recursive: true, force: true })
  process.exit()
}

async function start(programs: MariadbPrograms): Promise<GuardMessage> {
  const data = join(folder, 'data')
  const password = randomBytes(12).toString('hex')
  const install = ['--no-defaults', ...asRoot(), `--datadir=${data}`, '--auth-root-authentication-method=normal']
  await promisify(execFile)(programs.installDb, [...install, '--skip-test-db'])
  await writeFile(
    join(folder, 'init.sql'),
    `CREATE USER IF NOT EXISTS 'test'@'%' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO 'test'@'%' WITH GRANT OPTION;\n`
  )
  const port = await freePort()
  const url = `mysql://test:${password}@127.0.0.1:${port}`
  const run = (): Promise<string> => runServer(programs, { port, url })
  restart = run
  return { url, version: await run() }
}

/** Resolves with the version of the server once it lets us in. */
async function runServer(
  programs: MariadbPrograms,
  { port, url }: { readonly port: number; readonly url: string }
): Promise<string> {
  const args = [...serverArguments({ folder, port }), `--log-error=${join(folder, 'errors')}`]
  const child = spawn(programs.server, args, { stdio: 'ignore' })
  server = child
  const ended = once(child, 'close').then(() => {
    throw new Error(`mariadbd ended with code ${child.exitCode}`)
  })
  const version = await Promise.race([waitForServer(url, AbortSignal.timeout(START_MS)), ended])
  ended.catch(() => undefined)
  return version
}

async function obey(order: GuardOrder): Promise<void> {
  try {
    if (order === 'kill') await kill()
    else if (order === 'restart') await restart()
    else server?.kill(order === 'freeze' ? 'SIGSTOP' : 'SIGCONT')
    tell({ done: order })
  } catch (error) {
    tell({ error: `${String(error)}\n${await errorLog()}` })
  }
}

async function kill(): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
  const closed = once(server, 'close')
  server.kill('SIGKILL')
  await closed
}

async function stop(): Promise<void> {
  if (server?.exitCode !== null || server.signalCode !== null) return
  const closed = once(server, 'close')
  server.kill('SIGCONT')
  server.kill('SIGTERM')
  const inTime = await Promise.race([closed.then(() => true), pause(STOP_MS, false, { ref: false })])
  if (inTime) return
  server.kill('SIGKILL')
  await closed
}

function tell(message: GuardMessage): void {
  if (process.connected) process.send?.(message)
}

async function errorLog(): Promise<string> {
  const text = await readFile(join(folder, 'errors'), 'utf8').catch(() => '')
  return text.split('\n').slice(-30).join('\n')
}
