import { expect } from 'chai'
import { everyone } from '../../data-service/entity/access.js'
import { defineEntity, fullText } from '../../data-service/entity/define-entity.js'
import type { Entity } from '../../data-service/entity/entity.js'
import { column, optional, readOnly, int, text } from '../../data-service/entity/fields/words.js'
import type { Condition } from '../../data-service/plan/model/plans.js'
import { SqlReadStore } from '../../data-service/sql/entity-rows/reads.js'
import { schemaReport } from '../../schema/check/check-schema.js'
import { schemaOf } from '../../schema/kinds/kinds.js'
import { readTableFacts } from '../../schema/table-facts.js'
import { never } from '../data-service/sql/fresh-read-store.js'
import { pagePlan, path } from '../data-service/sql/plan-by-hand.js'
import { eachDatabase } from '../stack/databases.js'
import { IntrospectedApp } from './introspect/introspected-app.js'
import { type GeneratedHistory, generatedHistory } from './generated-history.js'

const common = {
  name: 'talks',
  description: 'Of a test.',
  filterable: [],
  sortable: [],
  label: 'title',
  access: { read: everyone }
} as const
const fields = { id: readOnly(int()), title: text(60), note: optional(text(200)) }
const byTitle = defineEntity({ ...common, fields, searchable: fullText('title') })
const byBoth = defineEntity({ ...common, fields, searchable: fullText('note', 'title') })
const byParts = defineEntity({ ...common, fields, searchable: ['title'] })
const longer = { ...fields, title: text(90) }
const renamed = { ...longer, title: column('heading', text(90)) }
const plain = { id: fields.id, title: renamed.title }

