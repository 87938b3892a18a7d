import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { everyone } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import {
  date,
  defaultTo,
  guid,
  int,
  long,
  money,
  onCreate,
  oneOf,
  optional,
  readOnly,
  smallInt,
  text,
  unsigned
} from '../../data-service/entity/fields/words.js'
import { schemaAfter } from '../../schema/migrations/migration.js'
import { eachDatabase } from '../stack/databases.js'
import { type GeneratedHistory, generatedHistory } from './generated-history.js'

const VERSION = "X'0102030405060708'"
const common = { description: 'Of a test.', filterable: [], sortable: [], access: { read: everyone } } as const
const ROOMS = ['north', 'South'] as const

// An entity for each kind of key, with children and references by the key of several columns.

const countryFields = { id: onCreate(text(40)), name: text(60) }
const countries = defineEntity({
  ...common,
  name: 'countries',
  fields: countryFields,
  label: 'name',
  sortable: ['id', 'name']
})
const holidays = defineEntity({
  ...common,
  name: 'holidays',
  fields: { id: onCreate(date()), name: text(60) },
  label: 'name',
  sortable: ['id']
})
const grades = defineEntity({
  ...common,
  name: 'grades',
  fields: { id: onCreate(oneOf(['low', 'high'])), note: text(60) },
  label: 'note'
})
const tickets = defineEntity({
  ...common,
  name: 'tickets',
  fields: { id: readOnly(unsigned(int())), holidayId: optional(date()), gradeId: oneOf(['low', 'high']) },
  label: 'id',
  sortable: ['id', 'holidayId'],
  references: { holiday: { to: 'holidays', via: 'holidayId' }, grade: { to: 'grades', via: 'gradeId' } }
})
const badges = defineEntity({
  ...common,
  name: 'badges',
  fields: { id: onCreate(unsigned(long())), ticketId: unsigned(int()) },
  label: 'id',
  references: { ticket: { to: 'tickets', via: 'ticketId' } }
})

const shelfFields = {
  number: onCreate(smallInt()),
  countryId: onCreate(text(40)),
  room: onCreate(oneOf(ROOMS)),
  openedOn: onCreate(date()),
  label: text(60),
  fee: money(10, 2)
}
const shelf = {
  ...common,
  name: 'shelves',
  // Neither the order of the columns nor that of the alphabet.
  key: ['room', 'countryId', 'number', 'openedOn'],
  label: 'label',
  sortable: ['room', 'number', 'label'],
  references: { country: { to: 'countries', via: 'countryId' } }
} as const
const checks = {
  table: 'shelf_checks',
  foreignKey: ['room', 'countryId', 'shelfNumber', 'openedOn'],
  key: ['room', 'countryId', 'shelfNumber', 'openedOn', 'checkNumber'],
  fields: {
    room: readOnly(oneOf(ROOMS)),
    countryId: readOnly(text(40)),
    shelfNumber: readOnly(smallInt()),
    openedOn: readOnly(date()),
    checkNumber: onCreate(int()),
    remark: text(60)
  }
} as const
const shelves = defineEntity({ ...shelf, fields: shelfFields, children: { checks } })

const placementFields = {
  copy: onCreate(guid()),
  serial: onCreate(unsigned(long())),
  shelfRoom: optional(oneOf(ROOMS)),
  shelfCountry: optional(text(40)),
  shelfNumber: optional(smallInt()),
  shelfDay: optional(date())
}
const placement = {
  ...common,
  name: 'placements',
  key: ['copy', 'serial'],
  label: 'serial',
  sortable: ['copy', 'serial']
} as const
const toShelf = {
  shelf: { to: 'shelves', via: ['shelfRoom', 'shelfCountry', 'shelfNumber', 'shelfDay'] }
} as const
const placements = defineEntity({ ...placement, fields: placementFields, references: toShelf })

const ALL = [placements, shelves, badges, tickets, grades, holidays, countries]

