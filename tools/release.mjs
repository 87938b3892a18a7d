import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Failure, runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'
import { PACKAGES, readManifest, stage } from './release/stage.mjs'
import { notesOf, writeVersion } from './release/version.mjs'

const USAGE = `Usage: npm run release -- version <x.y.z>   writes the version and the section of the changelog
       npm run release -- pack             makes what is published below dist-release/, with the SBOM, and tries to publish it;
                                           --repository <url> for provenance
       npm run release -- lint             judges these packages by publint and @arethetypeswrong/cli, fetched by npx
       npm run release -- publish          publishes those that the registry has not got; --registry <url> for another one
       npm run release -- images           builds the container images with labels; --repository <url> for that of their source
       npm run release -- tag              tags the commit, with the notes of the version`

/** Below the project, where git ignores it. */
const OUT = join(projectRoot, 'dist-release')

const OPTIONS = /** @type {const} */ ({ registry: { type: 'string' }, repository: { type: 'string' } })

/**
 * What each step takes besides its name.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const TAKES = {
  version: ['<x.y.z>'],
  pack: ['--repository'],
  lint: [],
  publish: ['--registry'],
  images: ['--repository'],
  tag: []
}

/** Versions of the programs that judge packages: they are fetched when a release is made, and are in no installation. */
const LINTERS = [
  ['publint@0.3', '--strict'],
  ['@arethetypeswrong/cli@0.18', '--pack', '.', '--profile', 'esm-only']
]

/**
 * Runs a program to its end. Throws a Failure if it fails.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ cwd?: string, quiet?: boolean }} how
 * @returns {string} what it printed, with `quiet`
 */
function run(program, args, { cwd = projectRoot, quiet = false } = {}) {
  const ended = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'inherit']
  })
  if (ended.error !== undefined) throw new Failure(`${program} cannot be run: ${ended.error.message}.`)
  if (ended.status !== 0) throw new Failure(`${program} ${args.join(' ')} failed in ${cwd}.`)
  return ended.stdout ?? ''
}

/** @param {string} from */
const staged = (from) => join(OUT, basename(readManifest(join(projectRoot, from)).name))

/** @param {string | undefined} repository */
async function pack(repository) {
  await prepare()
  for (const from of PACKAGES) {
    await stage(from, staged(from), repository)
    const [packed] = /** @type {{ size: number, unpackedSize: number, entryCount: number }[]} */ (
      JSON.parse(run('npm', ['pack', '--json', '--pack-destination', OUT], { cwd: staged(from), quiet: true }))
    )
    const { name, version } = readManifest(staged(from))
    process.stdout.write(`${name} ${version}: ${packed?.size} bytes packed, ${packed?.unpackedSize} unpacked\n`)
    // Without provenance, which only a build service can sign.
    run('npm', ['publish', '--dry-run', '--provenance=false', '--loglevel=warn'], { cwd: staged(from) })
  }
  mkdirSync(OUT, { recursive: true })
  const sbom = run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'], {
    quiet: true
  })
  writeFileSync(join(OUT, 'sbom.cdx.json'), sbom)
  writeFileSync(PACKED_FROM, stateOfSources())
}

/** What the packages were made of. */
const PACKED_FROM = join(OUT, 'packed-from.txt')

/** The commit, and a digest of what was changed since. */
function stateOfSources() {
  const commit = run('git', ['rev-parse', 'HEAD'], { quiet: true }).trim()
  const changes = run('git', ['status', '--porcelain'], { quiet: true }) + run('git', ['diff', 'HEAD'], { quiet: true })
  return `${commit} ${createHash('sha256').update(changes).digest('hex')}\n`
}

function lint() {
  for (const from of PACKAGES) {
    for (const [program = '', ...args] of LINTERS) run('npx', ['--yes', program, ...args], { cwd: staged(from) })
  }
}

/**
 * Publishes what the registry has not got, so that it can be run again after a step that failed. Throws a Failure if it has all.
 *
 * @param {string | undefined} registry
 */
function publish(registry) {
  const where = registry === undefined ? [] : ['--registry', registry]
  for (const from of PACKAGES) checkStaged(from)
  if (!existsSync(PACKED_FROM) || readFileSync(PACKED_FROM, 'utf8') !== stateOfSources()) {
    throw new Failure('The sources are not those that were packed. Run `npm run release -- pack` first.')
  }
  let published = 0
  for (const from of PACKAGES) {
    const { name, version, publishConfig } =
      /** @type {import('./release/stage.mjs').Manifest & { publishConfig?: { provenance?: boolean } }} */ (
        readManifest(staged(from))
      )
    if (isPublished(`${name}@${version}`, where)) {
      process.stdout.write(`${name} ${version}: the registry has it already\n`)
      continue
    }
    // Only a build service that npm knows can sign where the package comes from.
    const proves = publishConfig?.provenance === true && registry === undefined
    run('npm', ['publish', ...where, `--provenance=${proves}`, '--loglevel=warn'], { cwd: staged(from) })
    published++
  }
  if (published > 0) return
  throw new Failure(
    'Nothing was published: no version can be published twice. `npm run release -- version <x.y.z>` makes the next one.'
  )
}

