import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import type { Entity } from '../../../data-service/entity/entity.js'
import type { RowKey } from '../../../data-service/entity/key.js'
import { keyOrder } from '../../../data-service/plan/model/catalogue.js'
import {
  boundValues,
  keyIn,
  keyIs,
  refersTo,
  type RowCondition
} from '../../../data-service/sql/entity-rows/conditions.js'
import { connect } from '../../../data-service/sql/connect.js'
import type { Database } from '../../../data-service/sql/engines/engine.js'
import { valuesOf } from '../../../data-service/sql/engines/statement.js'
import type { SortKey } from '../../../data-service/plan/model/plans.js'
import { anyOfRanges, exactKeys, exactOrder, rangesBehind } from '../../../data-service/sql/entity-rows/keyset.js'
import { own } from '../../../data-service/sql/entity-rows/navigations.js'
import { migrate } from '../../../data-service/sql/schema/migrate.js'
import { RowModels } from '../../../data-service/sql/entity-rows/row-models.js'
import { Statements } from '../../../data-service/sql/entity-rows/statements.js'
import { createLogger } from '../../../shared/logger.js'
import { type DatabaseKind, eachDatabase, freshDatabase } from '../../harness/database.js'
import { createShelves, languages, placements, publications, shelves, barcodes } from '../../library/shelves.js'
import { OWN } from '../../harness/own-tables.js'
import { openTestDatabase } from '../../oracle/test-database.js'

const ENTITIES: readonly Entity[] = [languages, publications, barcodes, shelves, placements]
const LANGUAGES = 40
const SHELVES = 200

const guidOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** Enough rows that a plan without an index costs more than one with it. */
async function fill(url: string): Promise<void> {
  const database = await openTestDatabase(url)
  const version = Buffer.alloc(8)
  const insert = async (
    table: string,
    columns: readonly string[],
    rows: readonly (string | number)[][]
  ): Promise<void> => {
    for (let at = 0; at < rows.length; at += 100) {
      const some = rows.slice(at, at + 100)
      const row = `(${columns.map(() => '?').join(', ')}, ?)`
      await database.run(
        `INSERT INTO ${table} (${columns.join(', ')}, row_version) VALUES ${some.map(() => row).join(', ')}`,
        some.flatMap((values) => [...values, version])
      )
    }
  }
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
  await insert(
    'languages',
    ['code', 'name'],
    numbers(LANGUAGES).map((at) => [`l${at}`, `Language ${at}`])
  )
  const shelfRows = numbers(LANGUAGES).flatMap((at) =>
    numbers(SHELVES).map((number) => [number, `l${at}`, 'north', 'x'])
  )
  await insert('shelves', ['number', 'language_id', 'room', 'label'], shelfRows)
  await insert(
    'publications',
    ['id', 'title', 'language_id'],
    numbers(4000).map((at) => [guidOf(at), `Book ${at}`, `l${at % LANGUAGES}`])
  )
  const copies = numbers(4000).map((at) => [guidOf(at), 1, `l${at % LANGUAGES}`, 'north', at % SHELVES, 'x'])
  const columns = ['publication_id', 'copy_number', 'shelf_language', 'shelf_room', 'shelf_number', 'remark']
  await insert('placements', columns, copies)
  if (database.kind === 'mysql') await database.run('ANALYZE TABLE languages, shelves, publications, placements')
  await database.close()
}

