import {
  column,
  compositeId,
  createTable,
  date,
  defineEntity,
  everyone,
  guid,
  int,
  long,
  type Migration,
  onCreate,
  oneOf,
  optional,
  permission,
  readOnly,
  text,
  unsigned
} from 'uniform-rest'

// Every kind of key: texts and guids that requests name, unsigned integers of 64 bits, and keys of several columns, with
// references and children by each of them.

const ROOMS = ['north', 'South', 'west'] as const

export const createShelves: Migration = {
  name: '120-shelves',
  steps: [
    createTable('languages', (t) => ({
      columns: [t.varchar('code', 100).primaryKey(), t.varchar('name', 100), t.rowVersion()],
      indexes: [t.sorted('name')]
    })),
    createTable('language_words', (t) => ({
      columns: [t.guid('id').primaryKey(), t.varchar('language_code', 100), t.varchar('word', 60), t.rowVersion()],
      indexes: [t.index('language_code')],
      foreignKeys: [{ column: 'language_code', references: 'languages.code', onDelete: 'cascade' }]
    })),
    createTable('publications', (t) => ({
      columns: [
        t.guid('id').primaryKey(),
        t.varchar('title', 200),
        t.varchar('language_id', 40).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('title'), t.sorted('language_id')],
      foreignKeys: [{ column: 'language_id', references: 'languages.code', onDelete: 'restrict' }]
    })),
    createTable('barcodes', (t) => ({
      columns: [
        t.bigint('id').unsigned().primaryKey(),
        t.guid('publication_id'),
        t.varchar('note', 100),
        t.rowVersion()
      ],
      indexes: [t.index('publication_id'), t.sorted('note')],
      foreignKeys: [{ column: 'publication_id', references: 'publications.id', onDelete: 'restrict' }]
    })),
    createTable('shelves', (t) => ({
      columns: [
        t.int('number'),
        t.varchar('language_id', 40),
        t.enum('room', ROOMS),
        t.varchar('label', 60),
        t.rowVersion()
      ],
      primaryKey: ['language_id', 'room', 'number'],
      indexes: [t.sorted('number'), t.sorted('label'), t.index('language_id desc')],
      foreignKeys: [{ column: 'language_id', references: 'languages.code', onDelete: 'restrict' }]
    })),
    createTable('shelf_checks', (t) => ({
      columns: [
        t.varchar('language_id', 40),
        t.enum('room', ROOMS),
        t.int('shelf_number'),
        t.date('checked_on'),
        t.varchar('remark', 100),
        t.rowVersion()
      ],
      primaryKey: ['language_id', 'room', 'shelf_number', 'checked_on'],
      foreignKeys: [
        {
          columns: ['language_id', 'room', 'shelf_number'],
          references: ['shelves.language_id', 'shelves.room', 'shelves.number'],
          onDelete: 'cascade'
        }
      ]
    })),
    createTable('placements', (t) => ({
      columns: [
        t.guid('publication_id'),
        t.int('copy_number'),
        t.varchar('shelf_language', 40).nullable(),
        t.enum('shelf_room', ROOMS).nullable(),
        t.int('shelf_number').nullable(),
        t.varchar('remark', 100),
        t.rowVersion()
      ],
      primaryKey: ['publication_id', 'copy_number'],
      indexes: [
        t.sorted('copy_number'),
        t.index('publication_id desc'),
        t.sorted('remark'),
        t.index('shelf_language', 'shelf_room', 'shelf_number')
      ],
      foreignKeys: [
        { column: 'publication_id', references: 'publications.id', onDelete: 'cascade' },
        {
          columns: ['shelf_language', 'shelf_room', 'shelf_number'],
          references: ['shelves.language_id', 'shelves.room', 'shelves.number'],
          onDelete: 'restrict',
          name: 'placements_shelf_fk'
        }
      ]
    }))
  ]
}

const access = { read: everyone, write: permission('library:manage') } as const

export const languages = defineEntity({
  name: 'languages',
  description: 'What books are written in, by codes that people know.',
  // Audit entries cut ids of 64 characters and more.
  fields: { id: column('code', onCreate(text(100))), name: text(100) },
  history: true,
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  searchable: ['name'],
  children: {
    words: { table: 'language_words', foreignKey: 'languageCode', fields: { id: readOnly(guid()), word: text(60) } }
  },
  customReads: { codes: { description: 'The codes alone.', item: 'id', sort: ['id'] } },
  access,
  writes: ['create', 'update', 'delete'],
  creates: { children: { words: { min: 0 } } },
  actions: (action) => ({
    'add-word': action({
      description: 'Adds a word, and the name with it.',
      input: { word: text(60) },
      effect: ({ input }) => ({ set: { name: input.word }, children: { words: { insert: [{ word: input.word }] } } })
    })
  })
})

