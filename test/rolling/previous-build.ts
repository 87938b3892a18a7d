import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { outputRoot, packageRoot } from '../harness/package-root.js'

const execute = promisify(execFile)

/** A build of both processes and of the reference store. */
export interface Build {
  /** For people: the commit, or why it is another build than was asked for. */
  readonly description: string
  /** The folder of the compiled code, with a slash at its end. */
  readonly output: string
}

/** The build that this file is part of. */
export const THIS_BUILD: Build = { description: 'this build', output: outputRoot }

/** The commit before the one that is checked out. */
const PREVIOUS = 'HEAD~1'

/**
 * Builds the commit before this one in a folder of its own, which `dispose` removes. In a checkout without that commit,
 * such as an unpacked archive or a shallow clone, it is this build once more, and the description says why. Rejects with
 * what the compiler says if the commit does not build.
 */
export async function previousBuild(): Promise<Build & AsyncDisposable> {
  const commit = await commitBefore()
  if ('missing' in commit) {
    const description = `this build, since ${commit.missing}`
    return { ...THIS_BUILD, description, [Symbol.asyncDispose]: () => Promise.resolve() }
  }
  const folder = mkdtempSync(join(tmpdir(), 'previous-'))
  const remove = (): Promise<void> => Promise.resolve(rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  try {
    const archive = join(folder, 'commit.tar')
    await execute('git', ['archive', '--format=tar', '--output', archive, commit.id], { cwd: packageRoot })
    await execute('tar', ['--extract', '--file', archive, '--directory', folder])
    useInstalledPackages(folder)
    // Installs what its lock file names where that is not what is installed here.
    await execute(process.execPath, ['tools/build.mjs'], { cwd: folder, maxBuffer: 2 ** 26 })
  } catch (error) {
    await remove()
    throw error
  }
  return {
    description: `the build of ${commit.id.slice(0, 10)}, the commit before`,
    output: join(folder, 'dist/'),
    [Symbol.asyncDispose]: remove
  }
}

async function commitBefore(): Promise<{ readonly id: string } | { readonly missing: string }> {
  const git = (...args: readonly string[]): Promise<string> =>
    execute('git', args, { cwd: packageRoot }).then(({ stdout }) => stdout.trim())
  try {
    // An unpacked archive may lie in a repository that is not its own.
    const root = await git('rev-parse', '--show-toplevel')
    if (realpathSync(root) !== realpathSync(packageRoot)) return { missing: 'this is no checkout of a repository' }
  } catch {
    return { missing: 'this is no checkout of a repository' }
  }
  try {
    return { id: await git('rev-parse', '--verify', '--quiet', `${PREVIOUS}^{commit}`) }
  } catch {
    return { missing: 'this checkout has no history' }
  }
}

/** Lends the packages that are installed here to a folder whose lock file names the same ones. */
function useInstalledPackages(folder: string): void {
  const [ours, theirs] = [packageRoot, folder].map((root) => readFileSync(join(root, 'package-lock.json'), 'utf8'))
  if (ours !== theirs) return
  symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
  // Packages are installed when the lock file is newer than they are.
  utimesSync(join(folder, 'package-lock.json'), 0, 0)
}
