import { execFile } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installedTools } from '../harness/installed-tools.js'
import { packageRoot } from '../harness/package-root.js'

const SOURCE = join(packageRoot, 'test/fixtures/openapi')
const TOOL_TIMEOUT_MS = 5 * 60 * 1000

/** Public tools for OpenAPI documents, in the versions of test/fixtures/openapi/package-lock.json. */
export class OpenApiTools {
  /** Where they are installed. */
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /**
   * They have a folder of their own, because they are large and most of them need a newer Node than the project: the npm
   * package `node` brings it.
   */
  static async installed(): Promise<OpenApiTools> {
    return new OpenApiTools(await installedTools('openapi'))
  }

  /** Node 24. */
  get node(): string {
    return join(this.folder, 'node_modules/node/bin/node')
  }

  /** A folder for the files of one test, which finds the installed packages. */
  async workFolder(): Promise<string> {
    return await mkdtemp(join(this.folder, 'work-'))
  }

  /** The path of a file of the tools, or of the programs in test/fixtures/openapi. */
  path(...parts: readonly string[]): string {
    return join(this.folder, 'node_modules', ...parts)
  }

  fixture(name: string): string {
    return join(SOURCE, name)
  }

  /** Runs the script of a tool on Node 24. What it printed, whether or not it failed. */
  async run(
    script: string,
    args: readonly string[],
    { cwd }: { readonly cwd: string }
  ): Promise<{ readonly code: number; readonly output: string }> {
    const options = { cwd, timeout: TOOL_TIMEOUT_MS, maxBuffer: 2 ** 26, env: { ...process.env, NO_COLOR: '1' } }
    try {
      const { stdout, stderr } = await promisify(execFile)(this.node, [script, ...args], options)
      return { code: 0, output: stdout + stderr }
    } catch (error) {
      const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string } // of execFile
      if (typeof code !== 'number') throw error
      return { code, output: `${stdout ?? ''}${stderr ?? ''}` }
    }
  }
}
