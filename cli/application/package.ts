import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSIONS } from '../../shared/versions.js'

/** The folder of this package, where its package.json is: two levels above `dist/cli/`. */
export const packageFolder = fileURLToPath(new URL('../../..', import.meta.url)).replace(/[/\\]$/, '')

interface PackageFile {
  readonly name: string
  readonly version: string
  readonly engines: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** This package's package.json. */
export function readPackage(): PackageFile {
  return JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as PackageFile // our own file
}

/** What `uniform-rest --version` prints: the package first, then each version that is counted apart. */
export function versionLines(): string {
  const { name, version } = readPackage()
  const lines = Object.entries({ [name]: version, ...VERSIONS })
  return lines.map(([what, number]) => `${what} ${number}\n`).join('')
}
