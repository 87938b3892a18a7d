import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { follow, stepsOf } from './follow-page.js'

const PAGE = 'docs/adding-an-entity.md'
/** What is no source of the project: installed, compiled, hidden. */
const LEFT_OUT = /^(node_modules|dist.*|\..*)$/
const NEW = 'gift-cards'

const run = promisify(execFile)

interface Report {
  readonly passes: readonly { readonly fullTitle: string }[]
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

describe(PAGE, function () {
  this.timeout(180_000)
  let copy = ''
  before(async () => {
    copy = await mkdtemp(join(tmpdir(), 'adding-'))
    for (const source of (await readdir(packageRoot)).filter((name) => !LEFT_OUT.test(name))) {
      await cp(join(packageRoot, source), join(copy, source), { recursive: true })
    }
    await symlink(join(packageRoot, 'node_modules'), join(copy, 'node_modules'))
  })
  after(() => rm(copy, { recursive: true, force: true }))

  it('says one migration, one file and a line for each', async () => {
    const steps = stepsOf(await readFile(join(packageRoot, PAGE), 'utf8'))
    expect(steps.map(({ kind, path }) => `${kind} ${path}`)).to.deep.equal([
      'create data-service/sql/migrations/primary/999-gift-cards.ts',
      'add data-service/sql/migrations/primary-migrations.ts',
      'create data-service/entities/gift-cards.ts',
      'add data-service/entities/index.ts'
    ])
  })

  it('followed word for word makes an entity that compiles, starts and passes the tests of every entity', async () => {
    const page = await readFile(join(packageRoot, PAGE), 'utf8')
    for (const step of stepsOf(page)) await follow(step, copy)
    await program(copy, ['typescript/bin/tsc', '-p', '.'])
    for (const database of ['sqlite', 'mariadb']) {
      const { passes, failures } = await testsOfTheNew(copy, database)
      expect(failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message ?? ''}`)).to.deep.equal([])
      const titles = passes.map(({ fullTitle }) => fullTitle).join('\n')
      for (const what of [
        'list answers',
        'get answers',
        'create makes',
        'redeem is done',
        'block needs',
        'filters by'
      ]) {
        expect(titles).to.match(new RegExp(`${NEW} ${what}`))
      }
    }
  })
})

/** The tests of every entity, as they stand, narrowed to the new one by its name alone. */
async function testsOfTheNew(copy: string, database: string): Promise<Report> {
  const file = join('dist/test/every-entity', `${database}.test.js`)
  const report = join(copy, `${database}.json`)
  const options = ['--grep', NEW, '--reporter', 'json', '--reporter-option', `output=${report}`]
  // It exits with the number of failures, which the report tells.
  await program(copy, ['mocha/bin/mocha.js', ...options, file]).catch((error: unknown) => error)
  return JSON.parse(await readFile(report, 'utf8')) as Report // mocha's own format
}

/** Rejects with what the program printed. */
async function program(cwd: string, [script = '', ...args]: readonly string[]): Promise<void> {
  const modules = join(cwd, 'node_modules')
  await run(process.execPath, [join(modules, script), ...args], { cwd }).catch((error: unknown) => {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string } // of execFile
    throw new Error(`${script} failed.\n${stdout}\n${stderr}`, { cause: error })
  })
}