eachDatabase((kind) => {
  describe(`generated migrations of keys of every kind on ${kind}`, () => {
    let history: GeneratedHistory

    beforeEach(async () => {
      history = await generatedHistory(kind)
    })
    afterEach(() => history.dispose())

    const rejected = async (statement: string): Promise<boolean> =>
      history.run(statement).then(
        () => false,
        () => true
      )

    /** Two shelves that differ in one part of their keys, with a check and a placement of each. */
    async function addRows(): Promise<void> {
      const { run } = history
      const fee = kind === 'sqlite' ? '1234' : '12.34'
      const wide = (digits: string): string => (kind === 'sqlite' ? `'${digits.padStart(20, '0')}'` : digits)
      await run(`INSERT INTO countries (id, name, row_version) VALUES ('de', 'German', ${VERSION})`)
      for (const [number, serial] of [
        [1, '18446744073709551615'],
        [2, '7']
      ] as const) {
        const key = `'South', 'de', ${number}, '2024-02-29'`
        await run(
          `INSERT INTO shelves (room, country_id, number, opened_on, label, fee, row_version)
          VALUES (${key}, 'L${number}', ${fee}, ${VERSION})`
        )
        await run(
          `INSERT INTO shelf_checks (room, country_id, shelf_number, opened_on, check_number, remark, row_version)
          VALUES (${key}, 5, 'R${number}', ${VERSION})`
        )
        await run(
          `INSERT INTO placements (copy, serial, shelf_room, shelf_country, shelf_number, shelf_day, row_version)
          VALUES ('0b5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e', ${wide(serial)}, ${key}, ${VERSION})`
        )
      }
    }
    const rows = async () => ({
      shelves: await history.select('SELECT number, label FROM shelves ORDER BY number'),
      checks: await history.select('SELECT shelf_number, remark FROM shelf_checks ORDER BY shelf_number'),
      placements: await history.select('SELECT shelf_number FROM placements ORDER BY shelf_number')
    })
    const ROWS = {
      shelves: [
        { number: 1, label: 'L1' },
        { number: 2, label: 'L2' }
      ],
      checks: [
        { shelf_number: 1, remark: 'R1' },
        { shelf_number: 2, remark: 'R2' }
      ],
      placements: [{ shelf_number: 1 }, { shelf_number: 2 }]
    }

    /** The database goes on to keep keys apart, to enforce foreign keys, and to take children along. */
    async function expectRules(): Promise<void> {
      const other = 'INSERT INTO shelves SELECT * FROM shelves WHERE number = 1'
      expect(await rejected(other), 'the same key again').to.equal(true)
      expect(await rejected("UPDATE placements SET shelf_day = '2024-03-01'"), 'a shelf that is not there').to.equal(
        true
      )
      expect(await rejected('DELETE FROM shelves WHERE number = 1'), 'a shelf that is referred to').to.equal(true)
      await history.run('DELETE FROM placements WHERE shelf_number = 1')
      await history.run('DELETE FROM shelves WHERE number = 1')
      expect((await rows()).checks).to.deep.equal([ROWS.checks[1]])
    }

    it('make the tables, and nothing the next time', async () => {
      const { steps } = await history.advance(ALL)
      expect(steps.map(({ table }) => table)).to.deep.equal([
        'countries',
        'shelves',
        'placements',
        'holidays',
        'grades',
        'tickets',
        'badges',
        'shelf_checks'
      ])
      await addRows()
      expect(await rows()).to.deep.equal(ROWS)
      expect(await rejected(`INSERT INTO countries (id, name, row_version) VALUES ('DE', 'x', ${VERSION})`)).to.equal(
        true
      )
      await expectRules()
    })

    it('are written in the words of migrations', async () => {
      await history.advance(ALL)
      const { folder } = await history.all()
      const written = await readFile(`${folder ?? ''}/001-step.js`, 'utf8')
      expect(written).to.include(
        "  columns: [t.varchar('id', 40).primaryKey(), t.varchar('name', 60), t.rowVersion()],".replace(/^ +/, '')
      )
      expect(written).to.include("t.date('id').primaryKey()")
      expect(written).to.include("t.enum('id', ['low', 'high']).primaryKey()")
      expect(written).to.include("t.int('id').unsigned().autoIncrement()")
      expect(written).to.include("t.bigint('id').unsigned().primaryKey()")
      expect(written).to.include("primaryKey: ['room', 'country_id', 'number', 'opened_on']")
      expect(written).to.match(
        /columns: \['shelf_room', 'shelf_country', 'shelf_number', 'shelf_day'\],\s+references: \[\s*'shelves.room',\s*'shelves.country_id',\s*'shelves.number',\s*'shelves.opened_on'\s*\],\s+onDelete: 'restrict'/
      )
    })

    it('add columns, indexes and references of several columns, and keep the rows', async () => {
      const loose = defineEntity({ ...placement, fields: placementFields })
      const bare = defineEntity({ ...shelf, sortable: [], fields: shelfFields })
      await history.advance([loose, bare, countries])
      const grown = defineEntity({
        ...shelf,
        sortable: [...shelf.sortable, 'weight'],
        fields: { ...shelfFields, weight: defaultTo(int(), 3) },
        children: { checks }
      })
      const { steps } = await history.advance([placements, grown, countries])
      expect(steps.map(({ kind: step, table }) => `${step} ${table}`)).to.deep.equal([
        'createTable shelf_checks',
        'addColumns shelves',
        'addForeignKeys placements',
        'addIndexes placements',
        'addIndexes shelves'
      ])
      await addRows()
      expect(await rows()).to.deep.equal(ROWS)
      await expectRules()
    })

    it('add columns that refer by several columns to rows', async () => {
      const { copy, serial } = placementFields
      await history.advance([defineEntity({ ...placement, fields: { copy, serial } }), shelves, countries])
      const { steps } = await history.advance([placements, shelves, countries])
      expect(steps.map(({ kind: step, table }) => `${step} ${table}`)).to.deep.equal(['addColumns placements'])
      await addRows()
      await expectRules()
    })

    it('alter columns of the tables, and keep keys, indexes, foreign keys, triggers and rows', async () => {
      await history.advance(ALL)
      await addRows()
      const body =
        kind === 'sqlite'
          ? "BEGIN UPDATE shelf_checks SET remark = 'new' WHERE shelf_number = NEW.number; END"
          : "FOR EACH ROW UPDATE shelf_checks SET remark = 'new' WHERE shelf_number = NEW.number"
      await history.run(`CREATE TRIGGER greet AFTER UPDATE ON shelves ${body}`)
      await history.run('CREATE INDEX by_hand ON shelves (fee, number)')
      await history.run('CREATE VIEW remarks AS SELECT c.remark FROM shelf_checks c JOIN shelves s ON s.room = c.room')
      const wide = defineEntity({
        ...shelf,
        fields: { ...shelfFields, fee: money(12, 4), label: text(200), note: optional(text(10)) },
        children: { checks: { ...checks, fields: { ...checks.fields, remark: optional(text(60)) } } }
      })
      const kept = async (): Promise<unknown> =>
        kind === 'sqlite'
          ? await history.select("SELECT name FROM sqlite_master WHERE name IN ('greet', 'by_hand') ORDER BY name")
          : await history.select(
              `SELECT TRIGGER_NAME AS name FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()
              UNION ALL SELECT DISTINCT INDEX_NAME FROM information_schema.STATISTICS
              WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME = 'by_hand' ORDER BY name`
            )
      const before = await kept()
      expect(before).to.deep.equal([{ name: 'by_hand' }, { name: 'greet' }])
      // What others have made is in no migration, so it stands aside while the tables are compared.
      await history.run('DROP INDEX by_hand' + (kind === 'sqlite' ? '' : ' ON shelves'))
      await history.advance([placements, wide, badges, tickets, grades, holidays, countries])
      expect(await rows()).to.deep.equal(ROWS)
      expect(await history.select('SELECT fee FROM shelves WHERE number = 1')).to.deep.equal([
        { fee: kind === 'sqlite' ? 123_400 : '12.3400' }
      ])
      await history.run("UPDATE shelves SET label = 'L2' WHERE number = 2")
      expect((await rows()).checks).to.deep.equal([ROWS.checks[0], { shelf_number: 2, remark: 'new' }])
      expect(await history.select('SELECT DISTINCT remark FROM remarks')).to.have.length(2)
      await history.run('DROP TRIGGER greet')
      await history.run("UPDATE shelf_checks SET remark = 'R2' WHERE shelf_number = 2")
      await expectRules()
    })

    it('make columns of keys wider, with all that refers to them', async () => {
      await history.advance(ALL)
      await addRows()
      const room = [...ROOMS, 'west'] as const
      const wide = [
        defineEntity({
          ...common,
          name: 'countries',
          fields: { ...countryFields, id: onCreate(text(60)) },
          label: 'name'
        }),
        defineEntity({
          ...shelf,
          fields: {
            ...shelfFields,
            number: onCreate(int()),
            countryId: onCreate(text(60)),
            room: onCreate(oneOf(room))
          },
          children: {
            checks: {
              ...checks,
              fields: {
                ...checks.fields,
                room: readOnly(oneOf(room)),
                countryId: readOnly(text(60)),
                shelfNumber: readOnly(int())
              }
            }
          }
        }),
        defineEntity({
          ...placement,
          fields: {
            ...placementFields,
            shelfRoom: optional(oneOf(room)),
            shelfCountry: optional(text(60)),
            shelfNumber: optional(int())
          },
          references: toShelf
        }),
        badges,
        tickets,
        grades,
        holidays
      ]
      await history.advance(wide)
      expect(await rows()).to.deep.equal(ROWS)
      await expectRules()
      const narrow = await history.differenceOf(ALL)
      expect(narrow.problems.join('\n')).to.match(/shelves\.country_id is varchar\(60\).*values may not fit/)
    })

    it('refuse to change which columns a primary key has, in words that say what to do', async () => {
      await history.advance(ALL)
      const other = defineEntity({
        ...shelf,
        key: ['room', 'countryId', 'number'],
        fields: { ...shelfFields, openedOn: date() }
      })
      const { problems } = await history.differenceOf([countries, other])
      expect(problems).to.deep.equal([
        'shelves has the primary key (room, country_id, number, opened_on) in the migrations and (room, country_id, number) ' +
          'in its entity: no step changes that. Make a table with the other key, fill it in a step of sql(…), and drop the ' +
          'old one'
      ])
      const turned = defineEntity({ ...shelf, key: ['countryId', 'room', 'number', 'openedOn'], fields: shelfFields })
      expect((await history.differenceOf([countries, turned])).problems.join()).to.match(
        /in the migrations and \(country_id, room, number, opened_on\) in its entity/
      )
      const single = defineEntity({
        ...common,
        name: 'countries',
        fields: { id: onCreate(text(40)), name: text(60) },
        label: 'id'
      })
      expect((await history.differenceOf([single])).problems).to.deep.equal([])
    })

    it('rename columns of keys, tables and children, and keep the values', async () => {
      await history.advance(ALL)
      await addRows()
      const { number: _number, ...others } = shelfFields
      const renamed = defineEntity({
        ...shelf,
        table: 'racks',
        key: ['room', 'countryId', 'place', 'openedOn'],
        sortable: ['room', 'place', 'label'],
        fields: { ...others, place: onCreate(smallInt()) },
        children: { checks }
      })
      const renames = new Map([
        ['shelves', 'racks'],
        ['racks.number', 'place']
      ])
      await history.advance([placements, renamed, badges, tickets, grades, holidays, countries], { renames })
      expect(await history.select('SELECT place FROM racks ORDER BY place')).to.deep.equal([{ place: 1 }, { place: 2 }])
      const made = schemaAfter(await history.all())
      expect(made.get('placements')?.foreignKeys[0]).to.deep.include({
        to: 'racks',
        toColumns: ['room', 'country_id', 'place', 'opened_on']
      })
      expect(await rejected('DELETE FROM racks')).to.equal(true)
      // The old name is free for another table, which gets all of its indexes.
      const boards = { ...common, name: 'boards', table: 'shelves', label: 'name', sortable: ['id'] } as const
      const again = defineEntity({ ...boards, fields: countryFields })
      await history.advance([placements, renamed, badges, tickets, grades, holidays, countries, again])
    })

    it('drop a column that refers with others, and the table that it refers to', async () => {
      await history.advance(ALL)
      await addRows()
      const { copy, serial } = placementFields
      const alone = defineEntity({ ...placement, fields: { copy, serial } })
      await history.advance([alone, countries], { allowDrops: true })
      expect(await history.select('SELECT copy FROM placements')).to.have.length(2)
      expect([...schemaAfter(await history.all()).keys()].toSorted()).to.deep.equal(['countries', 'placements'])
    })

    it('give rows that are there a version where they had none', async () => {
      await history.advance([defineEntity({ ...shelf, rowVersion: 'none', fields: shelfFields }), countries])
      await history.run(`INSERT INTO countries (id, name, row_version) VALUES ('de', 'German', ${VERSION})`)
      await history.run(
        "INSERT INTO shelves (room, country_id, number, opened_on, label, fee) VALUES ('north', 'de', 1, '2024-02-29', 'x', 1)"
      )
      await history.advance([defineEntity({ ...shelf, fields: shelfFields }), countries])
      expect(await history.select('SELECT row_version FROM shelves')).to.deep.equal([{ row_version: Buffer.alloc(8) }])
    })
  })
})
