import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Failure } from '../../test/runner/programs.js'

// Programs of other Debian releases than this machine's. Their packages are unpacked into the user's cache, with all that
// they need down to the C library, and nothing is installed.

const run = promisify(execFile)

const MIRROR = 'http://deb.debian.org/debian'
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
/** Bytes of output that are kept of apt-get and dpkg-deb. */
const MAX_OUTPUT = 16 * 1024 * 1024

/** A package of a Debian release: `{ suite: 'trixie', name: 'mariadb-server-core' }`. */
export interface DebianPackage {
  readonly suite: string
  readonly name: string
}

/** An unpacked package with its dependencies. */
export interface UnpackedPackage {
  /** What would be `/`. */
  readonly root: string
  /** What starts one of its programs with its own C library and libraries: put its path behind. */
  readonly loader: readonly string[]
}

/** Fetches and unpacks a package, once per machine. Throws a Failure where there is no apt-get. */
export async function unpackedPackage(
  { suite, name }: DebianPackage,
  progress: (line: string) => void
): Promise<UnpackedPackage> {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'uniform-rest', 'debian')
  const root = join(cache, `${suite}-${name}`)
  if (!existsSync(root)) {
    if (!existsSync('/usr/bin/apt-get') || !existsSync(KEYRING)) {
      throw new Failure(
        `${name} of Debian's ${suite} is fetched with apt-get and Debian's keyring: run this on Debian.`
      )
    }
    progress(`Fetching ${name} of Debian's ${suite} into ${root} …`)
    await mkdir(cache, { recursive: true })
    const work = `${root}.${process.pid}`
    try {
      await unpack({ suite, name }, work)
      // Somebody else may have done the same meanwhile.
      if (!existsSync(root)) await rename(join(work, 'root'), root)
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  }
  return { root, loader: await loaderOf(root) }
}

/** Has apt-get fetch the package and its dependencies as for a machine that has nothing, and unpacks them under `root`. */
async function unpack({ suite, name }: DebianPackage, work: string): Promise<void> {
  const folders = ['lists', 'archives', 'state', 'none', 'root']
  for (const folder of folders)
    await mkdir(join(work, folder, ...(folder === 'root' ? [] : ['partial'])), { recursive: true })
  await writeFile(join(work, 'status'), '')
  await writeFile(join(work, 'sources.list'), `deb [signed-by=${KEYRING}] ${MIRROR} ${suite} main\n`)
  const options = [
    `Dir::State=${join(work, 'state')}`,
    `Dir::State::lists=${join(work, 'lists')}`,
    `Dir::State::status=${join(work, 'status')}`,
    `Dir::Cache=${work}`,
    `Dir::Cache::archives=${join(work, 'archives')}`,
    `Dir::Etc::sourcelist=${join(work, 'sources.list')}`,
    `Dir::Etc::sourceparts=${join(work, 'none')}`,
    `Dir::Etc::preferencesparts=${join(work, 'none')}`,
    'Acquire::Languages=none',
    'Debug::NoLocking=1',
    // The user _apt cannot write into a folder of ours.
    'APT::Sandbox::User='
  ].map((option) => `--option=${option}`)
  const aptGet = (...args: readonly string[]) =>
    run('apt-get', [...options, '--quiet=2', ...args], { maxBuffer: MAX_OUTPUT })
  try {
    await aptGet('update')
    await aptGet('--yes', '--no-install-recommends', '--download-only', 'install', name)
  } catch (error) {
    throw new Failure(`${name} of Debian's ${suite} cannot be fetched from ${MIRROR}: ${String(error)}`)
  }
  for (const file of await readdir(join(work, 'archives'))) {
    if (file.endsWith('.deb')) await run('dpkg-deb', ['--extract', join(work, 'archives', file), join(work, 'root')])
  }
}

async function loaderOf(root: string): Promise<readonly string[]> {
  const libraries = join(root, 'usr/lib')
  // The folder of libraries is named after the machine, such as x86_64-linux-gnu.
  const folder = (await readdir(libraries)).find((name) => name.endsWith('-linux-gnu'))
  const found = folder === undefined ? [] : await readdir(join(libraries, folder))
  const loader = found.find((name) => /^ld-linux.*\.so\.\d$/.test(name))
  if (folder === undefined || loader === undefined) throw new Failure(`${root} holds no C library: remove the folder.`)
  const own = join(libraries, folder)
  return [join(own, loader), '--library-path', own]
}
