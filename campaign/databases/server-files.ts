import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ensurePackages, findFaketime } from '../../test/runner/programs.js'
import type { Address, StoreUrls } from './database.js'
import { MAX_CONNECTIONS } from './server-hurts.js'
import { type Accounts, CLOCK, clockOffset } from './server-node.js'
import { mountSmallDisk, type SmallDisk } from './small-disk.js'

const run = promisify(execFile)

/** The databases of `DATABASE_URL` and `REVIEWS_DATABASE_URL` on every server. */
export const STORE = 'store'
export const REVIEWS = 'reviews'

export function newAccounts(): Accounts {
  return { admin: 'admin', app: 'app', password: randomBytes(12).toString('hex') }
}

export function storeUrls({ app, password }: Accounts, { host, port }: Address): StoreUrls {
  const server = `mysql://${app}:${password}@${host}:${port}`
  return { url: `${server}/${STORE}`, reviewsUrl: `${server}/${REVIEWS}` }
}

/** Makes the accounts and the databases when an empty server starts. */
export const INIT_FILE = 'init.sql'

export interface ServerFolder {
  readonly folder: string
  /** MiB of the small disk that holds the data. */
  readonly diskSize: number
  readonly accounts: Accounts
  /** Whom the files belong to; this user without it. */
  readonly owner?: string
}

/**
 * Makes the folder of one server. Only root may mount a disk: without root its data are in the folder, and the server has no
 * `disk-full`.
 */
export async function makeServerFolder({
  folder,
  diskSize,
  accounts,
  owner
}: ServerFolder): Promise<SmallDisk | undefined> {
  const disk = join(folder, 'disk')
  await mkdir(disk, { recursive: true })
  const mounted = process.getuid?.() === 0 ? await mountSmallDisk(disk, diskSize) : undefined
  try {
    for (const name of ['disk/data', 'tmp']) await mkdir(join(folder, name))
    await writeFile(join(folder, CLOCK), clockOffset(0))
    const { admin, app, password } = accounts
    const statements = [
      ...[STORE, REVIEWS].map((name) => `CREATE DATABASE ${name} CHARACTER SET utf8mb4`),
      `CREATE USER '${admin}'@'%' IDENTIFIED BY '${password}'`,
      `GRANT ALL ON *.* TO '${admin}'@'%' WITH GRANT OPTION`,
      `CREATE USER '${app}'@'%' IDENTIFIED BY '${password}'`,
      ...[STORE, REVIEWS].map((name) => `GRANT ALL ON ${name}.* TO '${app}'@'%'`)
    ]
    await writeFile(join(folder, INIT_FILE), statements.map((statement) => `${statement};\n`).join(''))
    if (owner !== undefined) {
      await run('chown', ['-R', `${owner}:`, folder])
      // It has to pass through, since a folder for temporary files is its maker's alone.
      await chmod(dirname(folder), 0o711)
    }
    return mounted
  } catch (error) {
    await mounted?.unmount()
    throw error
  }
}

/** What the server is told when its data are made and at each start: no setting comes from the machine's configuration. */
export function commonArguments(folder: string): string[] {
  return [
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    `--datadir=${join(folder, 'disk/data')}`,
    `--tmpdir=${join(folder, 'tmp')}`
  ]
}

/** What it is told at each start. Names that one of the products does not know begin with `loose`. */
export function serverArguments(folder: string, { host, port }: Address): string[] {
  return [
    `--socket=${join(folder, 'socket')}`,
    `--pid-file=${join(folder, 'pid')}`,
    `--log-error=${join(folder, 'errors.log')}`,
    `--bind-address=${host}`,
    `--port=${port}`,
    `--secure-file-priv=${join(folder, 'tmp')}`,
    '--skip-name-resolve',
    '--skip-log-bin',
    '--loose-mysqlx=OFF',
    '--character-set-server=utf8mb4',
    `--max-connections=${MAX_CONNECTIONS}`,
    '--innodb-flush-method=fsync',
    '--innodb-buffer-pool-size=128M',
    '--loose-innodb-log-file-size=32M',
    '--loose-innodb-redo-log-capacity=64M'
  ]
}

/** Of a server whose clock can be set off; only the time of day is, and not the time that waits are measured by. */
export async function clockEnvironment(folder: string): Promise<Readonly<Record<string, string>>> {
  await ensurePackages('libfaketime')
  return {
    LD_PRELOAD: findFaketime() ?? '',
    FAKETIME_TIMESTAMP_FILE: join(folder, CLOCK),
    // Seconds after which the file is read again.
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1'
  }
}

/** Stands before a server's command: the kernel ends the server when this process ends, even by SIGKILL. */
export const END_WITH_PARENT = ['setpriv', '--pdeathsig', 'KILL', '--']
