import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { brotliCompressSync } from 'node:zlib'
import { Failure } from './failure.mjs'
import { projectRoot } from './project-root.mjs'

/** Code that does not compile. What was installed and generated before is there. */
export class CompileFailure extends Failure {}

const LOCK_FILE = 'package-lock.json'

/**
 * Makes everything ready to run from whatever state the checkout is in: dependencies, types of the proto files, dist/, the
 * packages for clients, the admin. Costs milliseconds when all is ready.
 */
export async function prepare() {
  checkNodeVersion()
  await withLock(async () => {
    if (isOlder('node_modules/.package-lock.json', LOCK_FILE)) await installDependencies()
    if (isOlder(PROTO_TYPES, 'proto', LOCK_FILE)) await generateProtoTypes()
    await compile()
    if (isOlder(join(LIBRARY_COPY, 'swagger-ui-bundle.js.br'), LOCK_FILE)) copyLibrary()
    if (isOlder(ADMIN, ...ADMIN_SOURCES, LOCK_FILE)) {
      process.stderr.write('Bundling the admin …\n')
      // What it imports may have been installed just now.
      const { bundleAdmin } = await import('./bundle-admin.mjs')
      await bundleAdmin(join(projectRoot, ADMIN, '..'))
    }
  })
}

const OLDEST_NODE = /** @type {const} */ ([20, 19])

/** Throws a Failure for a Node that is too old, before anything else can fail on it. */
function checkNodeVersion() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_NODE
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return
  throw new Failure(
    `Node ${OLDEST_NODE.join('.')} or later is needed; this is ${process.versions.node} (${process.execPath}).`
  )
}

async function installDependencies() {
  process.stderr.write('Installing dependencies …\n')
  // No dependency needs its install scripts: what they would build or fetch comes with the packages.
  const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env['npm_execpath']
  // Under `npm start` this is the npm that runs us; `npm` from the PATH may be another one.
  const code = await (npm?.endsWith('npm-cli.js') === true
    ? runProgram(process.execPath, [npm, ...args])
    : runProgram('npm', args))
  if (code !== 0) throw new Failure('Installing the dependencies failed: see what npm says above.')
  // The compiler looks for changed sources alone, not for changed types of dependencies.
  for (const state of COMPILER_STATES) rmSync(join(projectRoot, state), { force: true })
}

const GENERATOR = 'node_modules/@grpc/proto-loader/build/bin/proto-loader-gen-types.js'
const TARGET = '--longs=String --enums=String --defaults --oneofs --grpcLib=@grpc/grpc-js --targetFileExtension=.ts'
const FOLDERS = '--importFileExtension=.js -I=proto -O=shared/gen'
const PROTOS = [
  'entity/v1/entity_service.proto',
  'auth/v1/auth_service.proto',
  'transport/v1/call_stream.proto',
  'google/rpc/status.proto',
  'google/rpc/error_details.proto'
]
/** One of them, which is there when all are. */
const PROTO_TYPES = 'shared/gen/entity_service.ts'

async function generateProtoTypes() {
  process.stderr.write('Generating types from proto/ …\n')
  const remove = () => rmSync(join(projectRoot, 'shared/gen'), { recursive: true, force: true })
  remove()
  const args = [GENERATOR, ...TARGET.split(' '), ...FOLDERS.split(' '), ...PROTOS]
  if ((await runProgram(process.execPath, args)) === 0) return
  remove()
  throw new Failure('Generating types from proto/ failed: see above.')
}

/** Folders of a tsconfig.json. The packages for clients have builds of their own, so that they hold nothing of the server. */
const PROJECTS = ['.', 'examples/store/storefront/client', 'clients/react-admin', 'clients/typescript']
/** What the compiler remembers of its last build. */
const COMPILER_STATES = [
  'dist/.tsbuildinfo',
  ...['shared', 'gateway', 'data-service', 'schema', 'cli'].map((room) => `dist/.tsbuildinfo-${room}`),
  'dist/.tsbuildinfo-client',
  'clients/react-admin/dist/.tsbuildinfo',
  'clients/typescript/dist/.tsbuildinfo'
]
/** Beyond this the compiler has found something to do. */
const NOTHING_TO_COMPILE_MS = 2_000

/** The compiler itself finds what has changed, within a tenth of a second where nothing has. */
async function compile() {
  const states = () => COMPILER_STATES.map(timeOf).join()
  const before = states()
  const timer = setTimeout(() => process.stderr.write('Compiling …\n'), NOTHING_TO_COMPILE_MS)
  const code = await runProgram(process.execPath, ['node_modules/typescript/bin/tsc', '--build', ...PROJECTS])
  clearTimeout(timer)
  if (code !== 0) throw new CompileFailure('Compiling failed: see above.')
  if (before === states()) return
  removeOrphans('dist', '')
  removeOrphans('clients/react-admin/dist', 'clients/react-admin/src')
  removeOrphans('clients/typescript/dist', 'clients/typescript/src')
}

