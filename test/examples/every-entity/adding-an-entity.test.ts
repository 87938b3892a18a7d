import { cp, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageRoot } from '../../harness/package-root.js'
import { follow, stepsOf } from './follow-page.js'
import { runEveryEntity, runModule, runTestFile, type Report } from './run-in-copy.js'
import { addUnusualEntity } from './unusual-entity.js'

const PAGE = 'docs/adding-an-entity.md'
/** What is no source of the project: installed, compiled, hidden. */
const LEFT_OUT = /^(node_modules|dist.*|\..*)$/
const NEW = 'gift-cards'

describe(PAGE, function () {
  this.timeout(400_000)
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
      'create examples/store/schema/999-gift-cards.ts',
      'add examples/store/schema/migrations.ts',
      'create examples/store/entities/gift-cards.ts',
      'add examples/store/entities/index.ts'
    ])
  })

  it('followed word for word makes an entity that compiles, starts and passes the tests of every entity', async () => {
    const page = await readFile(join(packageRoot, PAGE), 'utf8')
    for (const step of stepsOf(page)) await follow(step, copy)
    await runModule(copy, ['typescript/bin/tsc', '-p', '.'])
    for (const database of ['sqlite', 'mariadb'] as const) {
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
  it('is all that the tests of every entity need to know of another entity, whatever it is made of', async () => {
    await addUnusualEntity(copy)
    await runModule(copy, ['typescript/bin/tsc', '-p', '.'])
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
})

function told(failures: Report['failures']): string[] {
  return failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message ?? ''}`)
}
