import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'
import { filesUnder, fingerprint } from './fingerprint.mjs'
import { runProgram } from './run-program.mjs'

const SOURCES = ['shared', 'gateway', 'data-service', 'examples', 'test', 'bench', 'tsconfig.json', 'package-lock.json']
const PROJECTS = ['.', 'examples/store/storefront/client']
const GENERATOR = 'node_modules/@grpc/proto-loader/build/bin/proto-loader-gen-types.js'
const TARGET = '--longs=String --enums=String --defaults --oneofs --grpcLib=@grpc/grpc-js --targetFileExtension=.ts'
const FOLDERS = '--importFileExtension=.js -I=proto -O=shared/gen'
const PROTOS = [
  'entity/v1/entity_service.proto',
  'auth/v1/auth_service.proto',
  'google/rpc/status.proto',
  'google/rpc/error_details.proto'
]
const GENERATED_STAMP = 'shared/gen/.fingerprint'
const BUILT_STAMP = 'dist/.fingerprint'

/** Generates the proto's types and compiles into dist/, each only when what it is made of has changed since. */
export async function build() {
  await unlessDone(GENERATED_STAMP, ['proto', 'package-lock.json'], generateProtoTypes)
  await unlessDone(BUILT_STAMP, SOURCES, compile)
}

/**
 * @param {string} stamp file that holds the fingerprint of what was last made
 * @param {readonly string[]} inputs
 * @param {() => Promise<void>} make
 */
async function unlessDone(stamp, inputs, make) {
  const path = join(projectRoot, stamp)
  const wanted = fingerprint(inputs)
  const found = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  if (found === wanted) return
  // A folder without its stamp may be anybody's: start from nothing, or the compiler may think all is there already.
  if (found === undefined) rmSync(join(path, '..'), { recursive: true, force: true })
  mkdirSync(join(path, '..'), { recursive: true })
  await make()
  writeFileSync(path, wanted)
}

async function generateProtoTypes() {
  process.stderr.write('Generating types from proto/ …\n')
  const args = [GENERATOR, ...TARGET.split(' '), ...FOLDERS.split(' '), ...PROTOS]
  const code = await runProgram(process.execPath, args)
  if (code !== 0) throw new Failure('Generating types from proto/ failed: see above.')
}

async function compile() {
  process.stderr.write('Compiling …\n')
  for (const project of PROJECTS) {
    const code = await runProgram(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project])
    if (code !== 0) throw new Failure('Compiling failed: see above.')
  }
  removeOrphans()
}

/** The compiler leaves the output of deleted sources behind, and a deleted test would run on. */
function removeOrphans() {
  for (const file of filesUnder('dist')) {
    const output = /^dist\/(.+)\.js(\.map)?$/.exec(file)
    const sources = ['ts', 'tsx'].map((kind) => join(projectRoot, `${output?.[1]}.${kind}`))
    if (output !== null && !sources.some((source) => existsSync(source))) rmSync(join(projectRoot, file))
  }
}