/**
 * Throws a Failure unless what is staged is of the version that is released.
 *
 * @param {string} from
 */
function checkStaged(from) {
  const { name, version } = readManifest(join(projectRoot, from))
  const found = existsSync(join(staged(from), 'package.json')) ? readManifest(staged(from)).version : 'nothing'
  if (found === version) return
  throw new Failure(
    `${staged(from)} holds ${found}, and ${name} is at ${version}. Run \`npm run release -- pack\` first.`
  )
}

/**
 * Whether a registry has this version of a package.
 *
 * @param {string} what
 * @param {readonly string[]} where
 */
function isPublished(what, where) {
  const args = ['view', what, 'version', '--json', ...where]
  const { error, status, stdout, stderr } = spawnSync('npm', args, { cwd: projectRoot, encoding: 'utf8' })
  if (error !== undefined) throw new Failure(`npm cannot be run: ${error.message}.`)
  // npm prints nothing for a version that a known package has not got, and E404 for an unknown one.
  if (status === 0) return stdout.trim() !== ''
  if (/\bE404\b/.test(stdout + stderr)) return false
  throw new Failure(`npm ${args.join(' ')} failed: ${stderr.trim()}`)
}

/** @param {string | undefined} repository */
function images(repository) {
  const { version, description, license } = readManifest(projectRoot)
  const labels = {
    version,
    title: 'uniform-rest',
    description: description ?? '',
    licenses: license ?? '',
    created: new Date().toISOString(),
    revision: run('git', ['rev-parse', 'HEAD'], { quiet: true }).trim(),
    ...(repository === undefined ? {} : { source: repository })
  }
  const args = Object.entries(labels).flatMap(([name, value]) => [
    '--label',
    `org.opencontainers.image.${name}=${value}`
  ])
  run('docker', ['build', ...args, '--target', 'service', '--tag', `uniform-rest:${version}`, '.'])
}

function tag() {
  const { version } = readManifest(projectRoot)
  if (run('git', ['status', '--porcelain'], { quiet: true }) !== '') throw new Failure('Commit the release first.')
  const notes = notesOf(readFileSync(join(projectRoot, 'CHANGELOG.md'), 'utf8'), version)
  run('git', ['tag', '--annotate', `v${version}`, '--cleanup=verbatim', '--message', notes])
}

/** @param {string | undefined} version */
async function setVersion(version) {
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version))
    throw new Failure(`Name the version, such as 1.2.0.\n${USAGE}`)
  await prepare()
  const { VERSIONS } = /** @type {typeof import('../dist/shared/versions.js')} */ (
    await import(pathToFileURL(join(projectRoot, 'dist/shared/versions.js')).href)
  )
  const { contract, proto, vocabulary } = VERSIONS
  const others = `Contract ${contract}, proto ${proto}, vocabulary ${vocabulary}.`
  writeVersion(version, others)
}

/** Throws a Failure for what the step does not take. */
function readArguments() {
  let parsed
  try {
    parsed = parseArgs({ options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new Failure(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`)
  }
  const { values, positionals } = parsed
  const [step = '', version, ...more] = positionals
  const takes = Object.hasOwn(TAKES, step) ? TAKES[step] : undefined
  if (takes === undefined) throw new Failure(USAGE)
  const given = [
    ...Object.keys(values).map((name) => `--${name}`),
    ...(step === 'version' ? more : positionals.slice(1))
  ]
  const refused = given.find((one) => !takes.includes(one))
  if (refused === undefined) return { step, version, values }
  const right = takes.length === 0 ? 'nothing' : takes.join(' and ')
  throw new Failure(`The step ${step} takes ${right}, not ${refused}.\n${USAGE}`)
}

await runCommand(async () => {
  const { step, version, values } = readArguments()
  if (step === 'version') await setVersion(version)
  else if (step === 'pack') await pack(values.repository)
  else if (step === 'lint') lint()
  else if (step === 'publish') publish(values.registry)
  else if (step === 'images') images(values.repository)
  else if (step === 'tag') tag()
  else throw new Failure(USAGE)
  return 0
})
