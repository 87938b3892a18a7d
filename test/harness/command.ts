import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { explanation, run } from '../../cli/commands.js'
import { outputRoot, packageRoot } from './package-root.js'

/** A command that has ended. */
export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandSurroundings {
  /** All of its environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Its working directory; without it, one that holds no `.env`. */
  readonly directory?: string
  /** The line on its standard input. */
  readonly line?: string | undefined
}

/**
 * Runs `uniform-rest` in this process, which takes a tenth of the time of a process of its own. A command finds the modules
 * of an application as they were loaded first: ApplicationFolder is for applications that change.
 */
export async function runCommand(args: readonly string[], surroundings: CommandSurroundings = {}): Promise<Ran> {
  const { env = {}, directory = outputRoot, line = '' } = surroundings
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = Promise.all([text(stdout), text(stderr)])
  const stdin = (): Readable => Readable.from([`${line}\n`])
  const code = await run(args, { environment: env, directory, stdin, stdout, stderr }).catch((error: unknown) => {
    stderr.write(`${explanation(error)}\n`)
    return 1
  })
  stdout.end()
  stderr.end()
  const [printed, told] = await said
  return { code, stdout: printed, stderr: told }
}

/** The same in a process of its own, for what is about one: signals, its streams, and servers. */
export function spawnCommand(args: readonly string[], surroundings: CommandSurroundings = {}): Promise<Ran> {
  const { env = {}, directory: cwd = outputRoot, line = '' } = surroundings
  const command = [join(outputRoot, 'cli/main.js'), ...args]
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      command,
      { cwd, env: { PATH: process.env['PATH'], ...env } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    )
    // The command may end without a look at its input.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`${line}\n`)
  })
}

/** The folder of an application that a test writes, with a data folder beside it. */
export class ApplicationFolder implements AsyncDisposable {
  readonly #root: string
  #count = 0
  #path: string

  private constructor(root: string) {
    this.#root = root
    this.#path = join(root, 'app-0')
  }

  /** Makes a folder with the files, in which `uniform-rest` is this package. */
  static async make(files: Readonly<Record<string, string>>): Promise<ApplicationFolder> {
    const made = new ApplicationFolder(await mkdtemp(join(tmpdir(), 'application-')))
    await mkdir(join(made.path, 'node_modules'), { recursive: true })
    await symlink(packageRoot, join(made.path, 'node_modules/uniform-rest'))
    await made.write({ 'package.json': '{ "type": "module" }', ...files })
    return made
  }

  /** The folder, absolute. Each command gives it another name. */
  get path(): string {
    return this.#path
  }

  /** Gives the folder a new name, which it answers, because Node loads the modules of a path only once. */
  async renamed(): Promise<string> {
    const next = join(this.#root, `app-${++this.#count}`)
    await rename(this.#path, next)
    this.#path = next
    return next
  }

  /** The data folder of its commands. */
  get dataDir(): string {
    return join(this.#root, 'data')
  }

  /** Runs a command in the folder, with its files as they are now. */
  async run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return runCommand(args, { env: { DATA_DIR: this.dataDir, ...env }, directory: await this.renamed() })
  }

  /** The same in a process of its own. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return spawnCommand(args, { env: { DATA_DIR: this.dataDir, ...env }, directory: this.path })
  }

  read(file: string): Promise<string> {
    return readFile(join(this.path, file), 'utf8')
  }

  /** Writes files, by their paths in the folder. */
  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(this.path, name)), { recursive: true })
      await writeFile(join(this.path, name), content)
    }
  }

  remove(file: string): Promise<void> {
    return rm(join(this.path, file), { recursive: true })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#root, { recursive: true, force: true })
  }
}
