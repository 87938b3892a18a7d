import { expect } from 'chai'
import { everyone } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { column, int, readOnly, text } from '../../data-service/entity/fields/words.js'
import { nextRowVersion } from '../../data-service/entity/fields/row-version.js'
import { checkSchema, schemaReport, sortedByNeed } from '../../schema/check/check-schema.js'
import { eachDatabase } from '../harness/database.js'
import { memoryLog } from '../harness/memory-log.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshStores, freshStores } from './fresh-stores.js'

/** A table that other programs have written for years, under a key of two columns with awkward names. */
const casts = defineEntity({
  name: 'casts',
  table: "film's cast",
  description: 'Who plays where.',
  rowVersionColumn: 'row version',
  key: ['filmId', 'actorId'],
  fields: {
    filmId: readOnly(column('Film.Id', int())),
    actorId: readOnly(column('actor', int())),
    part: text(40)
  },
  label: 'part',
  filterable: ['part'],
  sortable: [],
  access: { read: everyone }
})

const MAKE = {
  sqlite:
    "CREATE TABLE `film's cast` (`Film.Id` INTEGER, actor INTEGER, part TEXT NOT NULL, PRIMARY KEY (`Film.Id`, actor))",
  mysql:
    "CREATE TABLE `film's cast` (`Film.Id` INT, actor INT, part VARCHAR(40) NOT NULL, PRIMARY KEY (`Film.Id`, actor)) ENGINE=InnoDB"
}

const AWKWARD = [
  '0000000000000000',
  '00000000000000fe',
  '00000000000000ff',
  '000000000000ffff',
  '0027005c00ffffff',
  '7fffffffffffffff',
  '8000000000000000',
  'c3a9e2ff00000000',
  'ffffffffffffffff'
]

