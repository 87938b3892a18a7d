import { execFileSync, spawn } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

// The programs that the tests need beside Node: MariaDB, Galera, HAProxy, libfaketime, Chromium, Docker, and Python with gRPC. Each is
// looked for, and installed from Debian's packages where it is missing and we may install it.

/** A reason not to run the tests that a person can act on. It is shown without a stack (tools/failure.mjs). */
export class Failure extends Error {
  override readonly name = 'Failure'
}

/** The MariaDB server and the program that makes its data folder. */
export interface MariadbPrograms {
  readonly server: string
  readonly installDb: string
}

export interface GaleraPrograms extends MariadbPrograms {
  /** The path of Galera's library. */
  readonly provider: string
}

const GALERA_LIBRARIES = ['/usr/lib/galera/libgalera_smm.so', '/usr/lib64/galera-4/libgalera_smm.so']

/** undefined where MariaDB is not installed. */
export function findMariadb(): MariadbPrograms | undefined {
  const server = findProgram('mariadbd')
  const installDb = findProgram('mariadb-install-db')
  return server === undefined || installDb === undefined ? undefined : { server, installDb }
}

/** undefined where MariaDB, Galera or rsync is not installed. A new node copies its data from another with rsync. */
export function findGalera(): GaleraPrograms | undefined {
  const mariadb = findMariadb()
  const provider = GALERA_LIBRARIES.find((path) => existsSync(path))
  if (mariadb === undefined || provider === undefined || findProgram('rsync') === undefined) return undefined
  return { ...mariadb, provider }
}

/** Installs MariaDB where it is missing and we may install it. Resolves with whether it is there after that. */
export async function ensureMariadb(): Promise<boolean> {
  if (findMariadb() === undefined) await installPackages('mariadb-server')
  return findMariadb() !== undefined
}

/** Installs MariaDB, Galera and rsync where one is missing and we may install it. */
export async function ensureGalera(): Promise<void> {
  await ensureMariadb()
  await installPackages(
    ...(GALERA_LIBRARIES.some((path) => existsSync(path)) ? [] : ['galera-4']),
    ...(findProgram('rsync') === undefined ? ['rsync'] : [])
  )
}

/**
 * The path of libfaketime for programs with threads, which is installed where it is missing and we may install it. Throws a
 * Failure where it is missing after that.
 */
export async function ensureFaketime(): Promise<string> {
  await installFaketime()
  const path = findFaketime()
  if (path !== undefined) return path
  throw new Failure('Setting the clock of a database off needs libfaketime: install the package libfaketime.')
}

async function installFaketime(): Promise<void> {
  if (findFaketime() === undefined) await installPackages('libfaketime')
}

function findFaketime(): string | undefined {
  // Between the two is the folder of this machine's libraries, such as x86_64-linux-gnu.
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib') : []
  return folders.map((name) => join('/usr/lib', name, 'faketime/libfaketimeMT.so.1')).find((path) => existsSync(path))
}

/** The path of a Chromium: that of TEST_CHROMIUM, else the installed one. Throws a Failure where there is none. */
export function chromiumPath(): string {
  const path = findChromium()
  if (path !== undefined) return path
  throw new Failure(
    'The browser tests need Chromium, and are never skipped: install the package chromium, or set TEST_CHROMIUM to ' +
      'the path of a Chromium.'
  )
}

/** Installs Chromium where it is missing and we may install it. Throws a Failure where there is none after that. */
export async function ensureChromium(): Promise<void> {
  await installChromium()
  chromiumPath()
}

/** The path of HAProxy. Throws a Failure where it is not installed. */
export function haproxyPath(): string {
  const path = findProgram('haproxy')
  if (path !== undefined) return path
  throw new Failure(
    'The tests behind a load balancer need HAProxy, and are never skipped: install the package haproxy.'
  )
}

/** Installs HAProxy where it is missing and we may install it. Throws a Failure where there is none after that. */
export async function ensureHaproxy(): Promise<void> {
  await installHaproxy()
  haproxyPath()
}

async function installHaproxy(): Promise<void> {
  if (findProgram('haproxy') === undefined) await installPackages('haproxy')
}

/** Installs what `npm test` needs of these programs and may install. What is missing after that fails where it is used. */
export async function installPrograms(): Promise<void> {
  await ensureGalera()
  await installHaproxy()
  await installFaketime()
  await installChromium()
  await installPythonGrpc()
  await installJq()
}

/** Installs jq, with which commands of the docs read JSON, where it is missing and we may install it. */
export async function ensureJq(): Promise<void> {
  await installJq()
  if (findProgram('jq') === undefined) throw new Failure('The commands of the docs need jq: install the package jq.')
}

