import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { eachDatabase } from '../harness/database.js'
import { ApplicationFolder, type Ran } from '../harness/command.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'

/** The config of an application with a failing migration of these steps, and with these rows in its sample. */
const config = (
  steps: string | undefined,
  rows: readonly object[] = []
): string => `import { createTable, addColumns, addForeignKeys, addIndexes, alterColumn, dropTable, defineApplication, defineEntity, everyone,
  date, int, onCreate, oneOf, optional, run, sql, text, tinyInt } from 'uniform-rest'

const notes = defineEntity({
  name: 'notes', description: 'Of a test.', filterable: [], sortable: [], access: { read: everyone }, rowVersion: 'none',
  fields: { id: onCreate(int()), title: text(5), number: tinyInt(), kind: oneOf(['a', 'b']), day: optional(date()) }, label: 'title'
})
const first = {
  name: '001-notes',
  steps: [
    createTable('notes', (t) => ({
      columns: [t.int('id').primaryKey(), t.varchar('title', 5), t.tinyint('number'), t.enum('kind', ['a', 'b']), t.date('day').nullable()]
    })),
    createTable('parents', (t) => ({ columns: [t.int('id').primaryKey()] })),
    createTable('children', (t) => ({
      columns: [t.int('id').primaryKey(), t.int('parent_id')],
      indexes: [t.index('parent_id')],
      foreignKeys: [{ column: 'parent_id', references: 'parents.id', onDelete: 'restrict' }]
    }))
  ]
}
const row = (values) => sql({ sqlite: values, mysql: values })
const migrations = [first${steps === undefined ? '' : `, { name: '002-failing', steps: ${steps} }`}]
const sample = { password: 'x', accounts: [], rows: () => new Map([['notes', ${JSON.stringify(rows)}.map((root) => ({ root }))]]) }
export default defineApplication({ entities: [notes], migrations, sample })
`

const NOTE = "INSERT INTO notes (id, title, number, kind) VALUES (1, 'x', 1, 'a')"

/** Steps of a migration that the database rejects, in the words of the config, and what of the reason is told. */
const STEPS: readonly (readonly [
  what: string,
  steps: string,
  sqlite: RegExp | undefined,
  mysql: RegExp | undefined
])[] = [
  [
    'a row that is there',
    `[row(${JSON.stringify(NOTE)}), row(${JSON.stringify(NOTE)})]`,
    /UNIQUE.*notes\.id/,
    /Duplicate entry '1'/
  ],
  [
    'a text that is too long',
    `[row("INSERT INTO notes VALUES (1, 'too long', 1, 'a', NULL)")]`,
    undefined,
    /Data too long for column 'title'/
  ],
  [
    'a number out of range',
    `[row("INSERT INTO notes VALUES (1, 'x', 300, 'a', NULL)")]`,
    undefined,
    /Out of range value for column 'number'/
  ],
  [
    'a day that is none',
    `[row("INSERT INTO notes VALUES (1, 'x', 1, 'a', '2024-02-30')")]`,
    undefined,
    /Incorrect date value: '2024-02-30'/
  ],
  [
    'a word that the column lacks',
    `[row("INSERT INTO notes VALUES (1, 'x', 1, 'c', NULL)")]`,
    undefined,
    /Data truncated for column 'kind'/
  ],
  [
    'a text that is no number',
    `[row("INSERT INTO notes VALUES (1, 'x', 'many', 'a', NULL)")]`,
    /cannot store TEXT value in INTEGER column notes\.number/,
    /Incorrect integer value: 'many'/
  ],
  [
    'a null',
    `[row("INSERT INTO notes VALUES (1, NULL, 1, 'a', NULL)")]`,
    /NOT NULL.*notes\.title/,
    /Column 'title' cannot be null/
  ],
  [
    'a row that refers to none',
    `[row("INSERT INTO children VALUES (1, 7)")]`,
    /FOREIGN KEY/,
    /foreign key constraint fails/
  ],
  [
    'a row that is referred to',
    `[row("INSERT INTO parents VALUES (1)"), row("INSERT INTO children VALUES (1, 1)"), row("DELETE FROM parents")]`,
    /FOREIGN KEY/,
    /Cannot delete or update a parent row/
  ],
  [
    'a table that is not there',
    `[row("INSERT INTO nowhere VALUES (1)")]`,
    /no such table: nowhere/,
    /Table '.*nowhere' doesn't exist/
  ],
  ['a statement that is none', `[row("INSRT INTO notes")]`, /syntax error/, /error in your SQL syntax/],
  [
    'a column that two rows share',
    `[row(${JSON.stringify(NOTE)}), row("INSERT INTO notes (id, title, number, kind) VALUES (2, 'x', 1, 'a')"), addIndexes('notes', (t) => [t.unique('title')])]`,
    /UNIQUE constraint failed/,
    /Duplicate entry 'x'/
  ],
  [
    'a type that its values do not fit',
    `[row("INSERT INTO notes VALUES (1, 'xxxxx', 1, 'a', NULL)"), alterColumn('notes', (t) => t.varchar('title', 2))]`,
    undefined,
    /Data (?:too long|truncated) for column 'title'/
  ],
  [
    'a foreign key to another type',
    `[addColumns('children', (t) => ({ columns: [t.varchar('other', 5).nullable()], foreignKeys: [{ column: 'other', references: 'parents.id', onDelete: 'restrict' }] }))]`,
    undefined,
    /Foreign key constraint is incorrectly formed|incompatible/
  ],
  [
    'an index that is too wide',
    `[addColumns('notes', (t) => ({ columns: [t.varchar('wide', 5000).nullable()], indexes: [t.index('wide')] }))]`,
    undefined,
    /key was too long/
  ],
  [
    'a check',
    `[row("CREATE TABLE checked (n INT, CHECK (n > 5))"), row("INSERT INTO checked VALUES (1)")]`,
    /CHECK constraint failed/,
    /CONSTRAINT .* failed|Check constraint/
  ],
  [
    'a trigger',
    `[sql({ sqlite: "CREATE TRIGGER no BEFORE INSERT ON parents BEGIN SELECT RAISE(ABORT, 'not on Sundays'); END", mysql: "CREATE TRIGGER no BEFORE INSERT ON parents FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not on Sundays'" }), row("INSERT INTO parents VALUES (9)")]`,
    /not on Sundays/,
    /not on Sundays/
  ],
  [
    'a column that is computed',
    `[row("CREATE TABLE sums (n INT, twice INT GENERATED ALWAYS AS (n * 2) STORED)"), row("INSERT INTO sums (n, twice) VALUES (1, 3)")]`,
    /cannot INSERT into generated column/,
    /generated column/
  ]
]

