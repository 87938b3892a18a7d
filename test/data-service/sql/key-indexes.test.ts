import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import type { KeyedEntity } from '../../../data-service/entity/entity.js'
import type { RowKey } from '../../../data-service/entity/key.js'
import { keyOrder } from '../../../data-service/plan/model/catalogue.js'
import {
  boundValues,
  inScopesOf,
  keyIn,
  keyIs,
  refersTo,
  type RowCondition,
  type WantedRow
} from '../../../data-service/sql/entity-rows/statements/conditions.js'
import { connect } from '../../../data-service/sql/connect.js'
import type { Database } from '../../../data-service/sql/engines/engine.js'
import { valuesOf } from '../../../data-service/sql/engines/statement.js'
import type { RowScope, SortKey } from '../../../data-service/plan/model/plans.js'
import {
  anyOfRanges,
  exactKeys,
  exactOrder,
  rangesBehind
} from '../../../data-service/sql/entity-rows/statements/keyset.js'
import { own } from '../../../data-service/sql/entity-rows/navigations.js'
import { migrateDatabase } from '../../../schema/migrations/migrate.js'
import { RowModels } from '../../../data-service/sql/entity-rows/statements/row-models.js'
import { Statements } from '../../../data-service/sql/entity-rows/statements/statements.js'
import { createLogger } from '../../../shared/logger.js'
import { type DatabaseKind, eachDatabase, freshDatabase } from '../../harness/database.js'
import { createShelves, languages, placements, publications, shelves, barcodes } from '../../library/shelves.js'
import { OWN } from '../../harness/own-tables.js'
import { openTestDatabase } from '../../oracle/test-database.js'

const ENTITIES: readonly KeyedEntity[] = [languages, publications, barcodes, shelves, placements]
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
  describe(`indexes of keys on ${kind}`, () => {
    let database: Database
    let statements: Statements
    let dispose: () => Promise<void>
    before(async () => {
      const fresh = await freshDatabase(kind)
      database = connect(fresh.url)
      dispose = fresh.dispose
      await migrateDatabase(database, [createShelves], {
        own: OWN,
        log: createLogger({ name: 'test', level: 'silent' })
      })
      await fill(fresh.url)
      statements = new Statements(new RowModels(database.sequelize, ENTITIES, 'primary'), database.dialect)
    })
    after(async () => {
      await database.sequelize.close()
      await dispose()
    })

    const orderOf = (entity: KeyedEntity): readonly SortKey[] => exactOrder(keyOrder(entity), entity, database)

    /** How the database finds the rows of a read: `all` for one that looks at every row of a table. */
    const access = async (
      entity: KeyedEntity,
      conditions: readonly RowCondition[],
      ordered = false
    ): Promise<{
      readonly all: boolean
      readonly sorts: boolean
      readonly rows: number
      readonly indexes: readonly string[]
    }> => {
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
          rows: 0,
          indexes: details
            .filter((detail) => ENTITIES.some(({ table }) => detail.startsWith(`SEARCH ${table} `)))
            .map((detail) =>
              detail.replace(/^SEARCH (\w+) USING (?:COVERING )?INDEX sqlite_autoindex_\1_1 .*/, 'key of $1')
            )
        }
      }
      const plan = await database.sequelize.query<{
        table: string
        type: string
        key: string | null
        rows: string | number
        Extra: string
      }>(`EXPLAIN ${statement.sql}`, { type: QueryTypes.SELECT, replacements: values })
      const read = plan.filter(({ table }) => !table.startsWith('<'))
      return {
        all: read.some(({ type }) => type === 'ALL' || (type === 'index' && !ordered)),
        sorts: read.some(({ Extra }) => Extra.includes('filesort')),
        rows: read.reduce((product, { rows }) => product * Number(rows), 1),
        indexes: read.map(({ table, key }) => (key === 'PRIMARY' ? `key of ${table}` : String(key)))
      }
    }

    /** The first part of the keys of the rows, in order. */
    const keysFound = async (entity: KeyedEntity, conditions: readonly RowCondition[]): Promise<unknown[]> => {
      const shape = { entity, selected: entity.key.map(own), selectedKey: 'key', conditions, sort: [] } as const
      const statement = statements.rows({ ...shape, cut: 'whole' })
      const reader = database.openReader('The database')
      const rows = await reader.read(new AbortController().signal, (session) =>
        session.run(statement, boundValues(conditions, database.dialect))
      )
      await reader.close()
      return rows.map(([first]) => String(first)).toSorted((one, other) => one.localeCompare(other))
    }

    const shelf = (at: number): RowKey => [`l${at % LANGUAGES}`, 'north', at % SHELVES]
    const copy = (at: number): RowKey => [guidOf(at), 1]
    const many = <One>(make: (at: number) => One, count: number): One[] =>
      Array.from({ length: count }, (_, at) => make(at * 7))

    it('serve a read by id', async () => {
      const reads: readonly (readonly [KeyedEntity, RowKey])[] = [
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

    it('serve rows of several owners, each in the scope of its own, although the owner has an index too', async () => {
      const ownedBy = (entity: KeyedEntity, property: string, owner: string): RowScope => {
        const column = entity.columns.find(({ name }) => name === property)
        if (column === undefined) throw new Error(`${entity.name} has no ${property}`)
        return { kind: 'rows-where', conditions: [{ path: own(column), comparison: 'equals', operands: [owner] }] }
      }
      // Every third row is wanted by another than its owner.
      const ownerOf = (at: number): string => (at % 3 === 1 ? 'nobody' : `l${at % LANGUAGES}`)
      const ofPublication = (at: number): WantedRow => ({
        key: [guidOf(at)],
        scope: ownedBy(publications, 'languageId', ownerOf(at))
      })
      const ofPlacement = (at: number): WantedRow => ({
        key: copy(at),
        scope: ownedBy(placements, 'shelfLanguage', ownerOf(at))
      })
      for (const count of [1, 2, 3, 40, 128]) {
        for (const [entity, make] of [
          [publications, ofPublication],
          [placements, ofPlacement]
        ] as const) {
          const [first = make(0), ...others] = many(make, count)
          const conditions = inScopesOf(entity.key, [first, ...others], database.dialect)
          const found = await access(entity, conditions)
          expect([entity.name, count, found.all, found.rows <= count * 2]).to.deep.equal([
            entity.name,
            count,
            false,
            true
          ])
          // The index that sorts copies by their number ends in the other part of the key.
          const ofKey = ['key of publications', 'key of placements', 'placements_copy_number']
          expect(found.indexes).to.have.length.above(0)
          expect(ofKey, `${entity.name} ${count}`).to.include.members(found.indexes)
          const expected = many((at) => at, count).filter((at) => at % 3 !== 1)
          expect(await keysFound(entity, conditions)).to.deep.equal(expected.map(guidOf))
        }
      }
    })

    it('tell nobody another’s row: two callers may want one row only in equal scopes', () => {
      const [column] = publications.columns
      if (column === undefined) throw new Error('no column')
      const wanted = (at: number, title: string): WantedRow => ({
        key: [guidOf(at)],
        scope: { kind: 'rows-where', conditions: [{ path: own(column), comparison: 'equals', operands: [title] }] }
      })
      const of = (...[first, ...others]: readonly [WantedRow, ...WantedRow[]]): unknown =>
        inScopesOf(publications.key, [first, ...others], database.dialect)
      expect(() => of(wanted(1, 'a'), wanted(2, 'b'), wanted(1, 'a'))).not.to.throw()
      expect(() => of(wanted(1, 'a'), wanted(2, 'b'), wanted(1, 'b'))).to.throw(TypeError, 'different scopes')
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
