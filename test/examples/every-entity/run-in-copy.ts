import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** What mocha's JSON reporter tells of a run. */
export interface Report {
  readonly passes: readonly { readonly fullTitle: string }[]
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

/** Runs the tests of every entity that stand compiled in a copy of the project, those whose titles hold the pattern. */
export function runEveryEntity(
  copy: string,
  { database, grep }: { readonly database: 'sqlite' | 'mariadb'; readonly grep: string }
): Promise<Report> {
  return runTestFile(copy, { name: database, grep })
}

/** Runs `{name}.test.ts` of this folder in a copy of the project, as it stands compiled there. */
export async function runTestFile(
  copy: string,
  { name, grep }: { readonly name: string; readonly grep: string }
): Promise<Report> {
  const report = join(copy, `${name}.json`)
  const options = ['--grep', grep, '--reporter', 'json', '--reporter-option', `output=${report}`]
  const file = join('dist/test/examples/every-entity', `${name}.test.js`)
  // It exits with the number of failures, which the report tells.
  await runModule(copy, ['mocha/bin/mocha.js', ...options, file]).catch((error: unknown) => error)
  return JSON.parse(await readFile(report, 'utf8')) as Report // mocha's own format
}

/** Runs a program of node_modules; rejects with what it printed. */
export async function runModule(cwd: string, [script = '', ...args]: readonly string[]): Promise<void> {
  const path = join(cwd, 'node_modules', script)
  await promisify(execFile)(process.execPath, [path, ...args], { cwd }).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string } // of execFile
    throw new Error(`${script} failed.\n${stdout}\n${stderr}`, { cause: error })
  })
}