eachDatabase((kind: DatabaseKind) => {
  describe(`indexes of keys on ${kind}`, function () {
    this.timeout(120_000)
    let database: Database
    let statements: Statements
    let dispose: () => Promise<void>
    before(async () => {
      const fresh = await freshDatabase(kind)
      database = connect(fresh.url)
      dispose = fresh.dispose
      await migrate(database, [createShelves], { own: OWN, log: createLogger({ name: 'test', level: 'silent' }) })
      await fill(fresh.url)
      statements = new Statements(new RowModels(database.sequelize, ENTITIES, 'primary'), database.dialect)
    })
    after(async () => {
      await database.sequelize.close()
      await dispose()
    })

    const orderOf = (entity: Entity): readonly SortKey[] => exactOrder(keyOrder(entity), entity, database.dialect)

    /** How the database finds the rows of a read: `all` for one that looks at every row of a table. */
    const access = async (
      entity: Entity,
      conditions: readonly RowCondition[],
      ordered = false
    ): Promise<{ readonly all: boolean; readonly sorts: boolean; readonly rows: number }> => {
      const statement = statements.rows({
        entity,
        selected: entity.key.map(own),
        selectedKey: 'key',
        conditions,
        sort: ordered ? orderOf(entity) : [],
        cut: ordered ? 'limit' : 'whole'
      })
      const values = valuesOf(statement, { ...boundValues(conditions, database.dialect), limit: 10n })
      if (kind === 'sqlite') {
        const texts = values.map((value) => (typeof value === 'bigint' ? Number(value) : value))
        const plan = await database.sequelize.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${statement.sql}`, {
          type: QueryTypes.SELECT,
          replacements: texts
        })
        const details = plan.map(({ detail }) => detail)
        // `SCAN languages` reads the table, with `USING INDEX` a whole index; a list of VALUES is scanned too.
        const scans = details.filter((detail) => ENTITIES.some(({ table }) => detail.startsWith(`SCAN ${table}`)))
        return {
          all: scans.some((detail) => !ordered || !detail.includes('USING')),
          sorts: details.some((detail) => detail.includes('USE TEMP B-TREE FOR ORDER BY')),
          rows: 0
        }
      }
      const plan = await database.sequelize.query<{
        table: string
        type: string
        rows: string | number
        Extra: string
      }>(`EXPLAIN ${statement.sql}`, { type: QueryTypes.SELECT, replacements: values })
      const read = plan.filter(({ table }) => !table.startsWith('<'))
      return {
        all: read.some(({ type }) => type === 'ALL' || (type === 'index' && !ordered)),
        sorts: read.some(({ Extra }) => Extra.includes('filesort')),
        rows: read.reduce((product, { rows }) => product * Number(rows), 1)
      }
    }

    const shelf = (at: number): RowKey => [`l${at % LANGUAGES}`, 'north', at % SHELVES]
    const copy = (at: number): RowKey => [guidOf(at), 1]
    const many = <One>(make: (at: number) => One, count: number): One[] =>
      Array.from({ length: count }, (_, at) => make(at * 7))

    it('serve a read by id', async () => {
      const reads: readonly (readonly [Entity, RowKey])[] = [
        [languages, ['l3']],
        [publications, [guidOf(5)]],
        [shelves, shelf(3)],
        [placements, copy(3)]
      ]
      for (const [entity, key] of reads) {
        const found = await access(entity, keyIs(entity.key, key))
        expect([entity.name, found.all, found.rows <= 1]).to.deep.equal([entity.name, false, true])
      }
    })

    it('serve lists of keys, also long ones of several columns', async () => {
      for (const count of [1, 3, 100, 512]) {
        for (const [entity, keys] of [
          [languages, many((at): RowKey => [`l${at}`], count)],
          [publications, many((at): RowKey => [guidOf(at)], count)],
          [shelves, many(shelf, count)],
          [placements, many(copy, count)]
        ] as const) {
          const found = await access(entity, [keyIn(entity.key, keys, 'isKeyIn')])
          // A list of most rows of a table is better read without an index.
          if (entity === languages && count > 3) continue
          expect([entity.name, count, found.all, found.rows <= 2 * count]).to.deep.equal([
            entity.name,
            count,
            false,
            true
          ])
        }
      }
    })

    it('serve foreign keys of several columns', async () => {
      const [, reference] = placements.references
      const via = reference?.via ?? shelves.key
      expect((await access(placements, refersTo(via, shelf(3)))).all).to.equal(false)
      expect((await access(placements, [keyIn(via, many(shelf, 20), 'refersToIn')])).all).to.equal(false)
    })

    it('serve the order of a key and the rows behind a place in it', async () => {
      for (const [entity, keys] of [
        [publications, [guidOf(900)]],
        [shelves, ['l20', 'north', 30]],
        [languages, ['l20']],
        [placements, [guidOf(900), 1]]
      ] as const) {
        // MySQL has enums in the order of their numbers, and not of their words.
        if (entity === shelves && kind === 'mysql') continue
        expect((await access(entity, [], true)).sorts, entity.name).to.equal(false)
        const order = orderOf(entity)
        const ranges = rangesBehind(order, { keys: exactKeys(keys, { sort: keyOrder(entity), order }), through: false })
        const found = await access(entity, anyOfRanges(ranges), true)
        if (kind === 'mysql') expect([entity.name, found.all, found.sorts]).to.deep.equal([entity.name, false, false])
      }
    })
  })
})