eachDatabase((kind) => {
  describe(`full-text indexes on ${kind}`, () => {
    let history: GeneratedHistory
    before(async () => {
      history = await generatedHistory(kind)
    })
    after(() => history.dispose())

    const isServer = kind !== 'sqlite'
    /** What is searched by an index, and what the check says. */
    const found = async (entity: Entity): Promise<readonly [index: readonly string[], said: readonly string[]]> => {
      const database = history.stores.databases.primary
      const { live, warnings, mistakes } = await schemaReport(database, 'primary', [entity])
      const { texts } = await readTableFacts(schemaOf(database), live, [entity])
      const said = [...mistakes, ...warnings].map((one) => [one.text, ...one.statements].join('; '))
      return [[...texts.fullText.values()].flat(), said]
    }
    const matches = async (word: string): Promise<unknown[]> =>
      isServer
        ? history.select(`SELECT id FROM talks WHERE MATCH (talks_full_text) AGAINST ('+${word}*' IN BOOLEAN MODE)`)
        : []

    it('are generated, and follow the columns that change, are renamed and go', async () => {
      const indexed = [isServer ? ['talks_full_text'] : [], []]
      expect((await history.advance([byTitle])).steps).to.have.nested.property(
        '[0].definition.indexes[0].fullText',
        true
      )
      expect(await found(byTitle)).to.deep.equal(indexed)
      await history.run(
        "INSERT INTO talks (title, note, row_version) VALUES ('Copper jugs', 'with wine', X'0000000000000001')"
      )
      expect(await matches('jug')).to.have.length(isServer ? 1 : 0)
      await history.advance([defineEntity({ ...common, fields: longer, searchable: fullText('title') })])
      const other = defineEntity({ ...common, fields: renamed, searchable: fullText('title') })
      await history.advance([other], { renames: new Map([['talks.title', 'heading']]) })
      expect(await found(other)).to.deep.equal(indexed)
      const both = defineEntity({ ...common, fields: renamed, searchable: fullText('note', 'title') })
      const { steps } = await history.advance([both], { allowDrops: true })
      expect(steps.map((step) => step.kind)).to.deep.equal(['addIndexes', 'dropIndexes'])
      expect(await found(both)).to.deep.equal([isServer ? ['talks_full_text_2'] : [], []])
      const gone = defineEntity({ ...common, fields: plain, searchable: fullText('title') })
      await history.advance([gone], { allowDrops: true })
      expect(await matches('jug')).to.have.length(isServer ? 1 : 0)
      expect(await found(gone)).to.deep.equal(indexed)
      const none = defineEntity({ ...common, fields: plain, searchable: ['title'] })
      const { kept } = await history.differenceOf([none])
      expect(kept).to.deep.equal(['the index talks_full_text of talks'])
      await history.advance([none], { allowDrops: true })
      await history.run('DROP TABLE talks')
    })

    if (!isServer) return

    it('are missing for the check where they cannot find every word, and its statement mends it', async () => {
      const texts = 'VARCHAR(200) COLLATE utf8mb4_uca1400_nopad_as_ci'
      await history.run(
        `CREATE TABLE talks (id INT AUTO_INCREMENT PRIMARY KEY, title ${texts} NOT NULL, note ${texts}, row_version BINARY(8) NOT NULL)`
      )
      const [missing] = (await found(byBoth))[1]
      expect(missing).to.include(
        'talks: no full-text index of talks.note, talks.title finds all words: each search reads'
      )
      const insisting = { ...byBoth, indexes: 'required' } as const
      const { mistakes } = await schemaReport(history.stores.databases.primary, 'primary', [insisting])
      expect(mistakes.map((one) => one.text)).to.deep.equal([
        'talks: no full-text index of talks.note, talks.title finds all words; a new migration must add it'
      ])
      await history.run('CREATE FULLTEXT INDEX telling ON talks (title, note)')
      expect(await found(byBoth)).to.deep.equal([[], [missing]])
      await history.run(String(missing).slice(String(missing).indexOf('; ') + 2))
      expect(await found(byBoth)).to.deep.equal([['talks_full_text'], []])
      await history.run('ALTER TABLE talks DROP INDEX talks_full_text')
      const [again] = (await found(byBoth))[1]
      await history.run(String(again).slice(String(again).indexOf('; ') + 2))
      expect(await found(byBoth)).to.deep.equal([['talks_full_text_2'], []])
      expect((await found(byTitle))[1]).to.have.length(1)
      expect(await found(byParts)).to.deep.equal([[], []])
      await history.run('DROP TABLE talks')
    })

    it('find words that one of the columns cannot hold, and cost time alone once a migration drops them', async () => {
      await history.run(
        `CREATE TABLE talks (id INT PRIMARY KEY, title VARCHAR(60) CHARACTER SET latin1 NOT NULL,
         note VARCHAR(200) CHARACTER SET utf8mb4, row_version BINARY(8) NOT NULL)`
      )
      await history.run("INSERT INTO talks VALUES (1, 'Hi', 'Привет, мир', X'0000000000000001')")
      const byTitleFirst = defineEntity({ ...common, fields, searchable: fullText('title', 'note') })
      const missing = (await found(byTitleFirst))[1].find((one) => one.includes('full-text'))
      await history.run(String(missing).slice(String(missing).indexOf('; ') + 2))
      const { databases } = history.stores
      const schema = schemaOf(databases.primary)
      const facts = await readTableFacts(schema, await schema.describe(), [byTitleFirst])
      expect([...(facts.texts?.fullText.values() ?? [])]).to.deep.equal([['talks_full_text']])
      const store = new SqlReadStore(databases, [byTitleFirst], { facts })
      const ids = async (word: string): Promise<unknown[]> => {
        const anyOf = (['title', 'note'] as const).map(
          (name) => ({ path: path(byTitleFirst, name), comparison: 'beginsWord', operands: [word] }) as const
        )
        const [first, ...others] = anyOf
        if (first === undefined) return []
        const conditions: Condition[] = [{ anyOf: [first, ...others] }]
        const { rows } = await store.page(pagePlan(byTitleFirst, { conditions }), never)
        return rows.map(({ values }) => values[0])
      }
      expect(await ids('привет')).to.deep.equal([1])
      expect(await ids('nothing')).to.deep.equal([])
      await history.run('ALTER TABLE talks DROP INDEX talks_full_text, DROP COLUMN talks_full_text')
      expect(await ids('привет')).to.deep.equal([1])
      await history.run('DROP TABLE talks')
    })

    it('are written to entity files, without the column that a migration made for one', async () => {
      const texts = 'title VARCHAR(60) NOT NULL, note VARCHAR(200), row_version BINARY(8) NOT NULL'
      const copy = "words MEDIUMTEXT COLLATE utf8mb4_general_ci AS (CONCAT_WS(' ', `note`, `title`)) STORED"
      const app = await IntrospectedApp.make(kind, [
        `CREATE TABLE notes (id INT PRIMARY KEY, ${texts}, FULLTEXT INDEX (title))`,
        `CREATE TABLE talks (id INT PRIMARY KEY, ${texts}, ${copy}, FULLTEXT INDEX (words))`
      ])
      const { code, stderr } = await app.run('introspect')
      expect(code, stderr).to.equal(0)
      const [plain, copied] = [await app.read('entities/notes.ts'), await app.read('entities/talks.ts')]
      expect(plain).to.include("searchable: fullText('title'),")
      expect(copied).to.include("searchable: fullText('note', 'title'),")
      expect(copied).to.include('import { defineEntity, fullText,').and.not.include('words')
      await app.dispose()
    })

    it('of others serve where they equate accents and have transactions', async () => {
      const make = (collation: string, engine: string): Promise<unknown> =>
        history.run(
          `CREATE OR REPLACE TABLE talks (id INT PRIMARY KEY, title VARCHAR(200) CHARACTER SET utf8mb4 COLLATE ${collation} NOT NULL,
           note VARCHAR(200) CHARACTER SET utf8mb4 COLLATE ${collation}, row_version BINARY(8) NOT NULL,
           FULLTEXT INDEX words (title, note), FULLTEXT INDEX one (title)) ENGINE=${engine}`
        )
      await make('utf8mb4_general_ci', 'InnoDB')
      expect((await found(byBoth))[0]).to.deep.equal(['title', 'note'])
      expect((await found(byTitle))[0]).to.deep.equal(['title'])
      await make('utf8mb4_general_ci', 'MyISAM')
      expect((await found(byBoth))[0]).to.deep.equal([])
      await make('utf8mb4_bin', 'InnoDB')
      expect((await found(byBoth))[0]).to.deep.equal([])
    })
  })
})
