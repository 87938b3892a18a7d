import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A reason not to run the tests that a person can act on. It is shown without a stack (tools/failure.mjs). */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** The Debian packages that tests need beside Node: whether what the tests take from one is here, from wherever it came. */
const PACKAGES = {
  'mariadb-server': () => has('mariadbd', 'mariadb-install-db'),
  'galera-4': () => findGalera() !== undefined,
  // A node of Galera copies its data from another with it.
  rsync: () => has('rsync'),
  haproxy: () => has('haproxy'),
  libfaketime: () => findFaketime() !== undefined,
  'chromium-headless-shell': () => findChromium() !== undefined,
  jq: () => has('jq'),
  'docker.io': () => has('docker') && (has('dockerd') || succeeds('docker', 'info')),
  'docker-compose': () => has('docker-compose'),
  // Only where images cannot be pulled.
  mmdebstrap: () => has('mmdebstrap') || !has('apt-get'),
  'libprotobuf-dev': () => existsSync('/usr/include/google/protobuf/timestamp.proto'),
  'protobuf-compiler': () => has('protoc'),
  'protobuf-compiler-grpc': () => has('grpc_python_plugin'),
  'python3-grpcio': () => succeeds(PYTHON, '-c', 'import grpc'),
  'python3-protobuf': () => succeeds(PYTHON, '-c', 'import google.protobuf')
} as const
export type DebianPackage = keyof typeof PACKAGES

const INSTEAD: Readonly<Partial<Record<DebianPackage, string>>> = {
  'mariadb-server': 'TEST_MYSQL_URL may name a server instead.',
  'chromium-headless-shell': 'TEST_CHROMIUM may name the path of a browser instead.'
}

/** The Python that Debian's packages are for; another one may come first in PATH. */
export const PYTHON = '/usr/bin/python3'

/**
 * Installs those of the packages that are missing, and says so before. Throws a Failure that names those that are missing
 * after that, or that may not be installed.
 */
export async function ensurePackages(...names: readonly DebianPackage[]): Promise<void> {
  const missing = names.filter((name) => !PACKAGES[name]())
  if (missing.length === 0) return
  const become = has('apt-get') ? rootPrefix() : undefined
  if (become !== undefined) {
    process.stderr.write(`Installing the Debian packages ${missing.join(', ')}, which these tests need …\n`)
    await aptGet(become, ['-qq', 'update'])
    // Its exit code does not matter. On a machine without an init system, starting the package's service fails after the
    // package itself has been installed.
    await aptGet(become, ['-qq', '-y', '-o=Dpkg::Use-Pty=0', 'install', '--no-install-recommends', ...missing])
  }
  const absent = missing.filter((name) => !PACKAGES[name]())
  if (absent.length === 0) return
  const why = become === undefined ? 'may not be installed by this user' : 'could not be installed'
  const what = `These tests need the Debian packages ${absent.join(', ')}, which are missing and ${why}.`
  throw new Failure([what, ...absent.flatMap((name) => INSTEAD[name] ?? [])].join(' '))
}

/** Runs apt-get with its output on stderr. It waits for another one. */
async function aptGet(become: readonly string[], args: readonly string[]): Promise<void> {
  const command = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o=DPkg::Lock::Timeout=300'] as const
  const [program, ...before] = [...become, ...command]
  await once(spawn(program, [...before, ...args], { stdio: ['ignore', process.stderr, process.stderr] }), 'close')
}

/** What to put before a command that needs root; undefined where we cannot become root without a password. */
function rootPrefix(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return []
  return succeeds('sudo', '-n', 'true') ? ['sudo', '-n'] : undefined
}

/** The path of Galera's library. */
export function findGalera(): string | undefined {
  const paths = ['/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera-4/libgalera_smm.so']
  return paths.find((path) => existsSync(path))
}

/** The path of libfaketime for programs with threads. */
export function findFaketime(): string | undefined {
  // Between the two is the folder of this machine's libraries, such as x86_64-linux-gnu.
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : []
  return folders.map((name) => join('/usr/lib', name, 'faketime/libfaketimeMT.so.1')).find((path) => existsSync(path))
}

/** The path of a Chromium: that of TEST_CHROMIUM, else the installed one. The one without windows takes a third of the time. */
export function findChromium(): string | undefined {
  const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser']
  return process.env['TEST_CHROMIUM'] || programs.map(findProgram).find((path) => path !== undefined)
}

/** Debian installs servers into folders that an ordinary user's PATH does not name. */
const FURTHER_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']

/** The path of a program; undefined where there is none. */
export function findProgram(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...FURTHER_FOLDERS]
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function has(...programs: readonly string[]): boolean {
  return programs.every((program) => findProgram(program) !== undefined)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
