import { VERSIONS } from '../shared/versions.js'
import { readPackage } from './package.js'

/** What `uniform-rest --version` prints: the package first, then each version that is counted apart. */
export function versionLines(): string {
  const { name, version } = readPackage()
  const lines = Object.entries({ [name]: version, ...VERSIONS })
  return lines.map(([what, number]) => `${what} ${number}\n`).join('')
}
