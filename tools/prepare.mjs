import { spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { createHash } from 'node:crypto'
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
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from './failure.mjs'
import { projectRoot } from './project-root.mjs'

/** Code that does not compile. What was installed and generated before is there. */
export class CompileFailure extends Failure {}

/**
 * Makes everything ready to run from whatever state the checkout is in: dependencies, types of the proto files, packages for clients, dist/, the admin.
 * Costs milliseconds when all is ready.
 */
export async function prepare() {
  checkNodeVersion()
  for (const step of [dependencies, protoTypes, typedClient, reactAdmin, compiledCode, admin]) {
    if (step.isDone()) continue
    await withLock(async () => {
      // Another command may have done it meanwhile.
      if (!step.isDone()) await step.make()
    })
  }
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

/**
 * @typedef {object} Step
 * @property {() => boolean} isDone
 * @property {() => Promise<void>} make
 */

/** @type {Step} What package-lock.json names. It is installed anew when the lock file is newer than what is there. */
const dependencies = {
  isDone() {
    const lock = statSync(join(projectRoot, 'package-lock.json'))
    const installed = statSync(join(projectRoot, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })
    return installed !== undefined && installed.mtimeMs >= lock.mtimeMs
  },
  async make() {
    process.stderr.write('Installing dependencies …\n')
    // No dependency needs its install scripts: what they would build or fetch comes with the packages.
    const args = ['ci', '--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const npm = process.env['npm_execpath']
    // Under `npm start` this is the npm that runs us; `npm` from the PATH may be another one.
    const code = await (npm?.endsWith('npm-cli.js') === true
      ? runProgram(process.execPath, [npm, ...args])
      : runProgram('npm', args))
    if (code !== 0) throw new Failure('Installing the dependencies failed: see what npm says above.')
  }
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

const protoTypes = unlessUnchanged('shared/gen/.fingerprint', ['proto', 'package-lock.json'], async () => {
  process.stderr.write('Generating types from proto/ …\n')
  const args = [GENERATOR, ...TARGET.split(' '), ...FOLDERS.split(' '), ...PROTOS]
  const code = await runProgram(process.execPath, args)
  if (code !== 0) throw new Failure('Generating types from proto/ failed: see above.')
})

/** The package of the typed client, and that of react-admin's providers, which is compiled against it. */
const typedClient = clientPackage('clients/typescript')
const reactAdmin = clientPackage('clients/react-admin', ['clients/typescript/src'])

/**
 * A package for clients, which has a build of its own so that it holds nothing of the server.
 *
 * @param {string} folder
 * @param {readonly string[]} uses the sources of other packages that it is compiled against
 */
function clientPackage(folder, uses = []) {
  return unlessUnchanged(
    `${folder}/dist/.fingerprint`,
    [`${folder}/src`, `${folder}/tsconfig.json`, ...uses, 'tsconfig.json', 'package-lock.json'],
    async () => {
      rmSync(join(projectRoot, folder, 'dist'), { recursive: true, force: true })
      await compile(folder)
    }
  )
}

const SOURCES = [
  'shared',
  'gateway',
  'data-service',
  'cli',
  'clients/typescript/src',
  'clients/react-admin/src',
  'examples',
  'test',
  'bench',
  'campaign',
  'tsconfig.json',
  'package-lock.json'
]
const PROJECTS = ['.', 'examples/store/storefront/client']

const compiledCode = unlessUnchanged('dist/.fingerprint', SOURCES, async () => {
  process.stderr.write('Compiling …\n')
  for (const project of PROJECTS) await compile(project)
  removeOrphans()
  copyLibrary()
})

const ADMIN = 'clients/admin'
/** Where the gateway finds it (gateway/admin/admin-ui.ts). */
const ADMIN_OUTPUT = 'dist/gateway/admin/application'
const ADMIN_SOURCES = [`${ADMIN}/src`, `${ADMIN}/tsconfig.json`, 'clients/typescript/src', 'clients/react-admin/src']

/** The admin: one script for browsers, with a digest of its content in its name, compressed in both ways. */
const admin = unlessUnchanged(`${ADMIN_OUTPUT}/.fingerprint`, [...ADMIN_SOURCES, 'package-lock.json'], async () => {
  process.stderr.write('Bundling the admin …\n')
  // It may have been installed just now.
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: [`${ADMIN}/src/main.tsx`],
    entryNames: '[name]-[hash]',
    outdir: ADMIN_OUTPUT,
    tsconfig: `${ADMIN}/tsconfig.json`,
    define: { 'process.env.NODE_ENV': '"production"' },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    write: false,
    metafile: true
  })
  for (const name of readdirSync(join(projectRoot, ADMIN_OUTPUT))) rmSync(join(projectRoot, ADMIN_OUTPUT, name))
  for (const { path, contents } of outputFiles) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: contents.length }
    writeFileSync(`${path}.br`, await promisify(brotliCompress)(contents, { params }))
    writeFileSync(`${path}.gz`, await promisify(gzip)(contents, { level: 9 }))
  }
  writeFileSync(join(projectRoot, ADMIN_OUTPUT, 'licenses.txt'), licenses(Object.keys(metafile.inputs)))
})

