import {
  allOf,
  anyOf,
  bool,
  createTables,
  dateTime,
  defineEntity,
  int,
  type Migration,
  optional,
  ownRows,
  permission,
  readOnly,
  table,
  text
} from 'uniform-rest'

// Row scopes by a predicate.

export const createDocuments: Migration = {
  name: '103-documents',
  up: createTables(
    table('documents', {
      columns: {
        id: int(),
        title: text(100),
        branchId: int(),
        isOpen: bool(),
        grade: int(),
        author: optional(text(60)),
        addedAt: dateTime()
      },
      sorted: ['title', 'branchId', 'isOpen', 'grade', 'author', 'addedAt']
    }),
    table('loans', {
      columns: { id: int(), memberId: int(), documentId: int(), branchId: int() },
      sorted: ['memberId', 'documentId', 'branchId'],
      references: { documentId: 'documents' }
    }),
    table('notices', { columns: { id: int(), text: text(100), status: text(20), place: optional(text(20)) } })
  )
}

/** The branches that the claim `branches` names: numbers in an array. */
function branchesOf(claims: Readonly<Record<string, unknown>>): number[] {
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
