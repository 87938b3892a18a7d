import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.js'

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
}

/** The places of the packages that npm installs on Linux for these and all that they depend on, by the lock file. */
export function packagesInstalledFor(names: readonly string[]): ReadonlySet<string> {
  const { packages } = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  } // npm's
  const found = new Set<string>()
  const find = (within: string, one: string): void => {
    for (let place = within; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
      const path = `${place === '' ? '' : `${place}/`}node_modules/${one}`
      const entry = packages[path]
      if (entry !== undefined) return add(path, entry)
      if (place === '') return
    }
  }
  const add = (path: string, entry: LockedPackage): void => {
    const { os = ['linux'], cpu = ['x64'], libc = ['glibc'] } = entry
    const isForLinux = os.includes('linux') && cpu.includes('x64') && libc.includes('glibc')
    if (!isForLinux || found.has(path)) return
    found.add(path)
    const {
      dependencies: needed,
      optionalDependencies,
      peerDependencies: peers = {},
      peerDependenciesMeta: meta
    } = entry
    for (const one of Object.keys({ ...needed, ...optionalDependencies })) find(path, one)
    for (const one of Object.keys(peers)) if (meta?.[one]?.optional !== true) find(path, one)
  }
  for (const one of names) find('', one)
  return found
}
