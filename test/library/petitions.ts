import {
  type Caller,
  createTable,
  defineEntity,
  everyone,
  int,
  type Migration,
  optional,
  permission,
  preset,
  readOnly,
  reject,
  text
} from 'uniform-rest'

// Wishes of readers, of which guests may change their own alone: rules and hooks that know who calls.

export const createPetitions: Migration = {
  name: '151-petitions',
  steps: [
    createTable('petitions', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 60),
        t.varchar('author', 60),
        t.varchar('entered_by', 60),
        t.varchar('closed_by', 60).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('title')]
    }))
  ]
}

function isOfAnother({ author }: { readonly author: string }, { subject, claims }: Caller): boolean {
  return claims['guest'] === true && author !== subject
}

const ANOTHERS = reject.forbidden('Guests change their own petitions alone.')

export const petitions = defineEntity({
  name: 'petitions',
  description: 'What readers wish for.',
  fields: {
    id: readOnly(int()),
    title: text(60),
    author: preset(text(60), ({ caller }) => caller.subject),
    enteredBy: readOnly(text(60)),
    closedBy: readOnly(optional(text(60)))
  },
  label: 'title',
  filterable: ['id', 'title'],
  sortable: ['id', 'title'],
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    prepare: ({ caller }) =>
      caller.claims['banned'] === true
        ? reject.forbidden('You may enter no petitions.')
        : { values: { enteredBy: caller.hasBypassRole ? 'the house' : caller.subject } }
  },
  updates: ({ root, caller }) => (isOfAnother(root, caller) ? ANOTHERS : {}),
  deletes: { rule: ({ root, caller }) => (isOfAnother(root, caller) ? reject.notFound() : {}) },
  actions: (action) => ({
    close: action({
      description: 'Closes it in the name of the caller.',
      effect: ({ caller }) => ({ set: { closedBy: caller.subject } })
    }),
    support: action({
      description: 'Says that the caller wishes it too.',
      change: ({ root, caller }) => (isOfAnother(root, caller) ? reject.notFound() : { set: { closedBy: null } })
    }),
    publish: action({
      description: 'Ends a draft. Of others it cannot tell the states.',
      when: { title: ['draft'] },
      input: { title: text(60) },
      change: ({ root, caller, input: { title } }) => {
        if (isOfAnother(root, caller)) return reject.forbidden('Guests publish their own petitions alone.')
        if (root.title !== 'draft') throw new TypeError('Only a draft can be judged')
        return title === 'draft' ? reject.input('/title', 'A petition has a title of its own.') : { set: { title } }
      }
    })
  }),
  hooks: ({ beforeCommit }) => [
    beforeCommit({
      on: ['create', 'update'],
      run: ({ after, caller }) => {
        if (caller.claims['guest'] !== true) return undefined
        if (after.title === 'forbidden') return reject.forbidden('No guest may say that.')
        return after.title === 'hidden' ? reject.notFound() : undefined
      }
    })
  ]
})