const ROWS: readonly (readonly [what: string, row: object, sqlite: RegExp | undefined, mysql: RegExp | undefined])[] = [
  [
    'a text that is too long',
    { id: 1, title: 'too long', number: 1, kind: 'a' },
    undefined,
    /Data too long for column 'title'/
  ],
  [
    'a number out of range',
    { id: 1, title: 'x', number: 300, kind: 'a' },
    undefined,
    /Out of range value for column 'number'/
  ],
  [
    'a word that the column lacks',
    { id: 1, title: 'x', number: 1, kind: 'c' },
    undefined,
    /Data truncated for column 'kind'/
  ],
  [
    'a day that is none',
    { id: 1, title: 'x', number: 1, kind: 'a', day: '2024-02-30' },
    undefined,
    /Incorrect date value/
  ],
  [
    'a text that is no number',
    { id: 1, title: 'x', number: 'many', kind: 'a' },
    /A sample row of notes has "many" as number, which is no int\./,
    /Incorrect integer value/
  ],
  [
    'a value that is missing',
    { id: 1, number: 1, kind: 'a' },
    /A sample row of notes has no title/,
    /A sample row of notes has no title/
  ]
]

eachDatabase((kind) => {
  describe(`statements that the database rejects are told without a stack, on ${kind}`, () => {
    let app: ApplicationFolder
    let fresh: FreshDatabase

    before(async () => {
      app = await ApplicationFolder.make({})
    })
    beforeEach(async () => {
      fresh = await freshDatabase(kind)
    })
    afterEach(() => fresh.dispose())
    after(() => app[Symbol.asyncDispose]())

    const use = (steps: string | undefined, rows?: readonly object[]): Promise<void> =>
      app.write({ 'uniform-rest.config.js': config(steps, rows) })
    const command = (...args: readonly string[]): Promise<Ran> => app.run(args, { DATABASE_URL: fresh.url })
    const start = (env: Readonly<Record<string, string>>): Promise<Ran> =>
      app.run(['start', 'data-service'], {
        DATABASE_URL: fresh.url,
        DATA_SERVICE_ADDRESS: '127.0.0.1:0',
        LOG_LEVEL: 'silent',
        ...env
      })

    const expectWords = ({ code, stdout, stderr }: Ran, reason: RegExp): string => {
      const out = `${stdout}${stderr}`
      expect(code, out).to.equal(1)
      expect(out, out)
        .to.match(/^Cannot start: /m)
        .and.match(reason)
        .and.not.match(/\n {4}at /)
      expect(out.length).to.be.lessThan(3000)
      return out
    }

    for (const [at, [what, steps, sqlite, mysql]] of STEPS.entries()) {
      const reason = kind === 'sqlite' ? sqlite : mysql
      if (reason === undefined) continue
      // What both databases reject on one of them in turn, and on both in the soak.
      if (!isSoak && sqlite && mysql && at % 2 !== Number(kind === 'sqlite')) continue
      it(`of a migration: ${what}`, async () => {
        await use(steps)
        const out = expectWords(await command('migrate'), reason)
        expect(out).to.match(/the migration 002-failing failed/)
        expect(out).to.match(
          kind === 'sqlite' ? /Nothing of it was changed/ : /runs the migration again from its start/
        )
      })
    }

    // Of 80 MB.
    if (isSoak && kind === 'mysql') {
      it('of a migration: a statement that is larger than the server takes', async () => {
        await use(`[run('large', ({ run }) => run("SELECT '" + 'x'.repeat(80 * 1024 * 1024) + "'"))]`)
        // In a process of its own, since the driver writes a warning to the standard error of its process.
        const ran = await app.spawn(['migrate'], { DATABASE_URL: fresh.url })
        expectWords(ran, /the migration 002-failing failed: .*(packet|max_allowed_packet)/)
      })
    }

    it('of a migration that a start runs', async () => {
      await use('[row("INSERT INTO nowhere VALUES (1)")]')
      expectWords(await start({ MIGRATE_AT_START: 'true' }), /the migration 002-failing failed: .*nowhere/)
    })

    for (const [at, [what, row, sqlite, mysql]] of ROWS.entries()) {
      const reason = kind === 'sqlite' ? sqlite : mysql
      if (reason === undefined) continue
      if (!isSoak && sqlite && mysql && at % 2 !== Number(kind === 'sqlite')) continue
      it(`of a sample: ${what}`, async () => {
        await use(undefined, [row])
        expect((await command('migrate')).code).to.equal(0)
        expectWords(await start({ SAMPLE_DATA: 'true' }), reason)
        await withTestDatabase(fresh.url, async ({ run }) => {
          expect(await run('SELECT * FROM notes')).to.deep.equal([])
        })
      })
    }
  })
})
