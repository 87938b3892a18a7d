import { expect } from 'chai'
import { anyOf, everyone, ownRows, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import type { Entity } from '../../data-service/entity/entity.js'
import {
  binary,
  bits,
  bool,
  column,
  date,
  dateTime,
  defaultTo,
  double,
  float,
  guid,
  int,
  json,
  long,
  longText,
  mediumInt,
  money,
  oneOf,
  optional,
  readOnly,
  setOf,
  smallInt,
  text,
  time,
  tinyInt,
  unique,
  unsigned,
  year
} from '../../data-service/entity/fields/words.js'
import { sql } from '../../schema/migrations/builders.js'
import { type Difference, difference, type DifferenceOptions } from '../../schema/migrations/difference.js'
import { entityTables } from '../../schema/migrations/entity-tables.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { OWN } from '../harness/own-tables.js'
import { schemaAfter } from '../../schema/migrations/migration.js'
import { type Migrations } from '../../schema/migrations/migration-folder.js'
import clinic from '../../examples/clinic/uniform-rest.config.js'
import { secondMigrations } from '../../examples/store/schema/reviews.js'
import { createLogger } from '../../shared/logger.js'
import { eachDatabase } from '../stack/databases.js'
import { primaryMigrations } from '../harness/primary-migrations.js'
import { type FreshStores, freshStores } from './fresh-stores.js'
import { type GeneratedHistory, generatedHistory } from './generated-history.js'
import { modelTexts, realTexts } from './real-tables.js'

const VERSION = "X'0102030405060708'"
const log = createLogger({ name: 'test', level: 'silent' })
const common = { description: 'Of a test.', filterable: [], access: { read: everyone } } as const

const club = { name: 'clubs', ...common, label: 'id', sortable: [] } as const
const member = { name: 'members', ...common, label: 'id' } as const

const clubFields = { id: readOnly(int()), title: unique(text(40)), fee: money(10, 2), note: optional(text(20)) }
const memberFields = { id: readOnly(int()), clubId: int(), nick: text(30), points: int(), joinedAt: dateTime() }
const children = {
  visits: {
    table: 'member_visits',
    foreignKey: 'memberId',
    fields: { id: readOnly(int()), place: text(20) }
  }
}
const toClub = { club: { to: 'clubs', via: 'clubId' } } as const

const clubs = defineEntity({ ...club, fields: clubFields })
const members = defineEntity({ ...member, fields: memberFields, sortable: ['nick'], references: toClub, children })

eachDatabase((kind) => {
  describe(`generated migrations on ${kind}`, () => {
    let history: GeneratedHistory
    let stores: FreshStores

    beforeEach(async () => {
      history = await generatedHistory(kind)
      ;({ stores } = history)
    })
    afterEach(() => history.dispose())

    const all = (): Promise<Migrations> => history.all()
    const run = (statement: string): Promise<unknown> => history.run(statement)
    const select = (statement: string): Promise<Record<string, unknown>[]> => history.select(statement)
    const differenceOf = (entities: readonly Entity[], options?: Partial<DifferenceOptions>): Promise<Difference> =>
      history.differenceOf(entities, options)
    const advance = (entities: readonly Entity[], options?: Partial<DifferenceOptions>): Promise<Difference> =>
      history.advance(entities, options)

    /** A club with two members, of which one has a visit; the money as each kind of database stores it. */
    async function addRows(): Promise<void> {
      const fee = kind === 'sqlite' ? '1234' : '12.34'
      await run(`INSERT INTO clubs (title, fee, row_version) VALUES ('Rowing', ${fee}, ${VERSION})`)
      for (const nick of ['Ada', 'Bob']) {
        await run(
          `INSERT INTO members (club_id, nick, points, joined_at, row_version)
          SELECT id, '${nick}', 7, '2026-01-31 08:00:00.000', ${VERSION} FROM clubs`
        )
      }
      await run(
        `INSERT INTO member_visits (member_id, place, row_version)
        SELECT id, 'Pier', ${VERSION} FROM members WHERE nick = 'Ada'`
      )
    }

    const rows = async () => ({
      clubs: await select('SELECT title FROM clubs'),
      members: await select('SELECT nick, points FROM members ORDER BY nick'),
      visits: await select('SELECT place FROM member_visits')
    })
    const ROWS = {
      clubs: [{ title: 'Rowing' }],
      members: [
        { nick: 'Ada', points: 7 },
        { nick: 'Bob', points: 7 }
      ],
      visits: [{ place: 'Pier' }]
    }

    it('make the tables of new entities, in the order of their references, and nothing the next time', async () => {
      const { steps } = await advance([members, clubs])
      expect(steps.map(({ table }) => table)).to.deep.equal(['clubs', 'members', 'member_visits'])
      await addRows()
      expect(await rows()).to.deep.equal(ROWS)
    })

    it('make tables that refer to each other, and the last foreign key afterwards', async () => {
      const captains = defineEntity({
        ...club,
        fields: { ...clubFields, captainId: optional(int()) },
        references: { captain: { to: 'members', via: 'captainId' } }
      })
      const { steps } = await advance([captains, members])
      expect(steps.map(({ kind: step, table }) => `${step} ${table}`)).to.deep.equal([
        'createTable members',
        'createTable clubs',
        'createTable member_visits',
        'addForeignKeys members'
      ])
      await addRows()
      expect(await run('DELETE FROM clubs').catch(() => 'rejected')).to.equal('rejected')
    })

    it('add columns with their indexes, and give rows that are there the default', async () => {
      await advance([clubs, members])
      await addRows()
      const grown = defineEntity({
        ...member,
        fields: {
          ...memberFields,
          email: optional(unique(text(60))),
          isActive: defaultTo(bool(), true),
          rank: defaultTo(text(20), "it's \\ new"),
          debt: defaultTo(money(10, 2), '1.50'),
          badge: optional(guid()),
          coachId: optional(int())
        },
        sortable: ['nick', 'rank', 'badge'],
        references: { ...toClub, coach: { to: 'members', via: 'coachId' } },
        children
      })
      const { steps } = await advance([clubs, grown])
      expect(steps.map((step) => step.kind)).to.deep.equal(['addColumns'])
      expect(await rows()).to.deep.equal(ROWS)
      const [row] = await select('SELECT email, is_active, rank, debt, badge FROM members')
      const debt = kind === 'sqlite' ? 150 : '1.50'
      expect(row).to.deep.equal({ email: null, is_active: 1, rank: "it's \\ new", debt, badge: null })
    })

    it('make, add and widen columns of every type, and keep what they hold', async () => {
      const made = {
        day: date(),
        at: time(),
        fine: time({ precision: 2 }),
        born: year(),
        weight: double(),
        share: float(),
        kind: oneOf(['a', "b's", 'c\\']),
        tags: setOf(['x', "y's"]),
        details: json(),
        proof: binary(20),
        digest: binary(8, 8),
        photo: optional(binary(70_000)),
        story: longText(300),
        essay: optional(text(20_000)),
        tiny: tinyInt(),
        small: smallInt(),
        medium: unsigned(mediumInt()),
        count: unsigned(int()),
        serial: unique(unsigned(long())),
        flag: bits(1),
        flags: bits(7),
        wide: bits(50),
        second: dateTime({ precision: 0 }),
        micro: dateTime({ precision: 6 })
      }
      const of = (fields: object) =>
        defineEntity({
          ...club,
          fields: { ...clubFields, ...(fields as typeof made) },
          sortable: ['day', 'at', 'born', 'weight', 'share', 'kind', 'serial', 'flag', 'wide', 'micro', 'story']
        })
      await advance([of(made)])
      const [serial, flag, flags, wide] =
        kind === 'sqlite'
          ? ["'18446744073709551615'", 1, 5, `'${'7'.padStart(20, '0')}'`]
          : ['18446744073709551615', "b'1'", "b'101'", "b'111'"]
      const values = [
        `'T', 1, NULL, '2024-02-29', '23:59:59', '01:02:03.25', 1901, 1.5, 0.5, 'b''s', 'x,y''s', '{"a": 1.0}', X'00FF'`,
        `X'0001020304050607', NULL, 'story', NULL, -128, -5, 16777215, 4294967295, ${serial}, ${flag}, ${flags}, ${wide}`,
        `'2024-02-29 01:02:03', '2024-02-29 01:02:03.123456', ${VERSION}`
      ]
      const columns =
        schemaAfter(await all())
          .get('clubs')
          ?.columns.slice(1) ?? []
      const names = columns.map(({ name }) => `\`${name}\``).join()
      await run(`INSERT INTO clubs (${names}) VALUES (${values.join()})`)
      const [before] = await select('SELECT * FROM clubs')
      const grown = of({
        ...made,
        fine: time({ precision: 6 }),
        kind: oneOf(['a', "b's", 'c\\', 'd']),
        tags: setOf(['x', "y's", 'z']),
        proof: binary(40),
        story: longText(70_000),
        tiny: int(),
        small: mediumInt(),
        second: dateTime({ precision: 3 }),
        added: defaultTo(oneOf(['new', "it's \\"]), "it's \\"),
        addedDay: defaultTo(date(), '2024-02-29'),
        addedTime: defaultTo(time({ precision: 3 }), '08:00:00.250'),
        addedDouble: defaultTo(double(), -1e-20),
        addedSerial: defaultTo(unsigned(long()), '18446744073709551615'),
        addedFlag: defaultTo(bits(1), true),
        addedFlags: defaultTo(bits(7), 5),
        addedYear: defaultTo(year(), 2155),
        addedTags: optional(setOf(['p'])),
        addedJson: optional(json())
      })
      await advance([grown])
      const [after] = await select('SELECT * FROM clubs')
      const same = ({ fine: _fine, second: _second, ...others }: Record<string, unknown>) => others
      expect(after).to.deep.include(same(before ?? {}))
      expect(after).to.deep.include({
        added: "it's \\",
        added_day: '2024-02-29',
        added_time: '08:00:00.250',
        added_double: -1e-20,
        added_serial: '18446744073709551615',
        added_year: 2155,
        added_tags: null,
        added_json: null
      })
      const narrow = of({
        ...made,
        kind: oneOf(['a']),
        small: unsigned(mediumInt()),
        count: int(),
        serial: unique(long()),
        weight: float()
      })
      const { problems } = await differenceOf([narrow])
      expect(problems.join()).to.match(
        /clubs\.small is mediumint in the migrations and unsigned mediumint in its entity: values may not fit any more/
      )
      expect(problems.join()).to.match(
        /clubs\.kind is enum\(a, b's, c\\, d\) in the migrations and enum\(a\) in its entity/
      )
      expect(problems.join()).to.match(/clubs\.serial is unsigned bigint in the migrations and bigint in its entity/)
      expect(problems.join()).to.match(/clubs\.weight is double in the migrations and float in its entity: no step/)
    })

    it('keep the default of a column that becomes wider', async () => {
      const of = (rank: Parameters<typeof defaultTo>[0]) => defineEntity({ ...club, fields: { ...clubFields, rank } })
      await advance([clubs, members])
      await advance([of(defaultTo(text(20), 'none')), members])
      const { steps } = await advance([of(text(40)), members])
      expect(steps.map((step) => 'column' in step && typeof step.column === 'object' && step.column)).to.deep.equal([
        { name: 'rank', type: { kind: 'varchar', length: 40 }, nullable: false, key: 'none', defaultTo: 'none' }
      ])
      await addRows()
      expect(await select('SELECT rank FROM clubs')).to.deep.equal([{ rank: 'none' }])
    })

    it('refuse a new column that rows have no value for, and take one that is given', async () => {
      await advance([clubs, members])
      await addRows()
      const ranked = defineEntity({ ...club, fields: { ...clubFields, rank: int() } })
      const { problems } = await differenceOf([ranked, members])
      expect(problems).to.deep.equal([
        'clubs.rank is new and never null: rows that are there have no value. Make it optional(…), or give them one by ' +
          'defaultTo(…) in the entity file or by --default clubs.rank=value'
      ])
      await advance([ranked, members], { defaults: new Map([['clubs.rank', '3']]) })
      expect(await select('SELECT title, rank FROM clubs')).to.deep.equal([{ title: 'Rowing', rank: 3 }])
      const coded = defineEntity({ ...club, fields: { ...clubFields, rank: int(), code: unique(int()) } })
      for (const defaults of [new Map<string, string>(), new Map([['clubs.code', '7']])])
        expect((await differenceOf([coded, members], { defaults })).problems.join()).to.match(
          /clubs\.code is new, unique and never null/
        )
    })

    it('make types wider and keep the rows, also of a key with all that refers to it', async () => {
      await advance([clubs, members])
      await addRows()
      await run(`INSERT INTO clubs (title, fee, row_version) VALUES ('Gone', 1, ${VERSION})`)
      await run("DELETE FROM clubs WHERE title = 'Gone'")
      const wide = [
        defineEntity({
          ...club,
          fields: { id: readOnly(long()), title: unique(text(90)), fee: money(14, 4), note: optional(text(200)) }
        }),
        defineEntity({
          ...member,
          fields: { ...memberFields, clubId: long(), points: long() },
          sortable: ['nick'],
          references: toClub,
          children
        })
      ]
      await advance(wide)
      expect(await rows()).to.deep.equal({
        ...ROWS,
        members: ROWS.members.map((row) => ({ ...row, points: kind === 'sqlite' ? 7 : '7' }))
      })
      const [{ fee } = {}] = await select('SELECT fee FROM clubs')
      expect(fee).to.equal(kind === 'sqlite' ? 123_400 : '12.3400')
      // The numbers go on behind those that were given.
      await run('DELETE FROM members')
      await run('DELETE FROM clubs')
      await run(`INSERT INTO clubs (title, fee, row_version) VALUES ('Second', 1, ${VERSION})`)
      expect(Number((await select('SELECT id FROM clubs'))[0]?.['id'])).to.equal(3)
    })

    it('refuse a key that is wider than what refers to it', async () => {
      await advance([clubs, members])
      const wide = defineEntity({ ...club, fields: { ...clubFields, id: readOnly(long()) } })
      expect((await differenceOf([wide, members])).problems).to.deep.equal([
        'members.club_id refers to clubs.id and must have its type: they are int and bigint'
      ])
    })

    it('make types narrower only if data may be lost, and convert nothing else', async () => {
      await advance([clubs, members])
      await addRows()
      const narrow = defineEntity({ ...club, fields: { ...clubFields, title: unique(text(20)), fee: money(10, 1) } })
      expect((await differenceOf([narrow, members])).problems).to.deep.equal([
        'clubs.title is varchar(40) in the migrations and varchar(20) in its entity: values may not fit any more. ' +
          '--allow-data-loss writes it all the same',
        'clubs.fee is decimal(10, 2) in the migrations and decimal(10, 1) in its entity: values may not fit any more. ' +
          '--allow-data-loss writes it all the same'
      ])
      await advance([narrow, members], { allowDataLoss: true })
      expect(await rows()).to.deep.equal(ROWS)
      expect((await select('SELECT fee FROM clubs'))[0]?.['fee']).to.equal(kind === 'sqlite' ? 123 : '12.3')
      const worded = (...words: string[]): Entity =>
        defineEntity({ ...club, fields: { ...clubFields, title: unique(text(20)), note: optional(oneOf(words)) } })
      const { steps } = await advance([worded('old', 'new'), members], { allowDataLoss: true })
      const typed = { kind: 'enum', words: ['old', 'new'], length: 20 }
      expect(steps.flatMap((one) => (one.kind === 'alterColumn' ? [one.column.type] : []))).to.deep.include(typed)
      await advance([worded('old', 'new', 'of more than 20 characters'), members])
      if (kind === 'mysql') await stores.primary.query("UPDATE clubs SET note = 'of more than 20 characters'")
      const other = defineEntity({ ...club, fields: { ...clubFields, fee: dateTime() } })
      expect((await differenceOf([other, members], { allowDataLoss: true })).problems.join()).to.match(
        /no step converts that/
      )
    })

    it('let a column be null, and fill the rows where it may not be any more', async () => {
      await advance([clubs, members])
      await addRows()
      const loose = defineEntity({ ...club, fields: { ...clubFields, fee: optional(money(10, 2)) } })
      await advance([loose, members])
      await run(`INSERT INTO clubs (title, row_version) VALUES ('Free', ${VERSION})`)
      expect((await differenceOf([clubs, members])).problems.join()).to.match(/--default clubs\.fee=value/)
      await advance([clubs, members], { defaults: new Map([['clubs.fee', '0.50']]) })
      expect(await select('SELECT title, fee FROM clubs ORDER BY title')).to.deep.equal([
        { title: 'Free', fee: kind === 'sqlite' ? 50 : '0.50' },
        { title: 'Rowing', fee: kind === 'sqlite' ? 1234 : '12.34' }
      ])
      expect(await rows()).to.deep.include({ members: ROWS.members, visits: ROWS.visits })
    })

    it('add an index for each owner, unless one begins with the column', async () => {
      const loose = defineEntity({ ...member, fields: memberFields, sortable: [] })
      await advance([loose])
      const read = anyOf(permission('clubs:read'), ownRows('clubId'), ownRows('points', { owner: 'player' }))
      const owned = defineEntity({ ...member, fields: memberFields, sortable: [], access: { read } })
      const { steps, kept } = await differenceOf([owned])
      expect(steps).to.deep.equal([
        {
          kind: 'addIndexes',
          table: 'members',
          indexes: ['club_id', 'points'].map((column) => ({
            name: `members_${column}`,
            unique: false,
            keys: [{ column, descending: false }]
          }))
        }
      ])
      expect(kept).to.deep.equal([])
      await advance([owned])
      expect((await differenceOf([owned])).steps).to.deep.equal([])
      const byPoints = { ...member, fields: memberFields, access: { read: ownRows('points') } } as const
      for (const sortable of [['points'], []] as const)
        expect((await differenceOf([defineEntity({ ...byPoints, sortable })])).steps).to.deep.equal([])
      // A unique index of the clinic begins with the practitioner.
      const { entities, migrations } = clinic
      const found = difference(schemaAfter(migrations), entityTables(entities, 'primary'), { engineTables: new Set() })
      expect(found.steps).to.deep.equal([])
    })

    it('add indexes for what is sortable and unique, and foreign keys of columns that are there', async () => {
      const loose = defineEntity({ ...member, fields: memberFields, sortable: [], children })
      await advance([clubs, loose])
      await addRows()
      const strict = defineEntity({
        ...member,
        fields: { ...memberFields, nick: unique(text(30)) },
        sortable: ['nick', 'points'],
        references: toClub,
        children
      })
      await advance([clubs, strict])
      expect(await rows()).to.deep.equal(ROWS)
      expect(await run('DELETE FROM clubs').catch(() => 'rejected')).to.equal('rejected')
      // What no entity needs any more stays, and goes with --allow-drops: but no foreign key.
      const { steps, kept } = await differenceOf([clubs, loose])
      expect(steps).to.deep.equal([])
      expect(kept).to.deep.equal([
        'the unique index members_nick_unique of members',
        'the index members_nick of members',
        'the index members_points of members'
      ])
      await advance([clubs, loose], { allowDrops: true })
      expect(schemaAfter(await all()).get('members')?.foreignKeys).to.have.length(1)
    })

    it('rename columns and tables, and keep the values', async () => {
      await advance([clubs, members])
      await addRows()
      const renamed = [
        defineEntity({
          ...club,
          table: 'societies',
          fields: { ...clubFields, title: column('full_title', clubFields.title) }
        }),
        defineEntity({
          ...member,
          fields: { ...memberFields, nick: column('nick_name', memberFields.nick) },
          sortable: ['nick'],
          references: toClub,
          children
        })
      ]
      const renames = new Map([
        ['clubs', 'societies'],
        ['societies.title', 'full_title'],
        ['members.nick', 'nick_name']
      ])
      const { steps } = await advance(renamed, { renames })
      expect(steps.map((step) => step.kind)).to.deep.equal(['renameTable', 'renameColumn', 'renameColumn'])
      expect(await select('SELECT full_title FROM societies')).to.deep.equal([{ full_title: 'Rowing' }])
      expect(await select('SELECT nick_name FROM members ORDER BY 1')).to.deep.equal([
        { nick_name: 'Ada' },
        { nick_name: 'Bob' }
      ])
      // The old name is free for a new column, whose indexes get names of their own.
      const again = defineEntity({
        ...member,
        fields: { ...memberFields, nick: optional(text(10)), alias: column('nick_name', text(30)) },
        sortable: ['nick', 'alias'],
        references: toClub,
        children
      })
      const [first] = renamed
      await advance(first === undefined ? [] : [first, again])
    })

    it('drop nothing by themselves, and with --allow-drops what no entity names', async () => {
      await advance([clubs, members])
      await addRows()
      const { fee: _fee, ...bare } = clubFields
      const left = [defineEntity({ ...club, fields: bare })]
      const { steps, kept } = await differenceOf(left)
      expect(steps).to.deep.equal([])
      expect(kept).to.deep.equal([
        'the column clubs.fee, which is never null, so that no row can be created',
        'the table members',
        'the table member_visits'
      ])
      await advance(left, { allowDrops: true })
      expect([...schemaAfter(await all()).keys()]).to.deep.equal(['clubs'])
      expect(await select('SELECT title FROM clubs')).to.deep.equal(ROWS.clubs)
    })

    it('drop a column that refers to another table, and keep the rows that refer to its own', async () => {
      await advance([clubs, members])
      await addRows()
      const { clubId: _clubId, ...alone } = memberFields
      await advance([clubs, defineEntity({ ...member, fields: alone, sortable: ['nick'], children })], {
        allowDrops: true
      })
      expect(await rows()).to.deep.equal(ROWS)
      await run('DELETE FROM members')
      expect(await select('SELECT place FROM member_visits')).to.deep.equal([])
    })

    if (kind === 'sqlite') {
      it('keep triggers and indexes of others where a table is made anew, and undo what would break references', async () => {
        await advance([clubs, members])
        await addRows()
        await run('CREATE TRIGGER greet AFTER INSERT ON clubs BEGIN UPDATE clubs SET note = 5 WHERE id = NEW.id; END')
        await run('CREATE INDEX by_hand ON clubs (note)')
        const made = "SELECT name FROM sqlite_master WHERE name IN ('greet', 'by_hand') ORDER BY name"
        const wide = defineEntity({ ...club, fields: { ...clubFields, fee: money(12, 3) } })
        const { steps } = await differenceOf([wide, members])
        const broken = { name: '999-broken', steps: [...steps, sql({ sqlite: 'DELETE FROM clubs', mysql: [] })] }
        const error = await migrateDatabase(stores.databases.primary, [...(await all()), broken], {
          own: OWN,
          log
        }).catch(String)
        expect(error).to.match(/rows of members that refer to no row of clubs; nothing was changed/)
        expect(await select('SELECT fee FROM clubs')).to.deep.equal([{ fee: 1234 }])
        const migrations = [...(await all()), { name: '999-wide', steps }]
        await migrateDatabase(stores.databases.primary, migrations, { own: OWN, log })
        expect(await select(made)).to.deep.equal([{ name: 'by_hand' }, { name: 'greet' }])
        expect(await select('SELECT fee FROM clubs')).to.deep.equal([{ fee: 12_340 }])
        expect(await rows()).to.deep.equal(ROWS)
        expect(await run('DELETE FROM clubs').catch(() => 'rejected'), 'foreign keys are on again').to.equal('rejected')
      })
    }

    it('go on where they were interrupted', async () => {
      await advance([clubs, members])
      await addRows()
      const { steps } = await differenceOf(
        [
          defineEntity({ ...club, fields: { ...clubFields, fee: money(12, 4), rank: defaultTo(int(), 3) } }),
          defineEntity({ ...member, fields: memberFields, sortable: ['nick', 'points'], references: toClub, children }),
          defineEntity({ name: 'prizes', ...common, fields: { id: readOnly(int()) }, label: 'id', sortable: [] })
        ],
        { allowDrops: true }
      )
      expect(steps).to.have.length(4)
      for (let done = 0; done <= steps.length; done++) {
        const failing = sql({ sqlite: 'SELECT * FROM nowhere', mysql: 'SELECT * FROM nowhere' })
        const cut = { name: '002-cut', steps: [...steps.slice(0, done), failing, ...steps.slice(done)] }
        expect(
          await migrateDatabase(stores.databases.primary, [...(await all()), cut], { own: OWN, log }).catch(() => 'cut')
        ).to.equal('cut')
      }
      const migrations = [...(await all()), { name: '002-cut', steps }]
      expect(await migrateDatabase(stores.databases.primary, migrations, { own: OWN, log })).to.deep.equal(['002-cut'])
      const schema = schemaAfter(migrations)
      expect(await realTexts(stores.primary, { kind, tables: schema.keys() })).to.deep.equal(modelTexts(schema, kind))
      expect(await rows()).to.deep.equal(ROWS)
      const fee = kind === 'sqlite' ? 123_400 : '12.3400'
      expect(await select('SELECT fee, rank FROM clubs')).to.deep.equal([{ fee, rank: 3 }])
    })

    it('give rows that are there a version where they had none', async () => {
      const plain = defineEntity({ ...club, rowVersion: 'none', fields: clubFields })
      await advance([plain])
      await run(`INSERT INTO clubs (title, fee) VALUES ('Old', 1)`)
      await advance([clubs])
      const [row] = await select('SELECT row_version FROM clubs')
      expect(row?.['row_version']).to.deep.equal(Buffer.alloc(8))
    })
  })

  describe(`the tables that migrations say on ${kind}`, () => {
    it('are those that the whole history of the store makes', async () => {
      const stores = await freshStores(kind)
      try {
        await stores.migrate()
        for (const [sequelize, migrations] of [
          [stores.primary, primaryMigrations],
          [stores.second, secondMigrations]
        ] as const) {
          const schema = schemaAfter(migrations)
          expect(await realTexts(sequelize, { kind, tables: schema.keys() })).to.deep.equal(modelTexts(schema, kind))
        }
      } finally {
        await stores.dispose()
      }
    })
  })
})
