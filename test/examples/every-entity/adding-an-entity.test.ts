import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { build } from 'esbuild'
import { isSoak } from '../../harness/in-soak.js'
import { packageRoot } from '../../harness/package-root.js'
import { follow, generatedText, stepsOf, undo } from './follow-page.js'
import { runEveryEntity, runModule, runTestFile, type Report } from './run-in-copy.js'
import { addUnusualEntity } from './unusual-entity.js'

const PAGE = 'docs/adding-an-entity.md'
/** What is installed, or hidden. What is compiled comes along: the compiler then looks at what has changed alone. */
const LEFT_OUT = /^(node_modules|\..*)$/
const NEW = 'gift-cards'

describe(PAGE, function () {
  this.timeout(400_000)
  let copy = ''
  before(async () => {
    copy = await mkdtemp(join(tmpdir(), 'adding-'))
    const sources = (await readdir(packageRoot)).filter((name) => !LEFT_OUT.test(name))
    await promisify(execFile)('cp', ['-a', ...sources.map((name) => join(packageRoot, name)), copy])
    await symlink(join(packageRoot, 'node_modules'), join(copy, 'node_modules'))
    // Whoever followed the page in this checkout runs this test too.
    for (const step of stepsOf(await readFile(join(packageRoot, PAGE), 'utf8'))) await undo(step, copy)
  })
  after(() => rm(copy, { recursive: true, force: true }))

  it('says one file, a line for it, and a migration that a command writes', async () => {
    const steps = stepsOf(await readFile(join(packageRoot, PAGE), 'utf8'))
    expect(steps.map(({ kind, path }) => `${kind} ${path.replace(/\d{3}/, '…')}`)).to.deep.equal([
      'create examples/store/entities/gift-cards.ts',
      'add examples/store/entities/index.ts',
      'generate examples/store/migrations/…-gift-cards.ts'
    ])
  })

  it('can be followed again where it has been followed already', async () => {
    const steps = stepsOf(await readFile(join(packageRoot, PAGE), 'utf8'))
    const [create, add, generate] = steps
    if (create?.kind !== 'create' || add?.kind !== 'add' || generate === undefined) throw new Error('see above')
    const state = async (): Promise<string[]> => [
      // A comma behind the last name of the list is no difference.
      (await readFile(join(copy, add.path), 'utf8')).replaceAll(',', ''),
      ...(await readdir(join(copy, dirname(create.path)))),
      ...(await readdir(join(copy, dirname(generate.path))).catch(() => []))
    ]
    const before = await state()
    await follow(create, copy)
    await follow(add, copy)
    for (const step of steps) await undo(step, copy)
    expect(await state()).to.deep.equal(before)
  })

  // In `npm run soak` it compiles with the types of the project too, and its tests run on both databases.
  it('followed word for word makes an entity that starts and passes the tests of every entity', async () => {
    const page = await readFile(join(packageRoot, PAGE), 'utf8')
    for (const step of stepsOf(page)) {
      await follow(step, copy, () => compile(copy))
      if (step.kind === 'generate') expect(await generatedText(step, copy)).to.equal(step.content)
    }
    await compile(copy)
    for (const database of isSoak ? (['sqlite', 'mariadb'] as const) : (['sqlite'] as const)) {
      const { passes, failures } = await runEveryEntity(copy, { database, grep: NEW })
      expect(told(failures), database).to.deep.equal([])
      const titles = passes.map(({ fullTitle }) => fullTitle).join('\n')
      for (const what of [
        'list answers',
        'get answers',
        'create makes',
        'redeem is done',
        'block needs',
        'filters by'
      ]) {
        expect(titles, `${database}, ${what}`).to.match(new RegExp(`${NEW} ${what}`))
      }
    }
  })

  // These compile the project once more and run the whole test of deleted rules, which takes minutes.
  if (isSoak) {
    it('is all that the tests of every entity need to know of another entity, whatever it is made of', async () => {
      await addUnusualEntity(copy)
      await compile(copy)
      const { passes, failures } = await runEveryEntity(copy, {
        database: 'sqlite',
        grep: 'loyalty-(cards|visits|talks|notes)'
      })
      expect(told(failures)).to.deep.equal([])
      const titles = passes.map(({ fullTitle }) => fullTitle).join('\n')
      for (const what of ['numbers answers', 'get answers', 'takes an owner', 'collect-points is rejected']) {
        expect(titles, what).to.include(`loyalty-cards ${what}`)
      }
      for (const read of ['list', 'paged', 'export', 'lookup', 'get']) {
        expect(titles, read).to.match(new RegExp(`loyalty-talks ${read} answers`))
        expect(titles, read).to.match(new RegExp(`loyalty-notes ${read} answers`))
      }
      expect(titles).to.include('loyalty-visits delete goes without a tag and knows no tag that matches')
    })

    it('makes entities that the test of deleted rules judges by rules.ts, or leaves to their own words', async () => {
      const { passes, failures } = await runTestFile(copy, { name: 'deleted-rules', grep: '' })
      expect(told(failures)).to.deep.equal([])
      expect(passes.map(({ fullTitle }) => fullTitle)).to.include(
        'an entity file without the predicate of its reads is found out by the tests of every entity'
      )
    })
  }
})

/**
 * In `npm run soak` with the compiler. The packages are linked: by their paths in the copy they are those that the compiler
 * has seen in the checkout.
 */
async function compile(copy: string): Promise<void> {
  if (isSoak) return runModule(copy, ['typescript/bin/tsc', '-p', '.', '--preserveSymlinks'])
  const outdir = 'dist/examples/store'
  await build({ absWorkingDir: copy, entryPoints: ['examples/store/**/*.ts'], outdir, format: 'esm' })
}

function told(failures: Report['failures']): string[] {
  return failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message ?? ''}`)
}
