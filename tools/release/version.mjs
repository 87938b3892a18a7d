import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'
import { PACKAGES } from './stage.mjs'

/** Files that name the version: manifests, the lock file, and pages that show what `--version` prints and what `npm pack` makes. */
const WITH_VERSION = [
  ...PACKAGES.map((folder) => join(folder, 'package.json')),
  'package-lock.json',
  'README.md',
  'docs/clients.md',
  'docs/versions.md',
  'docs/your-own-application.md'
]

/**
 * Writes a version into the manifests, and turns `Unreleased` of the changelog into its section.
 *
 * @param {string} version
 * @param {string} contracts the sentence with the other versions
 */
export function writeVersion(version, contracts) {
  const changelog = join(projectRoot, 'CHANGELOG.md')
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(changelog, released(readFileSync(changelog, 'utf8'), { version, day, contracts }))
  for (const name of WITH_VERSION) {
    const file = join(projectRoot, name)
    writeFileSync(file, withVersion(readFileSync(file, 'utf8'), version))
  }
}

/**
 * The changelog with a section of the version in place of `Unreleased`, which is empty above it.
 *
 * @param {string} changelog
 * @param {{ version: string, day: string, contracts: string }} release
 */
export function released(changelog, { version, day, contracts }) {
  const [, notes = ''] = /^## \[Unreleased\]\n([\s\S]*?)(?=^## )/m.exec(changelog) ?? []
  if (notes.trim() === '') throw new Failure('CHANGELOG.md says nothing under Unreleased: there is nothing to release.')
  return changelog.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${day}\n${contracts}\n`)
}

/**
 * The notes of a version.
 *
 * @param {string} changelog
 * @param {string} version
 */
export function notesOf(changelog, version) {
  const at = changelog.indexOf(`\n## [${version}]`)
  if (at < 0) throw new Failure(`CHANGELOG.md has no section of ${version}.`)
  const end = changelog.indexOf('\n## [', at + 1)
  return changelog.slice(at + 1, end < 0 ? undefined : end).trim()
}

/**
 * A text in which our packages have another version: as `"version"` beside our names, as a peer, in the names of packed files,
 * and as the command prints it.
 *
 * @param {string} text
 * @param {string} version
 */
export function withVersion(text, version) {
  return text
    .replaceAll(/("name": "(?:uniform-rest|@uniform-rest\/[a-z-]+)",\s{1,20}"version": ")[\d.]+"/g, `$1${version}"`)
    .replaceAll(/("@uniform-rest\/[a-z-]+": ")[\d.]+"/g, `$1${version}"`)
    .replaceAll(/\b(uniform-rest(?:-[a-z-]+)?-)\d+\.\d+\.\d+(?=\.tgz)/g, `$1${version}`)
    .replaceAll(/^uniform-rest [\d.]+$/gm, `uniform-rest ${version}`)
}