eachDatabase((kind) => {
  describe(`the printed statements for rows that other programs write on ${kind}`, () => {
    let stores: FreshStores
    let sql: TestDatabase
    before(async () => {
      stores = await freshStores(kind)
      sql = await openTestDatabase(stores.urls.DATABASE_URL)
      await sql.run(MAKE[kind])
      await sql.run("INSERT INTO `film's cast` VALUES (1, 1, 'Hamlet'), (1, 2, 'Ophelia')")
    })
    after(async () => {
      await sql.close()
      await stores.dispose()
    })

    const report = () => schemaReport(stores.databases.primary, 'primary', [casts])
    /** What a start logs of triggers. */
    const logged = async (level: 'debug' | 'warn'): Promise<string[]> => {
      const { log, lines } = memoryLog()
      await checkSchema(stores.databases.primary, { store: 'primary', setting: 'DATABASE_URL', log }, [casts])
      const said = lines.filter((line) => level === 'warn' || String(line['msg']).includes('other programs'))
      return said.filter((line) => line['level'] === level).map((line) => String(line['msg']))
    }
    /** The triggers that a start names among its warnings. */
    const suspects = async (): Promise<string[]> => {
      const said = sortedByNeed(await report()).warnings.map(({ text }) => text)
      return said.filter((one) => one.includes('other programs'))
    }
    const versions = async (): Promise<string[]> =>
      (await sql.run("SELECT HEX(`row version`) AS v FROM `film's cast` ORDER BY `Film.Id`, actor")).map(({ v }) =>
        String(v).toLowerCase()
      )
    const dropTriggers = async (): Promise<void> => {
      for (const event of ['insert', 'update']) await sql.run(`DROP TRIGGER \`film's cast_version_${event}\``)
    }

    it('add the version column to a table with rows, which all get version 0', async () => {
      const { mistakes, triggers } = await report()
      expect(mistakes.map(({ text: said }) => said)).to.deep.equal([
        `casts: the table film's cast has no column row version for the version of rows; a new migration must add it, or ${String(mistakes[0]?.statements[0])}. ` +
          "For a table that may not be altered say rowVersion: 'content', or rowVersion: 'none' without `update` and actions"
      ])
      expect(triggers.map(({ statements }) => statements.length)).to.deep.equal([2])
      const [statement = ''] = mistakes[0]?.statements ?? []
      if (kind === 'mysql') expect(statement).to.match(/, ALGORITHM=INSTANT$/)
      await sql.run(statement)
      expect(await versions()).to.deep.equal(['0000000000000000', '0000000000000000'])
    })

    it('are missed by the check, and found by it when they have run', async () => {
      const { mistakes, triggers } = await report()
      expect(mistakes).to.deep.equal([])
      expect(await suspects(), 'that is right for a table that only the service writes').to.deep.equal([])
      expect(await logged('debug')).to.deep.equal(triggers.map(({ text: said }) => said))
      expect(triggers.map(({ text: said }) => said)).to.deep.equal([
        "film's cast: no trigger that this account may see advances the version of rows that other programs insert and update. " +
          'Does another program write the table? If not, nothing is to be done. If so, `uniform-rest check --sql` prints ' +
          'the triggers (docs/other-writers.md)'
      ])
      for (const statement of triggers[0]?.statements ?? []) await sql.run(statement)
      expect((await report()).triggers.map(({ text: said, statements }) => ({ said, statements }))).to.deep.equal([
        {
          said: "film's cast: other programs advance the version of the rows that they write, by triggers",
          statements: []
        }
      ])
    })

    it('are named at a start where one of them is missing, and are nothing to it where both are there', async () => {
      expect(await suspects()).to.deep.equal([])
      for (const event of ['insert', 'update']) {
        await sql.run(`DROP TRIGGER \`film's cast_version_${event}\``)
        const [suspect] = await suspects()
        expect(suspect).to.include(`the version of rows that other programs ${event}. Does`)
        const length = sortedByNeed(await report()).warnings.filter(({ isMild }) => isMild).length
        const [said, line = '', ...more] = await logged('warn')
        expect(said).to.equal(suspect)
        const counted = `${length} things? in the tables of DATABASE_URL may be slow or compared otherwise: `
        expect(line).to.match(new RegExp(length === 0 ? '^$' : `^${counted}`))
        expect(more, 'however many they are').to.deep.equal([])
        for (const statement of (await report()).triggers[0]?.statements ?? []) await sql.run(statement)
      }
    })

    it('give a row that another program updates the next version, whatever it is', async () => {
      const statements = async (): Promise<readonly string[]> => (await report()).triggers[0]?.statements ?? []
      for (const version of AWKWARD) {
        await dropTriggers()
        await sql.run("UPDATE `film's cast` SET `row version` = ? WHERE actor = 1", [Buffer.from(version, 'hex')])
        for (const statement of await statements()) await sql.run(statement)
        await sql.run("UPDATE `film's cast` SET part = ? WHERE actor = 1", [`after ${version}`])
        expect((await versions())[0]).to.equal(nextRowVersion(Buffer.from(version, 'hex')).toString('hex'))
      }
      expect((await versions())[1], 'the other row').to.equal('0000000000000000')
    })

    it('give each of many rows of one statement its own', async () => {
      const before = await versions()
      await sql.run("UPDATE `film's cast` SET part = 'x'")
      const after = await versions()
      expect(after).to.deep.equal(before.map((one) => nextRowVersion(Buffer.from(one, 'hex')).toString('hex')))
    })

    it('give a new row a version, and one that is inserted again under its key another than it ever had', async () => {
      const seen = new Set<string>()
      for (let round = 0; round < 20; round++) {
        await sql.run("DELETE FROM `film's cast` WHERE actor = 7")
        await sql.run("INSERT INTO `film's cast` (`Film.Id`, actor, part) VALUES (1, 7, 'again')")
        const [row] = await sql.run("SELECT HEX(`row version`) AS v FROM `film's cast` WHERE actor = 7")
        expect(String(row?.['v'])).to.have.length(16)
        seen.add(String(row?.['v']))
      }
      expect(seen.size).to.equal(20)
      expect([...seen]).to.not.include('0000000000000000')
    })

    it('leave a version alone that an INSERT names', async () => {
      await sql.run("INSERT INTO `film's cast` VALUES (1, 8, 'named', ?)", [Buffer.from('0102030405060708', 'hex')])
      expect((await versions()).at(-1)).to.equal('0102030405060708')
    })
  })
})
