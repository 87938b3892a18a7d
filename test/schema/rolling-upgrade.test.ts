import { expect } from 'chai'
import {
  addColumns,
  addForeignKeys,
  addIndexes,
  alterColumn,
  createTable,
  dropColumns,
  dropForeignKeys,
  dropIndexes,
  dropTable,
  renameColumn,
  renameTable,
  run,
  sql
} from '../../schema/migrations/builders.js'
import { plan, type Step } from '../../schema/migrations/migration.js'
import { rollingUpgrade } from '../../schema/migrations/rolling-upgrade.js'

/** The tables of the version before. */
const BEFORE: readonly Step[] = [
  createTable('decks', (t) => ({ columns: [t.int('id').autoIncrement()] })),
  createTable('cards', (t) => ({
    columns: [
      t.int('id').autoIncrement(),
      t.varchar('title', 40),
      t.varchar('note', 40).nullable(),
      t.int('deck_id'),
      t.int('points').default(0),
      t.enum('color', ['red', 'blue'])
    ],
    indexes: [t.index('deck_id'), t.index('title')],
    foreignKeys: [{ column: 'deck_id', references: 'decks.id', onDelete: 'restrict' }]
  }))
]

/** The judgement of one migration with these steps. */
function judged(...steps: readonly Step[]) {
  const { planned } = plan([
    { name: '001-before', steps: BEFORE },
    { name: '002-next', steps }
  ])
  return rollingUpgrade(planned.slice(1))
}

const statements = { sqlite: 'SELECT 1', mysql: 'SELECT 1' }
const newTable = createTable('boxes', (t) => ({ columns: [t.int('id').autoIncrement(), t.varchar('name', 9)] }))

const SAFE: Readonly<Record<string, readonly Step[]>> = {
  'no step': [],
  'a new table that refers to one of before': [
    createTable('marks', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('card_id'), t.rowVersion()],
      indexes: [t.unique('card_id')],
      foreignKeys: [{ column: 'card_id', references: 'cards.id', onDelete: 'cascade' }]
    }))
  ],
  'columns that are null or have a default': [
    addColumns('cards', (t) => ({
      columns: [t.varchar('hint', 9).nullable(), t.int('level').default(1)],
      indexes: [t.index('level'), t.unique('hint')]
    }))
  ],
  'a foreign key of a new column that may be null': [
    addColumns('cards', (t) => ({
      columns: [t.int('next_id').nullable()],
      indexes: [t.index('next_id')],
      foreignKeys: [{ column: 'next_id', references: 'cards.id', onDelete: 'restrict' }]
    }))
  ],
  'an index': [addIndexes('cards', (t) => [t.index('points')])],
  'a longer text': [
    alterColumn('cards', (t) => t.varchar('title', 80)),
    alterColumn('cards', (t) => t.text('note', 65_535).nullable())
  ],
  'another default': [alterColumn('cards', (t) => t.int('points').default(5))],
  'anything with a table that is as new': [
    newTable,
    addIndexes('boxes', (t) => [t.unique('name')]),
    renameTable('boxes', 'crates'),
    dropColumns('crates', 'name'),
    dropTable('crates')
  ],
  'statements that say that they only add': [
    sql(statements, [addColumns('cards', (t) => ({ columns: [t.int('rank').nullable()] }))])
  ]
}

const UNSAFE: Readonly<Record<string, readonly [steps: readonly Step[], said: readonly string[]]>> = {
  'a table that is dropped': [
    [dropForeignKeys('cards', 'cards_deck_id_fk'), dropTable('decks')],
    ['drops the foreign key cards_deck_id_fk of cards', 'drops the table decks']
  ],
  'other names': [
    [renameColumn('cards', 'note', 'remark'), renameTable('cards', 'sheets')],
    ['renames the column cards.note to remark', 'renames the table cards to sheets']
  ],
  'columns that are dropped': [
    [dropColumns('cards', 'note', 'points')],
    ['drops the column cards.note', 'drops the column cards.points']
  ],
  'an index that is dropped': [[dropIndexes('cards', 'cards_title')], ['drops the index cards_title of cards']],
  'a unique index of a column that is there': [
    [addIndexes('cards', (t) => [t.unique('title')])],
    ['adds the unique index cards_title_unique']
  ],
  'a unique index of a new column that has a default': [
    [addColumns('cards', (t) => ({ columns: [t.int('code').default(0)], indexes: [t.unique('code')] }))],
    ['adds the unique index cards_code_unique']
  ],
  'a foreign key of a column that is there': [
    [addForeignKeys('cards', { column: 'points', references: 'decks.id', onDelete: 'restrict', name: 'points_fk' })],
    ['adds the foreign key points_fk']
  ],
  'a foreign key of a new column that has a default': [
    [
      addColumns('cards', (t) => ({
        columns: [t.int('box').default(1)],
        foreignKeys: [{ column: 'box', references: 'decks.id', onDelete: 'restrict' }]
      }))
    ],
    ['adds the foreign key cards_box_fk']
  ],
  'types that a reader has no room for': [
    [
      alterColumn('cards', (t) => t.bigint('points').default(0)),
      alterColumn('cards', (t) => t.enum('color', ['red', 'blue', 'green'])),
      alterColumn('cards', (t) => t.varchar('title', 20)),
      alterColumn('cards', (t) => t.enum('note', ['torn']).nullable())
    ],
    [
      'changes the type of cards.points from int to bigint',
      'changes the type of cards.color from enum(red, blue) to enum(red, blue, green)',
      'changes the type of cards.title from varchar(40) to varchar(20)',
      'changes the type of cards.note from varchar(40) to enum(torn)'
    ]
  ],
  'null and no null': [
    [
      alterColumn('cards', (t) => t.varchar('title', 40).nullable()),
      alterColumn('cards', (t) => t.varchar('note', 40).default(''))
    ],
    ['allows null in cards.title', 'forbids null in cards.note']
  ],
  'a version of rows': [
    [addColumns('cards', (t) => ({ columns: [t.rowVersion()] }))],
    ['gives the rows of cards a version, which the version before does not change with them']
  ],
  'statements that say what they take': [[sql(statements, [dropTable('cards')])], ['drops the table cards']]
}

describe('a rolling upgrade', () => {
  for (const [title, steps] of Object.entries(SAFE)) {
    it(`is safe with ${title}`, () => {
      expect(judged(...steps)).to.deep.equal({ verdict: 'safe', unsafe: [], unknown: [] })
    })
  }

  for (const [title, [steps, said]] of Object.entries(UNSAFE)) {
    it(`is not safe with ${title}`, () => {
      const unsafe = said.map((text) => `002-next: ${text}`)
      expect(judged(...steps)).to.deep.equal({ verdict: 'unsafe', unsafe, unknown: [] })
    })
  }

  it('is for a reader to judge with statements and code of the application', () => {
    const steps = [
      newTable,
      sql(statements),
      run('fills the ranks', () => Promise.resolve()),
      alterColumn('cards', (t) => t.enum('title', ['king', 'queen'], 40))
    ]
    const unknown = [
      '002-next: statements that do not say what they leave',
      '002-next: fills the ranks',
      '002-next: cards.title takes nothing but king, queen: safe if the version before writes no others'
    ]
    expect(judged(...steps)).to.deep.equal({ verdict: 'unknown', unsafe: [], unknown })
    const unsafe = ['002-next: drops the column cards.note']
    expect(judged(...steps, dropColumns('cards', 'note'))).to.deep.equal({ verdict: 'unsafe', unsafe, unknown })
  })
})
