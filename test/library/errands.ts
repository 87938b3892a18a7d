import {
  allOf,
  anyOf,
  bool,
  createTable,
  defineEntity,
  int,
  type Migration,
  optional,
  ownRows,
  permission,
  readOnly,
  text,
  unique
} from 'uniform-rest'
import { branchesOf } from './documents.js'

// Write scopes.

export const createErrands: Migration = {
  name: '141-errands',
  steps: [
    createTable('errands', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 100),
        t.int('member_id'),
        t.int('branch_id'),
        t.boolean('is_open'),
        t.rowVersion()
      ],
      indexes: [t.unique('title'), t.sorted('title'), t.sorted('member_id'), t.sorted('branch_id')]
    })),
    createTable('complaints', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('text', 100), t.varchar('about', 60).nullable(), t.rowVersion()],
      indexes: [t.sorted('about')]
    }))
  ]
}

export const errands = defineEntity({
  name: 'errands',
  description: 'Members see and change their own, and librarians those of their branches, which they alone delete.',
  fields: { id: readOnly(int()), title: unique(text(100)), memberId: int(), branchId: int(), isOpen: bool() },
  history: true,
  label: 'title',
  filterable: ['id', 'title', 'memberId', 'branchId', 'isOpen'],
  sortable: ['id', 'title', 'memberId', 'branchId'],
  access: ({ rows }) => {
    const ofBranch = allOf(
      permission('library:manage'),
      rows(({ caller, where }) => where('branchId', 'in', branchesOf(caller.claims)))
    )
    const everyones = anyOf(ownRows('memberId'), ofBranch)
    return { read: everyones, write: everyones, writes: { delete: ofBranch, reopen: permission('loans:read') } }
  },
  writes: ['create', 'update', 'delete'],
  actions: (action) => ({
    close: action({ description: 'Ends it.', when: { isOpen: [true] }, becomes: { isOpen: false } }),
    reopen: action({ description: 'Begins it again.', when: { isOpen: [false] }, becomes: { isOpen: true } }),
    move: action({
      description: 'Moves it to another branch.',
      input: { branchId: int() },
      change: ({ input: { branchId } }) => ({ set: { branchId } })
    }),
    give: action({
      description: 'Would give it to another member, and does not say that it may.',
      when: { isOpen: [true] },
      input: { memberId: int() },
      effect: ({ input: { memberId } }) => ({ set: { memberId } })
    }),
    'hand-over': action({
      description: 'Gives it to another member.',
      handsOver: true,
      input: { memberId: int() },
      effect: ({ input: { memberId } }) => ({ set: { memberId } })
    })
  })
})

export const complaints = defineEntity({
  name: 'complaints',
  description: 'Librarians take them down, and nobody but whom they are about reads them.',
  fields: { id: readOnly(int()), text: text(100), about: optional(text(60)) },
  label: 'text',
  filterable: ['id', 'text', 'about'],
  sortable: ['id'],
  access: ({ rows }) => ({
    read: rows(({ caller, where }) => (caller.hasBypassRole ? 'all' : where('about', 'equals', caller.subject))),
    write: permission('library:manage'),
    writesUnseen: true
  }),
  writes: ['create', 'update', 'delete']
})