async function installJq(): Promise<void> {
  if (findProgram('jq') === undefined) await installPackages('jq')
}

async function installChromium(): Promise<void> {
  if (findChromium() === undefined) await installPackages('chromium')
}

/**
 * Installs Docker, docker-compose and debootstrap where one is missing and we may install it. Throws a Failure where Docker
 * or docker-compose is missing after that. debootstrap is needed only where images cannot be pulled.
 */
export async function ensureContainerPrograms(): Promise<void> {
  const hasDocker = findProgram('docker') !== undefined && (findProgram('dockerd') !== undefined || hasEngine())
  await installPackages(
    ...(hasDocker ? [] : ['docker.io']),
    ...['docker-compose', 'debootstrap'].filter((program) => findProgram(program) === undefined)
  )
  if (findProgram('docker') === undefined || findProgram('docker-compose') === undefined) {
    throw new Failure('The tests of containers need Docker: install the packages docker.io and docker-compose.')
  }
}

/** What a caller in Python is made with: the compiler of protos with its plugin, and the packages of Debian's own Python. */
const PYTHON_GRPC = [
  'libprotobuf-dev',
  'protobuf-compiler',
  'protobuf-compiler-grpc',
  'python3-grpcio',
  'python3-protobuf'
]

/** The Python that Debian's packages are for; another one may come first in PATH. */
export const PYTHON = '/usr/bin/python3'

/**
 * Installs the compiler of protos and gRPC for Python where one is missing and we may install it. Throws a Failure where
 * one is missing after that.
 */
export async function ensurePythonGrpc(): Promise<void> {
  await installPythonGrpc()
  if (!hasPythonGrpc()) {
    throw new Failure(`The tests of gRPC callers in Python need Debian's packages ${PYTHON_GRPC.join(', ')}.`)
  }
}

async function installPythonGrpc(): Promise<void> {
  if (!hasPythonGrpc()) await installPackages(...PYTHON_GRPC)
}

function hasPythonGrpc(): boolean {
  const hasFiles = existsSync('/usr/include/google/protobuf/timestamp.proto') && existsSync(PYTHON)
  if (!hasFiles || ['protoc', 'grpc_python_plugin'].some((name) => findProgram(name) === undefined)) return false
  try {
    execFileSync(PYTHON, ['-c', 'import grpc, google.protobuf'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function hasEngine(): boolean {
  try {
    execFileSync('docker', ['info'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function findChromium(): string | undefined {
  return process.env['TEST_CHROMIUM'] || findProgram('chromium') || findProgram('chromium-browser')
}

/** Installs Debian packages. Does nothing where none is named, where we may not install any, or without apt-get. */
async function installPackages(...names: readonly string[]): Promise<void> {
  const prefix = findProgram('apt-get') === undefined ? undefined : rootPrefix()
  if (prefix === undefined || names.length === 0) return
  process.stderr.write(`Installing ${names.join(', ')} …\n`)
  await aptGet(prefix, ['-qq', 'update'])
  // Its exit code does not matter. On a machine without an init system, starting the package's service fails after the
  // package itself has been installed. The caller looks for the programs.
  await aptGet(prefix, ['-qq', '-y', '-o=Dpkg::Use-Pty=0', 'install', '--no-install-recommends', ...names])
}

/** A run of the tests that installs packages has this file locked. It stays, since others may be waiting for it. */
const INSTALLING = '/var/tmp/uniform-rest-installing'

/**
 * Runs apt-get with its output on stderr. Another run of the tests that installs packages is waited for: of apt-get's own
 * locks, it waits for that of dpkg and not for that of the lists.
 */
function aptGet(prefix: readonly string[], args: readonly string[]): Promise<number> {
  // The lock is not handed on: a service that a package starts would keep it.
  const locked = [...prefix, 'flock', '--close', '--timeout=600', INSTALLING]
  const command = [...locked, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o=DPkg::Lock::Timeout=300']
  const [program = 'apt-get', ...rest] = [...command, ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: ['ignore', process.stderr, process.stderr] })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}

/** What to put before a command that needs root; undefined where we cannot become root without a password. */
function rootPrefix(): readonly string[] | undefined {
  if (process.getuid?.() === 0) return []
  try {
    execFileSync('sudo', ['-n', 'true'], { stdio: 'ignore' })
    return ['sudo', '-n']
  } catch {
    return undefined
  }
}

// Debian installs servers into folders that an ordinary user's PATH does not name.
const FURTHER_FOLDERS = [
  '/usr/sbin',
  '/usr/local/sbin',
  '/usr/libexec',
  '/usr/bin',
  '/usr/local/bin',
  '/opt/homebrew/bin'
]

/** The path of a program; undefined where there is none. */
function findProgram(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...FURTHER_FOLDERS]
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