/**
 * Removes the output of deleted sources, which the compiler leaves and npm would pack.
 *
 * @param {string} output
 * @param {string} sources
 */
function removeOrphans(output, sources) {
  for (const path of readdirSync(join(projectRoot, output), { recursive: true, encoding: 'utf8' })) {
    const [, name] = /^(.+?)\.(?:js(?:\.map)?|d\.ts)$/.exec(path) ?? []
    const hasSource = ['ts', 'tsx'].some((kind) => existsSync(join(projectRoot, sources, `${name}.${kind}`)))
    if (name !== undefined && !hasSource) rmSync(join(projectRoot, output, path))
  }
}

/**
 * What `GET /docs/try` serves of swagger-ui, compressed by Brotli, and its licences (docs/decisions/044). The gateway finds it
 * in the package of the pages (gateway/server/pages-package.ts).
 */
const LIBRARY_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js']
const LIBRARY_LICENCES = ['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt']
const LIBRARY = 'node_modules/swagger-ui-dist'
const LIBRARY_COPY = 'clients/pages/dist/try-out'

function copyLibrary() {
  // Builds of before put both into the gateway, which npm would pack.
  for (const name of [...LIBRARY_LICENCES, ...LIBRARY_FILES.map((file) => `${file}.br`)])
    rmSync(join(projectRoot, 'dist/gateway/docs/browser', name), { force: true })
  rmSync(join(projectRoot, 'dist/gateway/admin/application'), { recursive: true, force: true })
  mkdirSync(join(projectRoot, LIBRARY_COPY), { recursive: true })
  for (const file of LIBRARY_LICENCES)
    copyFileSync(join(projectRoot, LIBRARY, file), join(projectRoot, LIBRARY_COPY, file))
  for (const file of LIBRARY_FILES) {
    const compressed = brotliCompressSync(readFileSync(join(projectRoot, LIBRARY, file)))
    writeFileSync(join(projectRoot, LIBRARY_COPY, `${file}.br`), compressed)
  }
}

/** The last file that bundle-admin.mjs writes, in the folder where the gateway finds the admin (gateway/admin/admin-ui.ts). */
const ADMIN = 'clients/pages/dist/admin/licenses.txt'
const ADMIN_SOURCES = ['clients/admin', 'clients/typescript/src', 'clients/react-admin/src']

/**
 * Whether an output is missing, or older than an input. Folders count too, since their time changes when a file is added
 * or removed.
 *
 * @param {string} output
 * @param {readonly string[]} inputs files and folders
 */
function isOlder(output, ...inputs) {
  const made = timeOf(output)
  /** @type {(path: string) => boolean} */
  const isNewer = (path) => {
    const stat = statSync(join(projectRoot, path))
    if (stat.mtimeMs > made) return true
    return stat.isDirectory() && readdirSync(join(projectRoot, path)).some((name) => isNewer(`${path}/${name}`))
  }
  return inputs.some(isNewer)
}

/** @param {string} path */
function timeOf(path) {
  return statSync(join(projectRoot, path), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

const LOCK_TIMEOUT_MS = 600_000
/** Beyond this another command has found something to do. */
const NOTHING_TO_DO_MS = 5_000

/**
 * Runs the work while no other command of this checkout runs its own, because two installations or compilations at a
 * time would destroy each other's output. The lock is a socket with a name of this checkout, which only one process can
 * have and no dead one keeps. Linux has such names, and elsewhere there is no lock.
 *
 * @param {() => Promise<void>} work
 */
async function withLock(work) {
  if (process.platform !== 'linux') return work()
  const name = `\0${createHash('sha256').update(projectRoot).digest('hex')}`
  const lock = createServer()
  const began = performance.now()
  for (let isTold = false; !(await isListening(lock, name)); await pause(20)) {
    const waited = performance.now() - began
    if (waited > LOCK_TIMEOUT_MS) throw new Failure('Another command prepares this checkout, and does not end.')
    if (isTold || waited < NOTHING_TO_DO_MS) continue
    process.stderr.write('Waiting for another command that prepares this checkout …\n')
    isTold = true
  }
  try {
    await work()
  } finally {
    lock.close()
  }
}

/**
 * Whether the server could take the name.
 *
 * @param {import('node:net').Server} server
 * @param {string} name
 */
async function isListening(server, name) {
  try {
    await once(server.listen(name), 'listening')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return false
    throw error
  }
}

/**
 * Runs a program in the project root to its end. What it prints goes to stderr, so that only a command's own answer is
 * on stdout. The end by a signal counts as 1.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code
 */
function runProgram(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: projectRoot, stdio: ['ignore', process.stderr, process.stderr] })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
