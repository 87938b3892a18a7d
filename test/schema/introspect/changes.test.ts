import { expect } from 'chai'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileWriter, Screen } from '../../../cli/introspected-files.js'
import { permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import {
  bool,
  column,
  hidden,
  int,
  optional,
  readOnly,
  text,
  tinyInt,
  writeOnly
} from '../../../data-service/entity/fields/words.js'
import { columnWord } from '../../../schema/model/column-types.js'
import { type Changes, compareTables, isPending } from '../../../schema/introspect/changes.js'
import type { EntityDraft, FieldDraft } from '../../../schema/introspect/entity-draft.js'
import { fieldText } from '../../../schema/introspect/entity-file.js'
import { withoutPrefix } from '../../../schema/introspect/names.js'
import {
  hiddenColumns,
  introspectedTable,
  type IntrospectedTable,
  recordOfFiles,
  rememberedReferences,
  renameMistake,
  withRenamed
} from '../../../schema/introspect/record.js'
import { recordedField } from '../../../schema/introspect/recorded-word.js'
import {
  likelyReferences,
  parseReference,
  referenceMistake,
  referenceText
} from '../../../schema/introspect/references.js'
import { newsLines, pendingLines } from '../../../schema/introspect/report.js'
import { servedTables } from '../../../schema/introspect/served-tables.js'

const word = columnWord
const idField: FieldDraft = { property: 'id', column: 'id', word: word('readOnly', word('int')) }
const nameField: FieldDraft = { property: 'name', column: 'name', word: word('text', 80, 0) }
const doneField: FieldDraft = { property: 'done', column: 'done', word: word('tinyInt') }

function drafted(table: string, fields: readonly FieldDraft[], more: Partial<EntityDraft> = {}): EntityDraft {
  return {
    table,
    kind: 'table',
    resource: table,
    constant: table,
    comment: '',
    fields,
    live: fields.map((one) => one.column),
    key: ['id'],
    references: [],
    filterable: [],
    sortable: [],
    fullText: [],
    label: undefined,
    writes: [],
    versionColumn: undefined,
    withoutTransactions: undefined,
    candidates: [],
    notes: [],
    cascades: [],
    ...more
  }
}

const entity = (fields: object, more: object = {}): Entity =>
  defineEntity({
    name: 'things',
    description: 'Things.',
    filterable: [],
    sortable: [],
    ...('writes' in more ? {} : { rowVersion: 'none' }),
    fields: { id: readOnly(int()), ...fields },
    access: { read: permission('things:read') },
    ...more
  } as never)

interface World {
  readonly now: readonly EntityDraft[]
  readonly files: readonly Entity[]
  readonly record?: Readonly<Record<string, IntrospectedTable>>
  readonly except?: readonly string[]
}

const compared = ({ now, files, record, except = [] }: World): Changes =>
  compareTables({
    drafts: { entities: now, leftOut: [] },
    served: servedTables(files),
    files: new Set(files.map(({ name }) => name)),
    record: record && { tables: record, leftOut: {} },
    except: new Set(except),
    apart: new Set()
  })

const things = (...fields: FieldDraft[]): EntityDraft => drafted('things', [idField, ...fields])
const recordOf = (draft: EntityDraft): Readonly<Record<string, IntrospectedTable>> => ({
  [draft.table]: introspectedTable(draft)
})

describe('what an introspection compares', () => {
  const before = things(nameField, doneField)
  const wider: FieldDraft = { ...nameField, word: word('text', 255, 0) }
  const added: FieldDraft = { property: 'effort', column: 'effort', word: word('optional', word('smallInt')) }

  it('tells a change of the database until a file follows it', () => {
    const now = [things(wider, doneField, added)]
    const old = entity({ name: text(80), done: tinyInt() })
    const first = compared({ now, files: [old], record: recordOf(before) })
    expect(first.changed).to.deep.equal([
      {
        table: 'things',
        resource: 'things',
        isLost: false,
        lines: ['~ name: text(255, 0) (was name: text(80, 0))', '+ effort: optional(smallInt())']
      }
    ])
    const second = compared({ now, files: [old], record: first.tables })
    expect(second.changed).to.deep.equal(first.changed)
    const made = compared({
      now,
      files: [entity({ name: text(255, 1), done: tinyInt(), effort: optional(int()) })],
      record: second.tables
    })
    expect([made.changed, made.tables]).to.deep.equal([[], recordOf(things(wider, doneField, added))])
  })

  it('leaves what a person chose: another type, a column that was taken out, and what --except names', () => {
    const files = [entity({ done: bool() })]
    const now = [things({ ...nameField, word: word('text', 9, 0) }, { ...doneField, word: word('smallInt') }, added)]
    const found = compared({ now, files, record: recordOf(before), except: ['things.effort'] })
    expect(found.changed).to.deep.equal([])
    const nullable = [things(nameField, { ...doneField, word: word('optional', word('tinyInt')) })]
    const lines = (one: Entity): readonly string[] | undefined =>
      compared({ now: nullable, files: [one], record: recordOf(before) }).changed[0]?.lines
    expect(lines(entity({ done: bool() }))).to.deep.equal(['~ done: optional(tinyInt()) (was done: tinyInt())'])
    expect(lines(entity({ done: optional(bool()) }))).to.equal(undefined)
  })

  it('tells columns first that the database has lost, whoever wrote them into the file', () => {
    const files = [
      entity({ name: text(80), more: column('by_hand', text(9)) }),
      entity({ name: text(80) }, { name: 'others', table: 'others' })
    ]
    const others = drafted('others', [idField, nameField])
    const { changed } = compared({
      now: [{ ...others, fields: [idField, wider] }, things()],
      files,
      record: { ...recordOf(others), ...recordOf(before) }
    })
    expect(changed.map(({ table, lines }) => [table, ...lines])).to.deep.equal([
      ['things', '- name: text(80, 0)', '- more'],
      ['others', '~ name: text(255, 0) (was name: text(80, 0))']
    ])
  })

  it('tells of a row version until the file has one, and of an engine with transactions once', () => {
    const myisam = drafted('things', [idField], { withoutTransactions: 'MyISAM' })
    const innodb = drafted('things', [idField], { versionColumn: 'row_version', live: ['id', 'row_version'] })
    const first = compared({ now: [innodb], files: [entity({})], record: recordOf(myisam) })
    expect(first.changed[0]?.lines[0]).to.equal("- rowVersion: 'none' (its rows have a version now)")
    expect(newsLines(first, 'report.md')[0]).to.include('things: a storage engine with transactions keeps it now')
    const second = compared({ now: [innodb], files: [entity({})], record: first.tables })
    expect([second.changed, second.transactional]).to.deep.equal([first.changed, []])
    const versioned = entity({}, { writes: ['update'], access: { read: permission('a:b'), write: permission('a:b') } })
    expect(isPending(compared({ now: [innodb], files: [versioned], record: second.tables }))).to.equal(false)
    const lost = compared({ now: [things()], files: [versioned], record: recordOf(innodb) }).changed[0]
    expect([lost?.isLost, lost?.lines[0]?.startsWith('~ its rows have no version any more')]).to.deep.equal([
      true,
      true
    ])
  })

  it('tells of a reference until the file has one over the same columns, whatever its name', () => {
    const parent: FieldDraft = { property: 'parentId', column: 'parent_id', word: word('int') }
    const now = [
      drafted('things', [idField, parent], { references: [{ name: 'parent', to: 'things', via: ['parentId'] }] })
    ]
    const record = recordOf(things(parent))
    const first = compared({ now, files: [entity({ parentId: int() })], record })
    expect(first.changed[0]?.lines).to.deep.equal(['+ the reference parent to things via parentId'])
    const file = entity({ parentId: int() }, { references: { above: { to: 'things', via: 'parentId' } } })
    expect(isPending(compared({ now, files: [file], record: first.tables }))).to.equal(false)
    expect(isPending(compared({ now, files: [entity({})], record: first.tables })), 'the column is taken out').to.equal(
      false
    )
  })

  it('takes a new table of the same columns for one that is gone, once a person says so', () => {
    const now = [drafted('stuff', [idField, nameField])]
    const files = [entity({ name: text(80) })]
    const record = recordOf(things(nameField))
    const first = compared({ now, files, record })
    expect([first.renamed, first.added, first.removed]).to.deep.equal([
      [{ table: 'things', resource: 'things', to: ['stuff'] }],
      [],
      []
    ])
    const { tables } = withRenamed({ tables: record, keys: {} }, new Map([['things', 'stuff']]))
    const renamed = [drafted('stuff', [idField, nameField], { resource: 'things' })]
    const told = compared({ now: renamed, files, record: tables })
    expect(pendingLines(told)).to.deep.equal([
      'things, of the table stuff, has to be changed by hand:',
      "  ~ table: 'stuff' (was 'things')"
    ])
    expect(pendingLines(compared({ now: renamed, files, record: told.tables }))).to.deep.equal(pendingLines(told))
    const made = compared({
      now: renamed,
      files: [entity({ name: text(80) }, { table: 'stuff' })],
      record: told.tables
    })
    expect([isPending(made), Object.keys(made.tables), made.tables['stuff']?.renamedFrom]).to.deep.equal([
      false,
      ['stuff'],
      undefined
    ])
  })

  it('says of a table that is back what its file says, and no table has the name of one that has a file', () => {
    const files = [entity({ name: text(80) })]
    const { tables } = withRenamed({ tables: recordOf(things(nameField)), keys: {} }, new Map([['things', 'stuff']]))
    const back = compared({ now: [things(nameField)], files, record: tables })
    expect([isPending(back), back.tables]).to.deep.equal([false, recordOf(things(nameField))])
    const three = Object.assign({}, ...['a', 'b', 'c'].map((one) => recordOf(drafted(one, [idField])))) as object
    const mistake = (...renamed: [string, string][]): string | undefined =>
      renameMistake({ tables: three as NonNullable<World['record']> }, new Map(renamed))
    expect(mistake(['a', 'b'])).to.include('b has an entity file already')
    expect(mistake(['a', 'd'], ['b', 'd'])).to.equal('two tables cannot both be d now')
    expect(mistake(['d', 'e'])).to.equal('no entity file is known for the table d')
    expect(mistake(['a', 'b'], ['b', 'd'])).to.equal(undefined)
  })

  it('shows no column that a file hides, whoever hid it and with or without a record', () => {
    for (const hiding of [hidden(text(80)), writeOnly(text(80))]) {
      const files = [entity({ name: hiding })]
      const served = servedTables(files)
      const known = recordOf(things(nameField))
      for (const record of [known, recordOfFiles("import { things } from './things.js'", served)]) {
        expect([...(hiddenColumns({ tables: record }, served).get('things') ?? [])]).to.deep.equal(['name'])
      }
      const renamed = withRenamed({ tables: known, keys: {} }, new Map([['things', 'stuff']]))
      expect([...(hiddenColumns(renamed, served).get('stuff') ?? [])]).to.deep.equal(['name'])
      const first = compared({
        now: [things({ ...nameField, word: word('hidden', nameField.word) })],
        files,
        record: known
      })
      expect(isPending(first)).to.equal(false)
      const now = [things({ ...nameField, word: word('hidden', wider.word) })]
      expect(compared({ now, files, record: first.tables }).changed[0]?.lines[0]).to.match(
        /^~ name: hidden\(text\(255, 0\)\)/
      )
    }
    const both = servedTables([
      entity({ name: hidden(text(80)) }),
      entity({ name: text(80) }, { name: 'others', table: 'things' })
    ])
    expect(hiddenColumns({ tables: recordOf(before) }, both).get('things')?.size, 'another resource shows it').to.equal(
      0
    )
  })

  it('says what many tables have in common once', () => {
    const names = Array.from({ length: 146 }, (_, at) => `t${at}`)
    const note = 'It is only read: MyISAM has no transactions.'
    const now = names.map((name) => drafted(name, [idField], { notes: [note] }))
    expect(newsLines(compared({ now, files: [] }), 'report.md')).to.deep.equal([
      `t0, t1, t2, t3, t4 and 141 more: ${note}`
    ])
    const files = names.map((name) => entity({}, { name, table: name }))
    const record = Object.assign({}, ...names.map((name) => recordOf(drafted(name, [idField])))) as World['record']
    const grown = names.map((name) => drafted(name, [idField, added]))
    expect(pendingLines(compared({ now: grown, files, ...(record === undefined ? {} : { record }) }))).to.deep.equal([
      't0, t1, t2, t3, t4 and 141 more have to be changed by hand:',
      '  + effort: optional(smallInt())'
    ])
  })
})

describe('the files of an introspection', () => {
  it('are written anew after a run that found no record, or ended before it wrote one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'introspected-'))
    try {
      const said: string[] = []
      const stdout = { write: (text: string) => said.push(text) }
      const writer = (written: Readonly<Record<string, string>>): FileWriter =>
        new FileWriter({
          loaded: { folder } as never,
          screen: new Screen({ directory: folder, stdout } as never),
          isDry: false,
          written
        })
      const [list, record] = [join(folder, 'list.ts'), join(folder, 'record.json')]
      await writeFile(list, 'one')
      const first = writer({})
      await first.again(list, 'one')
      await first.state(record, {} as never)
      const { written } = JSON.parse(await readFile(record, 'utf8')) as { written: Record<string, string> }
      await writer(written).again(list, 'two')
      expect([await readFile(list, 'utf8'), said]).to.deep.equal(['two', ['Wrote list.ts\n']])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('are told of without what a terminal obeys', () => {
    let said = ''
    const stdout = { write: (text: string) => (said += text) }
    new Screen({ directory: '/', stdout } as never).print('a\u{1b}[2J\n  b')
    expect(said).to.equal('a\\u{1b}[2J\n  b\n')
  })
})

describe('references that no foreign key declares', () => {
  const keyed = (table: string, key: string, ...others: string[]): EntityDraft => {
    const field = (name: string, at: number): FieldDraft => ({
      property: at === 0 ? 'id' : name,
      column: name,
      word: word(name.endsWith('Id') ? 'long' : 'int')
    })
    return drafted(table, [key, ...others].map(field))
  }
  const likely = (...entities: EntityDraft[]): string[] =>
    likelyReferences({ entities, leftOut: [] }).map(referenceText)

  it('are likely where a column has the name of the key of one table, and its type', () => {
    const customer = keyed('oc_customer', 'customer_id')
    const affiliate = keyed('oc_customer_affiliate', 'customer_id')
    const order = keyed('oc_order', 'order_id', 'customer_id', 'payment_customer_id', 'parent_id', 'customerId')
    expect(likely(customer, affiliate, order)).to.deep.equal([
      'oc_order.customer_id=oc_customer.customer_id',
      'oc_order.payment_customer_id=oc_customer.customer_id'
    ])
    const [two, three] = [keyed('a', 'thing_id'), keyed('b', 'thing_id')]
    expect(likely(two, three, keyed('c', 'id', 'thing_id')), 'two are as likely').to.deep.equal([])
    expect(likely(keyed('customers', 'id'), keyed('orders', 'id', 'customer_id'))).to.deep.equal([
      'orders.customer_id=customers.id'
    ])
  })

  it('are remembered until a person takes them back, and proposed only where they can be said', () => {
    const named = [parseReference('c.d=e.f'), parseReference('a.b=e.f')].flatMap((one) => one ?? [])
    const remembered = ['a.b=e.f', 'x.y=e.f']
    expect(rememberedReferences(remembered, { named, except: ['x.y'] })).to.deep.equal(['a.b=e.f', 'c.d=e.f'])
    expect(likely(keyed('film', 'id'), keyed('cast', 'Cast.Id', 'film_id', 'Film.id'))).to.deep.equal([
      'cast.film_id=film.id'
    ])
  })

  it('name each column of the other key', () => {
    const entities = [drafted('y', [idField, nameField], { key: ['id', 'name'] }), drafted('x', [idField, nameField])]
    const mistake = (toColumns: string[]): string | undefined =>
      referenceMistake({ entities, leftOut: [] }, { table: 'x', columns: ['id', 'name'], to: 'y', toColumns })
    expect([mistake(['id', 'name']), mistake(['id', 'id'])]).to.deep.equal([undefined, 'the key of y is id, name'])
  })

  it('are read as they are written', () => {
    for (const text of ['order.customer_id=customer.id', 'a.b.c,d=e.f,g']) {
      const found = parseReference(text)
      expect(found && referenceText(found)).to.equal(text)
    }
    for (const text of ['', 'a.b', 'a.b=c', 'a.b=c.d=e.f', 'a.b,c=d.e', '.a=b.c', 'a.=b.c']) {
      expect(parseReference(text), text).to.equal(undefined)
    }
  })
})

describe('the words of a record', () => {
  it('are read back as they were written', () => {
    const words = [
      word('optional', word('unsigned', word('int'))),
      word('defaultTo', word('oneOf', ["it's", 'a "b"', 'c\\', '']), "it's"),
      word('defaultTo', word('text', 80, 0), 'none'),
      word('timestamp', { precision: 3 }),
      word('defaultTo', word('bool'), true)
    ]
    for (const one of words) {
      const field = { property: 'name', column: 'Name', word: one }
      expect(recordedField(fieldText(field))?.text, fieldText(field)).to.equal(
        recordedField(fieldText({ ...field, column: 'name' }))?.text
      )
      expect(fieldText({ ...field, column: 'name' })).to.equal(`name: ${recordedField(fieldText(field))?.text}`)
    }
    for (const broken of ['', 'a: ', 'a: nothing()', 'a: text(1', 'a: process.exit(1)']) {
      expect(recordedField(broken), broken).to.equal(undefined)
    }
  })
})

describe('a prefix of tables', () => {
  it('is left out of the names of resources, unless two would be the same', () => {
    const tables = ['oc_order', 'oc_orders', 'oc_user', 'oc_', 'zone', 'oc_zone', 'cart', 'oc_session']
    expect([...withoutPrefix(tables, 'oc_', new Set(['sessions']))]).to.deep.equal([['oc_user', 'user']])
  })
})
