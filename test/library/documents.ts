import {
  allOf,
  anyOf,
  bool,
  createTable,
  dateTime,
  defineEntity,
  int,
  type Migration,
  optional,
  ownRows,
  permission,
  readOnly,
  text
} from 'uniform-rest'

// Row scopes by a predicate.

export const createDocuments: Migration = {
  name: '103-documents',
  steps: [
    createTable('documents', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 100),
        t.int('branch_id'),
        t.boolean('is_open'),
        t.int('grade'),
        t.varchar('author', 60).nullable(),
        t.datetime('added_at'),
        t.rowVersion()
      ],
      indexes: [
        t.sorted('title'),
        t.sorted('branch_id'),
        t.sorted('is_open'),
        t.sorted('grade'),
        t.sorted('author'),
        t.sorted('added_at')
      ]
    })),
    createTable('loans', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('member_id'),
        t.int('document_id'),
        t.int('branch_id'),
        t.rowVersion()
      ],
      indexes: [t.sorted('member_id'), t.sorted('document_id'), t.sorted('branch_id')],
      foreignKeys: [{ column: 'document_id', references: 'documents.id', onDelete: 'restrict' }]
    })),
    createTable('notices', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('text', 100),
        t.varchar('status', 20),
        t.varchar('place', 20).nullable(),
        t.rowVersion()
      ]
    }))
  ]
}

/** The branches that the claim `branches` names: numbers in an array. */
export function branchesOf(claims: Readonly<Record<string, unknown>>): number[] {
  const { branches } = claims
  return Array.isArray(branches) ? branches.filter((one) => typeof one === 'number') : []
}

export const documents = defineEntity({
  name: 'documents',
  description: 'Open documents are for every member, others for those of their branch and grade.',
  fields: {
    id: readOnly(int()),
    title: text(100),
    branchId: int(),
    isOpen: bool(),
    grade: int(),
    author: optional(text(60)),
    addedAt: readOnly(dateTime())
  },
  history: true,
  label: 'title',
  filterable: ['id', 'title', 'branchId', 'isOpen', 'grade', 'author', 'addedAt'],
  sortable: ['id', 'title', 'branchId', 'isOpen', 'grade', 'author', 'addedAt'],
  searchable: ['title', 'author'],
  access: ({ rows }) => ({
    read: rows(({ caller, where, anyOf: or, allOf: and }) => {
      const { grade, clearance } = caller.claims
      if (clearance === 'broken') throw new Error('The predicate cannot tell')
      if (clearance === 'none') return 'none'
      if (caller.hasBypassRole) return 'all'
      const upTo = typeof grade === 'number' ? grade : 0
      return or(
        where('isOpen', 'is', true),
        and(where('branchId', 'in', branchesOf(caller.claims)), where('grade', 'less than or equal', upTo)),
        where('author', 'equals', caller.subject)
      )
    }),
    write: permission('library:manage')
  }),
  writes: ['create', 'update', 'delete'],
  creates: { prepare: ({ now }) => ({ values: { addedAt: now } }) },
  customReads: {
    titles: { description: 'The titles that the caller may read.', item: 'title', sort: ['title'] }
  }
})

export const loans = defineEntity({
  name: 'loans',
  description: 'A member sees its own, and staff that may see loans those of its branches.',
  fields: { id: readOnly(int()), memberId: int(), documentId: int(), branchId: int() },
  label: 'id',
  filterable: ['id', 'memberId', 'documentId', 'branchId'],
  sortable: ['id', 'memberId', 'documentId', 'branchId'],
  references: { document: { to: 'documents', via: 'documentId' } },
  access: ({ rows }) => ({
    read: anyOf(
      ownRows('memberId'),
      allOf(
        permission('loans:read'),
        rows(({ caller, where }) => where('branchId', 'in', branchesOf(caller.claims)))
      )
    ),
    ownerFilter: { property: 'memberId', parameter: 'memberId', on: ['lookup'], allowMissingOwner: 'rowScope' }
  })
})

export const notices = defineEntity({
  name: 'notices',
  description: 'Anybody sees those that are out, and members those of their place too.',
  fields: { id: readOnly(int()), text: text(100), status: text(20), place: optional(text(20)) },
  label: 'text',
  filterable: ['id', 'text', 'status', 'place'],
  sortable: ['id'],
  access: ({ publicRows }) => ({
    read: publicRows(({ caller, where, anyOf: or }) => {
      const out = where('status', 'in', ['out', 'urgent'])
      const place = caller.kind === 'anonymous' ? undefined : caller.claims['place']
      return typeof place === 'string' ? or(out, where('place', 'equals', place)) : out
    })
  })
})
