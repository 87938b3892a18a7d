import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { packageRoot } from '../harness/package-root.js'

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * A folder outside of this repository in which commands run as they do for somebody who has just come: with an empty HOME
 * and none of our environment. npm's cache is the one thing that is shared, so that CI fetches each package once.
 */
export class EmptyFolder implements AsyncDisposable {
  readonly path: string
  readonly #home: string
  readonly #root: string

  private constructor(root: string) {
    this.#root = root
    this.path = join(root, 'work')
    this.#home = join(root, 'home')
  }

  static async make(): Promise<EmptyFolder> {
    const made = new EmptyFolder(await mkdtemp(join(tmpdir(), 'package-')))
    await Promise.all([mkdir(made.path), mkdir(made.#home)])
    return made
  }

  /** Runs a program to its end, in a folder below this one. Rejects if its code is not 0. */
  async run(program: string, args: readonly string[], how: { readonly in?: string } = {}): Promise<Ended> {
    const ended = await this.end(this.start(program, args, how))
    if (ended.code === 0) return ended
    throw new Error(`${program} ${args.join(' ')} ended with ${ended.code}:\n${ended.stdout}${ended.stderr}`)
  }

  start(
    program: string,
    args: readonly string[],
    how: {
      readonly in?: string
      readonly env?: Readonly<Record<string, string>>
      /** Whether `signalGroup` can reach the process and all that it starts. */
      readonly ownGroup?: boolean
    } = {}
  ): ChildProcess {
    const { PATH, npm_config_registry: registry, HTTPS_PROXY: proxy, NODE_EXTRA_CA_CERTS: authorities } = process.env
    return spawn(program, args, {
      cwd: join(this.path, how.in ?? ''),
      env: {
        PATH,
        HOME: this.#home,
        TMPDIR: tmpdir(),
        npm_config_cache: process.env['npm_config_cache'] ?? join(homedir(), '.npm'),
        npm_config_prefer_offline: 'true',
        npm_config_update_notifier: 'false',
        ...(registry === undefined ? {} : { npm_config_registry: registry }),
        ...(proxy === undefined ? {} : { HTTPS_PROXY: proxy }),
        // Where a proxy ends TLS itself, the registry cannot be reached without its certificate.
        ...(authorities === undefined ? {} : { NODE_EXTRA_CA_CERTS: authorities }),
        ...how.env
      },
      detached: how.ownGroup ?? false,
      stdio: ['pipe', 'pipe', 'pipe']
    })
  }

  /** What a process said until it ended. */
  async end(child: ChildProcess, input = ''): Promise<Ended> {
    const said = { stdout: '', stderr: '' }
    child.stdout?.on('data', (chunk: Buffer) => (said.stdout += chunk.toString('utf8')))
    child.stderr?.on('data', (chunk: Buffer) => (said.stderr += chunk.toString('utf8')))
    // A program that reads nothing may have ended before this is written.
    child.stdin?.on('error', () => undefined).end(input)
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, ...said }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Puts a packed package into the node_modules of a folder, as npm does; what it depends on is left to the caller. */
export async function unpackInto(folder: EmptyFolder, file: string, within = ''): Promise<string> {
  const unpacked = join(folder.path, `unpacked-${basename(file)}`)
  await mkdir(unpacked)
  await folder.run('tar', ['-xzf', file, '-C', unpacked, '--strip-components=1'])
  const { name } = JSON.parse(await readFile(join(unpacked, 'package.json'), 'utf8')) as { readonly name: string } // npm's format
  const target = join(folder.path, within, 'node_modules', name)
  await mkdir(dirname(target), { recursive: true })
  await rename(unpacked, target)
  return target
}

/** Ctrl-C in a terminal signals the whole group: npm, its shell and the command. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) throw new Error('The process has not started')
  process.kill(-pid, signal)
}

/** One file of a packed package, as `npm pack --json` lists it. */
interface PackedFile {
  readonly path: string
  readonly size: number
}

/** Packs the build of this checkout, or of another package in it, into the folder. */
export async function packInto(
  folder: EmptyFolder,
  from: string = packageRoot
): Promise<{ readonly file: string; readonly size: number; readonly files: readonly PackedFile[] }> {
  const { stdout } = await folder.run('npm', ['pack', from, '--json', '--pack-destination', folder.path])
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as readonly {
    readonly filename: string
    readonly size: number
    readonly files: readonly PackedFile[]
  }[] // npm's own format
  if (packed === undefined) throw new Error(`npm pack said nothing: ${stdout}`)
  return { file: join(folder.path, packed.filename), size: packed.size, files: packed.files }
}
