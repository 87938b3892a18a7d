import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { eachDatabase, type FreshDatabase } from 'uniform-rest/testing'
import { packageRoot } from '../../harness/package-root.js'
import { freshSakila, loadSakila, nameOf, SAKILA_APP, uniformRest } from './sakila-database.js'

const EXAMPLE = join(packageRoot, 'examples/sakila')

/** Lines that a person wrote into the entity files of MySQL, at most. */
const ADJUSTED_LINES = 100

eachDatabase((kind) => {
  describe(`introspection of the second example on ${kind}`, () => {
    let database: FreshDatabase
    let folder = ''
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'introspected-'))
      database = await freshSakila(kind)
      await loadSakila(database.url, 'row-versions')
      await uniformRest(['introspect', '--app', folder, ...(await introspectArguments())], database.url)
    })
    after(async () => {
      await rm(folder, { recursive: true, force: true })
      await database?.dispose()
    })

    it('differs from the entity files by the recorded adjustments alone', async () => {
      const found = await difference(join(folder, 'entities'), join(EXAMPLE, 'entities'))
      const file = join(EXAMPLE, `adjustments.${kind}.diff`)
      if (process.env['RENEW_ADJUSTMENTS'] === '1') await writeFile(file, found)
      const again = `RENEW_ADJUSTMENTS=1 npm test -- test/examples/sakila/introspect writes ${file} anew`
      expect(found, again).to.equal(await readFile(file, 'utf8'))
      if (kind === 'sqlite') return
      expect(found.split('\n').filter((line) => /^[+-](?![+-]{2} )/.test(line)).length).to.be.within(1, ADJUSTED_LINES)
    })

    it('leaves nothing out that can be served, and says why of the rest', async () => {
      const report = await readFile(join(folder, 'entities/introspected.md'), 'utf8')
      expect(report).to.include('entity files for')
      if (kind === 'sqlite') return
      expect(report).to.match(/The column `location` \(geometry\) is left out/)
      const committed = await readFile(join(EXAMPLE, 'entities/introspected.md'), 'utf8')
      expect(report).to.equal(committed)
      const baseline = await readFile(join(folder, 'migrations/001-baseline.ts'), 'utf8')
      // A person says of these numbers that they are flags, as the adjustments have it.
      const flagged = baseline.replaceAll(/t\.tinyint\('(active|is_redeemed)'\)/g, "t.boolean('$1')")
      expect(flagged).to.equal(await readFile(join(EXAMPLE, 'migrations/001-baseline.ts'), 'utf8'))
    })

    it('finds no change when it runs again', async () => {
      const printed = await uniformRest(['introspect', '--app', folder], database.url)
      expect(printed).to.include('Nothing has changed in the database since the last run.')
    })

    it('shows the statements of the row versions in the check of tables without them', async () => {
      const plain = await freshSakila(kind)
      const app = await mkdtemp(join(tmpdir(), 'without-versions-'))
      try {
        // The baseline would not run where the tables have no versions.
        const config = pathToFileURL(join(SAKILA_APP, 'uniform-rest.config.js')).href
        const text = `import application from '${config}'\nexport default { ...application, migrations: [] }\n`
        await writeFile(join(app, 'uniform-rest.config.mjs'), text)
        await uniformRest(['migrate', '--app', app, '--among-tables-of', nameOf(plain.url)], plain.url)
        const printed = await uniformRest(['check', '--app', app], plain.url)
        const statements = Array.from(printed.matchAll(/ALTER TABLE [^.]*?(?=\. For a table)/g), ([one]) => `${one};`)
        const file = await readFile(join(EXAMPLE, `schema/row-versions.${kind}.sql`), 'utf8')
        expect(statements).to.have.members(file.split('\n').filter((line) => line.startsWith('ALTER ')))
      } finally {
        await rm(app, { recursive: true, force: true })
        await plain.dispose()
      }
    })
  })
})

/** What the README of the example says after `introspect`. */
async function introspectArguments(): Promise<string[]> {
  const readme = await readFile(join(EXAMPLE, 'README.md'), 'utf8')
  const command = /^npx uniform-rest introspect \\\n((?: {2}.*\n)+)/m.exec(readme)?.[1] ?? ''
  const words = command.split(/[\s\\]+/).filter((word) => word !== '')
  expect(words).to.include('--key')
  return words
}

/** What `diff` finds between two folders of entity files, without paths and times. Empty for no difference. */
async function difference(before: string, after: string): Promise<string> {
  const args = ['-r', '-U0', '-x', '*.json', '-x', '*.md', before, after]
  const text = await promisify(execFile)('diff', args, { env: { ...process.env, LC_ALL: 'C' } }).then(
    ({ stdout }) => stdout,
    // It ends with 1 where there is a difference.
    (error: unknown) => (error instanceof Error && 'stdout' in error ? String(error.stdout) : '')
  )
  return text
    .split('\n')
    .filter((line) => !line.startsWith('diff '))
    .map((line) => line.replaceAll(before, 'introspected').replaceAll(after, 'entities'))
    .map((line) => (/^(?:---|\+\+\+) /.test(line) ? (line.split('\t')[0] ?? '') : line))
    .join('\n')
}