/**
 * The licenses of the packages that files come from, which go where the bundle goes.
 *
 * @param {readonly string[]} files
 */
function licenses(files) {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  const texts = [...packages].toSorted().map((folder) => {
    const { name, version, license } = /** @type {{ name: string, version: string, license: string }} */ (
      JSON.parse(readFileSync(join(projectRoot, folder, 'package.json'), 'utf8'))
    )
    const file = readdirSync(join(projectRoot, folder)).find((one) => /^licen[cs]e/i.test(one))
    const text = file === undefined ? '' : readFileSync(join(projectRoot, folder, file), 'utf8')
    return `${name} ${version}: ${license}\n\n${text.trim()}\n`
  })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** What `GET /docs/try` serves of swagger-ui, with its licences (docs/decisions/044). */
const LIBRARY_FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
  'swagger-ui-bundle.js.LICENSE.txt'
]

function copyLibrary() {
  for (const file of LIBRARY_FILES) {
    copyFileSync(
      join(projectRoot, 'node_modules/swagger-ui-dist', file),
      join(projectRoot, 'dist/gateway/docs/browser', file)
    )
  }
}

/** @param {string} project the folder of a tsconfig.json */
async function compile(project) {
  const code = await runProgram(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project])
  if (code !== 0) throw new CompileFailure('Compiling failed: see above.')
}

/** Removes the output of deleted sources, which the compiler leaves: a deleted test would still run. */
function removeOrphans() {
  for (const file of filesUnder('dist')) {
    const output = /^dist\/(.+?)\.(?:js(?:\.map)?|d\.ts)$/.exec(file)
    const sources = ['ts', 'tsx'].map((kind) => join(projectRoot, `${output?.[1]}.${kind}`))
    if (output !== null && !sources.some((source) => existsSync(source))) rmSync(join(projectRoot, file))
  }
}

/**
 * A step that is done when the inputs are as they were when it was last made.
 *
 * @param {string} stamp the file that holds the inputs' fingerprint, in the folder that the step makes
 * @param {readonly string[]} inputs
 * @param {() => Promise<void>} make
 * @returns {Step}
 */
function unlessUnchanged(stamp, inputs, make) {
  const path = join(projectRoot, stamp)
  const found = () => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  return {
    isDone: () => found() === fingerprint(inputs),
    async make() {
      const wanted = fingerprint(inputs)
      // What is in a folder without a stamp is unknown, and the compiler might take it for its own output.
      if (found() === undefined) rmSync(join(path, '..'), { recursive: true, force: true })
      mkdirSync(join(path, '..'), { recursive: true })
      await make()
      writeFileSync(path, wanted)
    }
  }
}

/**
 * A digest of name, size and time of every file under the paths. It changes when one is written, added or removed.
 *
 * @param {readonly string[]} paths files and folders, from the project root
 */
function fingerprint(paths) {
  const hash = createHash('sha256')
  for (const file of paths.flatMap(filesUnder)) {
    const { size, mtimeMs } = statSync(join(projectRoot, file))
    hash.update(`${file}\0${size}\0${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

/**
 * Every file under a path, in a stable order, from the project root.
 *
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  const stat = statSync(join(projectRoot, path), { throwIfNoEntry: false })
  if (stat === undefined) return []
  if (stat.isFile()) return [path]
  return readdirSync(join(projectRoot, path))
    .toSorted()
    .flatMap((name) => filesUnder(`${path}/${name}`))
}

const LOCK = join(projectRoot, '.prepare-lock')
const LOCK_TIMEOUT_MS = 600_000

/**
 * Runs the work while no other command of this checkout runs its own, because two installations or compilations at a
 * time would destroy each other's output. The lock is a file with the id of the process that holds it.
 *
 * @param {() => Promise<void>} work
 */
async function withLock(work) {
  const end = performance.now() + LOCK_TIMEOUT_MS
  for (let tries = 0; !takeLock(); tries++) {
    if (performance.now() > end) throw new Failure(`Another command does not give up ${LOCK}: end it, or remove it.`)
    if (tries === 0) process.stderr.write('Waiting for another command that prepares this checkout …\n')
    await pause(200)
  }
  try {
    await work()
  } finally {
    rmSync(LOCK, { force: true })
  }
}

/** @returns {boolean} whether the lock is ours now */
function takeLock() {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const holder = Number(existsSync(LOCK) ? readFileSync(LOCK, 'utf8') : 0)
    // A holder that was killed has left the file. An empty file is about to be written.
    if (holder > 0 && !isRunning(holder)) rmSync(LOCK, { force: true })
    return false
  }
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
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
