import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensurePackages, Failure, findProgram } from '../../test/runner/programs.js'
import { type DebianPackage, unpackedPackage } from './debian-packages.js'

/** A database server that is there to be started. */
export interface ServerProgram {
  readonly product: 'MariaDB' | 'MySQL'
  /** The program, and before it what loads it. */
  readonly command: readonly string[]
  /** Where it finds what came with it. */
  readonly args: readonly string[]
  /**
   * Whether libfaketime may set its clock off. Waits of MySQL 9.7 that are measured by the monotonic clock spin under it: a
   * start took 22 seconds of processor time instead of half a second.
   */
  readonly hasClock: boolean
  /** Makes the system tables in an empty data folder. `args` are those of the server, `prefix` stands before the command. */
  initialise(args: readonly string[], prefix: readonly string[]): Promise<void>
}

const MARIADB_NEWEST: DebianPackage = { suite: 'trixie', name: 'mariadb-server-core' }
/** Debian's stable releases have no MySQL. */
const MYSQL: DebianPackage = { suite: 'sid', name: 'mysql-server-core' }

/** The MariaDB of this machine's Debian release, which is installed where it is missing. */
export async function installedMariadb(): Promise<ServerProgram> {
  await ensurePackages('mariadb-server')
  const server = findProgram('mariadbd') ?? ''
  const share = ['/usr/share/mysql', '/usr/share/mariadb'].find((folder) => existsSync(join(folder, 'charsets')))
  if (share === undefined) throw new Failure('MariaDB has no folder of its own under /usr/share.')
  return mariadb([server], share, [])
}

export async function newestMariadb(progress: (line: string) => void): Promise<ServerProgram> {
  const { root, loader } = await unpackedPackage(MARIADB_NEWEST, progress)
  const share = join(root, 'usr/share/mariadb')
  return mariadb([...loader, join(root, 'usr/sbin/mariadbd')], share, filesOf(root, share))
}

export async function newestMysql(progress: (line: string) => void): Promise<ServerProgram> {
  const { root, loader } = await unpackedPackage(MYSQL, progress)
  const command = [...loader, join(root, 'usr/sbin/mysqld')]
  const args = filesOf(root, join(root, 'usr/share/mysql'))
  return {
    product: 'MySQL',
    command,
    args,
    hasClock: false,
    initialise: (more, prefix) =>
      runToEnd([...prefix, ...command, '--no-defaults', '--initialize-insecure', ...args, ...more], '')
  }
}

function filesOf(root: string, share: string): string[] {
  return [
    `--lc-messages-dir=${share}`,
    `--character-sets-dir=${join(share, 'charsets')}`,
    `--plugin-dir=${join(root, 'usr/lib/mysql/plugin')}`
  ]
}

/** The scripts of mariadb-install-db, which cannot be used: it would start the server without its loader. */
const SYSTEM_TABLES = [
  '_system_tables.sql',
  '_performance_tables.sql',
  '_system_tables_data.sql',
  'maria_add_gis_sp_bootstrap.sql',
  '_sys_schema.sql'
]

function mariadb(command: readonly string[], share: string, args: readonly string[]): ServerProgram {
  return {
    product: 'MariaDB',
    command,
    args,
    hasClock: true,
    async initialise(more, prefix) {
      const files = await readdir(share)
      const scripts = SYSTEM_TABLES.flatMap((end) => files.filter((file) => file.endsWith(end)))
      const texts = await Promise.all(scripts.map((script) => readFile(join(share, script), 'utf8')))
      const sql = ['CREATE DATABASE mysql;', 'USE mysql;', 'SET @auth_root_socket = NULL;', ...texts].join('\n')
      const bootstrap = ['--no-defaults', '--bootstrap', '--max-allowed-packet=8M', '--net-buffer-length=16K']
      await runToEnd([...prefix, ...command, ...bootstrap, ...args, ...more], `${sql}\n`)
    }
  }
}

async function runToEnd([program = '', ...args]: readonly string[], input: string): Promise<void> {
  const child = spawn(program, args, { stdio: ['pipe', 'ignore', 'pipe'] })
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text))
  child.stdin.on('error', () => undefined) // Its end is told below.
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Failure(`${program} ended with code ${code}: ${said.join('').slice(-2000)}`)
}
