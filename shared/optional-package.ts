import { createRequire } from 'node:module'
import { StartError } from './start-error.js'

const require = createRequire(import.meta.url)

/** What needs packages that a plain installation does not have: optional peers in package.json. */
export interface OptionalPackages {
  /** As the error says it: the setting, for instance. */
  readonly neededBy: string
  readonly packages: readonly string[]
}

/** Loads optional packages. Throws a StartError with the command that installs them if one is missing. */
export async function loadOptional<Loaded>(of: OptionalPackages, load: () => Promise<Loaded>): Promise<Loaded> {
  try {
    return await load()
  } catch (error) {
    throw withInstallHint(of, error)
  }
}

/** As `loadOptional`, for a package that is loaded at once. */
export function requireOptional<Loaded>(of: OptionalPackages, load: (require: NodeJS.Require) => Loaded): Loaded {
  try {
    return load(require)
  } catch (error) {
    throw withInstallHint(of, error)
  }
}

function withInstallHint({ neededBy, packages }: OptionalPackages, error: unknown): unknown {
  const isMissing =
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_MODULE_NOT_FOUND' || error.code === 'MODULE_NOT_FOUND') &&
    packages.some((name) => error.message.includes(`'${name}'`))
  if (!isMissing) return error
  return new StartError(installHint({ neededBy, packages }), { cause: error })
}

/** What to do about optional packages that are missing. */
export function installHint({ neededBy, packages }: OptionalPackages): string {
  const command = `npm install ${packages.map((name) => `${name}@${acceptedVersions(name)}`).join(' ')}`
  const [what, are] = packages.length === 1 ? ['a package', 'is'] : ['packages', 'are']
  return `${neededBy} needs ${what} that ${are} not installed. Install with \`${command}\`.`
}

/** The versions that the package.json of this package accepts. */
function acceptedVersions(name: string): string {
  const { peerDependencies = {} } = require('../../package.json') as { peerDependencies?: Record<string, string> }
  return peerDependencies[name] ?? 'latest'
}
