import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Failure, runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'
import { PACKAGES, readManifest, stage } from './release/stage.mjs'
import { notesOf, writeVersion } from './release/version.mjs'

const USAGE = `Usage: npm run release -- version <x.y.z>   writes the version and the section of the changelog
       npm run release -- pack             makes what is published below dist-release/, with the SBOM, and tries to publish it
       npm run release -- lint             judges these packages by publint and @arethetypeswrong/cli, fetched by npx
       npm run release -- publish          publishes them; --registry for another registry, --repository for provenance
       npm run release -- images           builds the container images with labels
       npm run release -- tag              tags the commit, with the notes of the version`

/** Below the project, where git ignores it. */
const OUT = join(projectRoot, 'dist-release')

const OPTIONS = /** @type {const} */ ({ registry: { type: 'string' }, repository: { type: 'string' } })

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
}

function lint() {
  for (const from of PACKAGES) {
    for (const [program = '', ...args] of LINTERS) run('npx', ['--yes', program, ...args], { cwd: staged(from) })
  }
}

/** @param {string | undefined} registry */
function publish(registry) {
  const where = registry === undefined ? [] : ['--registry', registry]
  for (const from of PACKAGES) {
    const { publishConfig } = /** @type {{ publishConfig?: { provenance?: boolean } }} */ (readManifest(staged(from)))
    // Only a build service that npm knows can sign where the package comes from.
    const proves = publishConfig?.provenance === true && registry === undefined
    run('npm', ['publish', ...where, `--provenance=${proves}`, '--loglevel=warn'], { cwd: staged(from) })
  }
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

await runCommand(async () => {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
  const [step, version] = positionals
  if (step === 'version') await setVersion(version)
  else if (step === 'pack') await pack(values.repository)
  else if (step === 'lint') lint()
  else if (step === 'publish') publish(values.registry)
  else if (step === 'images') images(values.repository)
  else if (step === 'tag') tag()
  else throw new Failure(USAGE)
  return 0
})
