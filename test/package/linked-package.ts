import { chmod, mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'
import { type EmptyFolder, unpackInto } from './empty-folder.js'

/** What of a package.json says what is linked. */
interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly bin?: string | Readonly<Record<string, string>>
}

/** Puts the package into the folder's node_modules, beside links to what it depends on. */
export async function unpack(folder: EmptyFolder, file: string, within: string): Promise<void> {
  const into = join(folder.path, within)
  const own = await unpackInto(folder, file, within)
  for (const path of programsOf(await manifestOf(own), '').values()) await chmod(join(own, path), 0o755)
  await linkPrograms(into, 'uniform-rest')
  await link(into, Object.keys((await manifestOf(own)).dependencies ?? {}))
}

export async function link(into: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const target = join(into, 'node_modules', name)
    await mkdir(dirname(target), { recursive: true })
    // Some dependencies of the application are those of the package too.
    await symlink(join(packageRoot, 'node_modules', name), target).catch(unlessThere)
    await linkPrograms(into, name)
  }
}

/** As npm does: a link in .bin for each program of the package. */
async function linkPrograms(into: string, name: string): Promise<void> {
  await mkdir(join(into, 'node_modules/.bin'), { recursive: true })
  for (const [program, path] of programsOf(await manifestOf(join(into, 'node_modules', name)), name)) {
    await symlink(join('..', name, path), join(into, 'node_modules/.bin', program)).catch(unlessThere)
  }
}

/** The paths of a package's programs by their names. */
function programsOf({ bin = {} }: Manifest, name: string): ReadonlyMap<string, string> {
  return new Map(Object.entries(typeof bin === 'string' ? { [name]: bin } : bin))
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}

export async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest // npm's format
}