export const publications = defineEntity({
  name: 'publications',
  description: 'Books by guids that publishers give them.',
  fields: { id: onCreate(guid()), title: text(200), languageId: optional(text(40)) },
  label: 'title',
  filterable: ['id', 'title', 'languageId', 'languageName'],
  sortable: ['id', 'title', 'languageId', 'languageName'],
  references: { language: { to: 'languages', via: 'languageId' } },
  manyToMany: { shelves: { through: 'placements', from: 'publication', to: 'shelf' } },
  joined: { languageName: { through: 'language', property: 'name', field: optional(text(100)) } },
  access,
  writes: ['create', 'update', 'delete']
})

export const barcodes = defineEntity({
  name: 'barcodes',
  description: 'Numbers of up to 20 digits on the backs of books.',
  fields: { id: onCreate(unsigned(long())), publicationId: guid(), note: text(100) },
  label: 'note',
  filterable: ['id', 'publicationId', 'note'],
  sortable: ['id', 'note'],
  references: { publication: { to: 'publications', via: 'publicationId' } },
  access,
  writes: ['create', 'update', 'delete']
})

export const shelves = defineEntity({
  name: 'shelves',
  description: 'Shelves of a language and a room, numbered in each.',
  key: ['languageId', 'room', 'number'],
  fields: { number: onCreate(int()), languageId: onCreate(text(40)), room: onCreate(oneOf(ROOMS)), label: text(60) },
  label: 'label',
  filterable: ['number', 'languageId', 'room', 'label', 'languageName'],
  sortable: ['number', 'languageId', 'label'],
  searchable: ['label'],
  references: { language: { to: 'languages', via: 'languageId' } },
  manyToMany: { publications: { through: 'placements', from: 'shelf', to: 'publication', sort: ['title'] } },
  joined: { languageName: { through: 'language', property: 'name', field: text(100) } },
  children: {
    checks: {
      table: 'shelf_checks',
      foreignKey: ['languageId', 'room', 'shelfNumber'],
      key: ['languageId', 'room', 'shelfNumber', 'checkedOn'],
      fields: {
        languageId: readOnly(text(40)),
        room: readOnly(oneOf(ROOMS)),
        shelfNumber: readOnly(int()),
        checkedOn: onCreate(date()),
        remark: text(100)
      }
    }
  },
  access,
  writes: ['create', 'update', 'delete'],
  creates: { children: { checks: { min: 0 } } },
  actions: (action) => ({
    relabel: action({
      description: 'Gives the shelf another label.',
      input: { label: text(60) },
      effect: ({ input }) => ({ set: { label: input.label } })
    }),
    recheck: action({
      description: 'Changes the remark of all checks of the shelf, and says in its label how many it has.',
      input: { remark: text(100) },
      loads: ['checks'],
      change: ({ children: { checks }, input }) => ({
        set: { label: `checked ${checks.length}` },
        children: {
          checks: {
            update: checks.map(({ languageId, room, shelfNumber, checkedOn }) => ({
              id: compositeId(languageId, room, shelfNumber, checkedOn),
              set: { remark: input.remark }
            }))
          }
        }
      })
    })
  })
})

export const placements = defineEntity({
  name: 'placements',
  description: 'Which copy of a publication stands on which shelf.',
  key: ['publicationId', 'copyNumber'],
  fields: {
    publicationId: onCreate(guid()),
    copyNumber: onCreate(int()),
    shelfLanguage: optional(text(40)),
    shelfRoom: optional(oneOf(ROOMS)),
    shelfNumber: optional(int()),
    remark: text(100)
  },
  label: 'remark',
  filterable: ['publicationId', 'copyNumber', 'shelfNumber', 'remark', 'shelfLabel'],
  sortable: ['publicationId', 'copyNumber', 'remark'],
  references: {
    publication: { to: 'publications', via: 'publicationId' },
    shelf: { to: 'shelves', via: ['shelfLanguage', 'shelfRoom', 'shelfNumber'] }
  },
  joined: {
    shelfLabel: { through: 'shelf', property: 'label', field: optional(text(60)) },
    shelfLanguageName: { through: ['shelf', 'language'], property: 'name', field: optional(text(100)) }
  },
  access,
  writes: ['create', 'update', 'delete'],
  deletes: {
    rule: async ({ root, findReferencing }) => {
      await findReferencing('placements', 'publicationId', root.publicationId)
      return {}
    }
  }
})
