import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { format } from 'oxfmt'
import { ApplicationFolder, type Ran } from '../harness/command.js'
import { packageRoot } from '../harness/package-root.js'

const CONFIG = `import { defineApplication, migrationsIn } from 'uniform-rest'
import { entities } from './entities.js'

export default defineApplication({
  entities,
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url)),
  settings: { LOG_LEVEL: 'warn' }
})
`

const ENTITIES = (fields: string): string => `import {
  column, decimal, defaultTo, defineEntity, everyone, guid, int, long, optional, readOnly, text, unique
} from 'uniform-rest'

const common = { description: 'Of a test.', filterable: [], access: { read: everyone } } as const
const rooms = defineEntity({ name: 'rooms', ...common, fields: { id: readOnly(int()), title: text(40) }, label: 'id', sortable: [] })
const notes = defineEntity({
  name: 'notes',
  ...common,
  fields: { id: readOnly(guid()), title: unique(text(100)), ${fields} },
  label: 'title',
  sortable: ['title'],
  references: { room: { to: 'rooms', via: 'roomId' } },
  children: {
    marks: { table: 'note_marks', foreignKey: 'noteId', fields: { id: readOnly(long()), weight: decimal(9, 3) } }
  }
})
void [column, defaultTo, optional]
export const entities = [notes, rooms]
`

describe('uniform-rest migrate', () => {
  let app: ApplicationFolder

  before(async () => {
    app = await ApplicationFolder.make({
      'uniform-rest.config.ts': CONFIG,
      'entities.ts': ENTITIES('roomId: int()')
    })
  })
  after(() => app[Symbol.asyncDispose]())

  const migrate = (...args: string[]): Promise<Ran> => app.run(['migrate', ...args])
  const file = (name: string): Promise<string> => app.read(join('migrations', name))

  it('says that the tables of the entities are missing, and writes them in a formatted file', async () => {
    const status = await migrate('status')
    expect(status.stdout).to.include('- the table notes\n').and.include('pending  006-audit-entries')
    expect(status.code).to.equal(1)
    const created = await migrate('create', 'first')
    expect(created.stdout).to.equal(
      'Wrote migrations/001-first.ts. Read it, and then run `npx uniform-rest migrate`.\n'
    )
    const text = await file('001-first.ts')
    expect(text).to.include("t.guid('id').primaryKey()").and.include("t.decimal('weight', 9, 3)")
    const style = {
      printWidth: 120,
      semi: false,
      singleQuote: true,
      trailingComma: 'none'
    } as const
    expect((await format('001-first.ts', text, style)).code).to.equal(text)
  })

  it('prints its statements and runs none, and then runs them once', async () => {
    const dry = await migrate('--dry-run')
    expect(dry.stdout).to.include('-- DATABASE_URL: 001-first\nCREATE TABLE IF NOT EXISTS `rooms`')
    const status = await migrate('status')
    // No version serves from a database in which nothing has run.
    expect(status.stdout).to.include('pending  001-first').and.not.include('rolling upgrade')
    expect(await readdir(app.dataDir).catch(() => []), 'what status and --dry-run have made').to.be.empty
    expect((await migrate()).stdout).to.match(/^DATABASE_URL: ran 001-first$/m)
    expect((await migrate()).stdout).to.match(/^DATABASE_URL: all \d+ migrations have run\n$/)
    const afterwards = await migrate('--status')
    expect(afterwards.stdout).to.include('applied  001-first').and.not.include('- ')
    expect(afterwards.code).to.equal(0)
    expect((await migrate('create', 'again')).stdout).to.include('nothing was written')
  })

  it('writes what changed, with the words that it takes', async () => {
    const fields = "roomId: int(), heading: column('head', text(9)), rank: defaultTo(int(), 3), code: int()"
    await app.write({ 'entities.ts': ENTITIES(fields) })
    const refused = await migrate('create', 'more')
    expect(refused.code).to.equal(1)
    expect(refused.stderr).to.match(
      /^Nothing was written\.\n- notes\.head is new and never null.*--default notes\.head=/
    )
    expect(refused.stderr).to.include('- notes.code is new and never null')
    const noNumber = await migrate(
      '--create',
      'more',
      '--default',
      "notes.head=it's new",
      '--default',
      'notes.code=abc'
    )
    expect(noNumber.stderr).to.include('- --default notes.code must be a whole number, not "abc"')
    const flags = [
      '--default',
      "notes.head=it's new",
      '--default',
      'notes.code=7',
      '--rename',
      'note_marks.weight:grams'
    ]
    await app.write({ 'entities.ts': ENTITIES(fields).replace('weight: decimal', 'grams: decimal') })
    expect((await migrate('--create', 'more', ...flags)).stdout).to.include('Wrote migrations/002-more.ts')
    expect((await migrate('status')).stdout).to.include(
      '  pending  002-more\n' +
        '  A rolling upgrade is not safe, unless the version that serves now uses nothing of this:\n' +
        '  - 002-more: renames the column note_marks.weight to grams\n'
    )
    const text = await file('002-more.ts')
    expect(text).to.include("renameColumn('note_marks', 'weight', 'grams')")
    expect(text).to.include("t.varchar('head', 9).default(\"it's new\")").and.include("t.int('code').default(7)")
    expect((await migrate()).stdout).to.equal('DATABASE_URL: ran 002-more\n')
    expect((await migrate('status')).code).to.equal(0)
    await app.write({ 'entities.ts': (await app.read('entities.ts')).replace(', code: int()', '') })
    const kept = await migrate('status')
    expect(kept.code).to.equal(0)
    expect(kept.stdout).to.include(
      '  These are in the tables and in no entity file. They stay; `migrate create` with --allow-drops drops them:\n' +
        '  - the column notes.code\n'
    )
  })

  it('writes an empty file for what no entity shows', async () => {
    expect((await migrate('create', 'by-hand', '--empty')).stdout).to.include('Wrote migrations/003-by-hand.ts')
    expect((await migrate('status')).stdout).to.include(
      '  pending  003-by-hand\n  A rolling upgrade is safe: the pending migrations only add to the tables.\n'
    )
    expect(await file('003-by-hand.ts')).to.equal(
      "import type { Migration } from 'uniform-rest'\n\n" +
        "export const migration: Migration = {\n  name: '003-by-hand',\n  steps: []\n}\n"
    )
    expect(await readdir(join(app.path, 'migrations'))).to.have.length(3)
  })

  for (const args of [
    ['up'],
    ['create'],
    ['create', 'Not Kebab'],
    ['create', 'a', 'b'],
    ['--allow-drops'],
    ['--dry-run', 'status'],
    ['create', 'a', '--rename', 'a'],
    ['create', 'a', '--default', 'a.b'],
    ['create', 'a', '--second-store'],
    ['--nonsense']
  ]) {
    it(`rejects ${args.join(' ')} and says what is right`, async () => {
      const { code, stderr } = await migrate(...args)
      expect(code).to.equal(1)
      expect(stderr).to.match(/Usage: uniform-rest migrate|no `secondStore`/)
    })
  }

  // After the tests that wrote them.
  it('writes files that compile against the types of the package', async () => {
    const files = (await readdir(join(app.path, 'migrations'))).map((name) => join('migrations', name))
    const strict = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--types', '']
    const modules = ['--module', 'nodenext', '--target', 'es2023']
    const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc')
    await promisify(execFile)(process.execPath, [tsc, ...strict, ...modules, ...files], { cwd: app.path })
  })
})
