import { createTable, defineEntity, int, type Migration, optional, readOnly, text, unique } from 'uniform-rest'

// Row scopes over text.

export const createDiaries: Migration = {
  name: '152-diaries',
  steps: [
    createTable('diaries', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 60),
        t.varchar('author', 60).nullable(),
        t.int('previous_id').nullable(),
        t.rowVersion()
      ],
      indexes: [t.unique('title'), t.sorted('title'), t.sorted('author'), t.index('previous_id')],
      foreignKeys: [{ column: 'previous_id', references: 'diaries.id', onDelete: 'restrict' }]
    }))
  ]
}

export const diaries = defineEntity({
  name: 'diaries',
  description: 'Each is for its author alone.',
  fields: {
    id: readOnly(int()),
    title: unique(text(60)),
    author: optional(text(60)),
    previousId: optional(int())
  },
  label: 'title',
  filterable: ['id', 'title', 'author'],
  sortable: ['id', 'title', 'author'],
  references: { previous: { to: 'diaries', via: 'previousId' } },
  customReads: (read) => ({
    'titles-of': read({
      description: 'Titles of one author, whose name is compared as filters compare it.',
      item: 'title',
      sort: ['id'],
      params: { author: text(60) },
      where: ({ params, where }) => where('author', 'equals', params.author)
    })
  }),
  access: ({ rows }) => {
    const own = rows(({ caller, where }) => {
      if (caller.hasBypassRole) return 'all'
      const { operator, part, names } = caller.claims
      const operand = typeof part === 'string' ? part : ''
      switch (operator) {
        case 'starts with':
        case 'ends with':
        case 'contains':
        case 'not contains':
        case 'not equals':
          return where('author', operator, operand)
        case 'is empty':
        case 'is not empty':
          return where('author', operator)
        case 'in':
          return where('author', 'in', Array.isArray(names) ? names.map(String) : [])
        default:
          return where('author', 'equals', caller.subject)
      }
    })
    return { read: own, write: own }
  },
  writes: ['create', 'update', 'delete'],
  actions: (action) => ({
    sign: action({
      description: 'Gives it another author.',
      input: { author: text(60) },
      effect: ({ input }) => ({ set: { author: input.author } })
    })
  })
})
