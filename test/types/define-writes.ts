import { everyone, ownRows, permission } from '../../data-service/entity/access.js'
import { reject } from '../../data-service/entity/action.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import {
  bool,
  defaultTo,
  hidden,
  int,
  money,
  oneOf,
  onCreate,
  optional,
  readOnly,
  text,
  writeOnly
} from '../../data-service/entity/fields/words.js'

// Mistakes in the writes of an entity file that do not compile, each beside what does.
const things = {
  name: 'things',
  description: 'Things.',
  fields: {
    id: readOnly(int()),
    name: text(200),
    ownerId: onCreate(int()),
    note: optional(text(200)),
    status: readOnly(text(32)),
    total: readOnly(money(12, 2)),
    seenAt: readOnly(optional(text(30))),
    isOpen: bool(),
    riskNote: hidden(optional(text(200)))
  },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  children: {
    parts: {
      table: 'thing_parts',
      foreignKey: 'thingId',
      fields: { id: readOnly(int()), size: int(), label: optional(text(10)), price: readOnly(money(10, 2)) }
    },
    views: { table: 'thing_views', foreignKey: 'thingId', store: 'second', fields: { id: readOnly(int()) } }
  },
  access: { read: everyone, write: ownRows('ownerId') }
} as const
const part = { size: 1, price: '1.00' }

export const writesThatNeedAVersion = [
  defineEntity({ ...things, rowVersion: 'none', writes: ['create', 'delete'] }),
  // @ts-expect-error a PUT is guarded by the version
  defineEntity({ ...things, rowVersion: 'none', writes: ['update'] }),
  // @ts-expect-error and so is what it rejects or sets
  defineEntity({ ...things, rowVersion: 'none', writes: ['create'], updates: () => ({}) }),
  // @ts-expect-error and every action
  defineEntity({ ...things, rowVersion: 'none', actions: () => ({}) }),
  defineEntity({
    ...things,
    children: {},
    rowVersion: 'content',
    writes: ['create', 'update', 'delete'],
    updates: () => ({})
  }),
  // @ts-expect-error a version is in a column or made of the content
  defineEntity({ ...things, children: {}, rowVersion: 'content', rowVersionColumn: 'stamp' }),
  // @ts-expect-error there is no other word: rows have a version unless the file says that they have none
  defineEntity({ ...things, rowVersion: 'some' })
]

const lines = defineEntity({
  name: 'lines',
  description: 'Lines.',
  fields: { id: readOnly(int()), thingId: onCreate(int()), amount: int() },
  label: 'id',
  filterable: [],
  sortable: [],
  access: { read: everyone }
})
const shared = {
  ...things,
  writes: ['create'],
  children: { parts: things.children.parts, lines: { entity: lines, foreignKey: 'thingId' } }
} as const
const owned = {
  ...shared,
  children: { lines: { entity: lines, foreignKey: 'thingId', writtenBy: 'root' } }
} as const

const veiled = defineEntity({
  name: 'veiled',
  description: 'Rows that keep to themselves whose they are.',
  fields: { id: readOnly(int()), thingId: hidden(int()), otherId: onCreate(writeOnly(int())) },
  label: 'id',
  filterable: [],
  sortable: [],
  access: { read: everyone }
})
const table = { table: 'inner', foreignKey: 'thingId', fields: { id: readOnly(int()) } } as const

export const rowsOfAResource = [
  // @ts-expect-error the children would tell what the hidden foreign key does not
  defineEntity({ ...things, children: { veiled: { entity: veiled, foreignKey: 'thingId' } } }),
  // @ts-expect-error nor what requests alone have
  defineEntity({ ...things, children: { veiled: { entity: veiled, foreignKey: 'otherId' } } }),
  defineEntity({
    ...things,
    // @ts-expect-error nor do children of children
    children: { inner: { ...table, children: { veiled: { entity: veiled, foreignKey: 'thingId' } } } }
  }),
  defineEntity({
    ...things,
    children: { inner: { ...table, children: { lines: { entity: lines, foreignKey: ['thingId'] } } } }
  }),
  defineEntity({ ...shared, creates: { children: { lines: { min: 1 } } } }),
  defineEntity({
    ...owned,
    actions: (action) => ({
      double: action({
        description: 'Doubles.',
        loads: ['lines'],
        change: ({ children }) => ({
          children: { lines: { update: children.lines.map(({ id, amount }) => ({ id, set: { amount: amount * 2 } })) } }
        })
      })
    })
  }),
  defineEntity({
    ...shared,
    actions: (action) => ({
      double: action({
        description: 'Doubles.',
        // @ts-expect-error rows that are written as rows of their resource are not under the lock of a root
        loads: ['lines'],
        change: () => ({})
      })
    })
  }),
  defineEntity({
    ...shared,
    actions: (action) => ({
      // @ts-expect-error and no rule of the root writes them
      add: action({ description: 'Adds.', effect: { children: { lines: { insert: [{ amount: 1 }] } } } })
    })
  }),
  // @ts-expect-error a resource or a table of its own, and not both
  defineEntity({ ...things, children: { lines: { entity: lines, foreignKey: 'thingId', table: 'x', fields: {} } } })
]

export const deletes = [
  defineEntity({ ...things, writes: ['delete'], deletes: { when: { status: ['new'], isOpen: [false] } } }),
  defineEntity({
    ...things,
    writes: ['delete'],
    deletes: { rule: ({ root, children }) => (root.isOpen && children.parts[0]?.size === 1 ? reject.state('No.') : {}) }
  }),
  // @ts-expect-error a state is one of a column that people see
  defineEntity({ ...things, writes: ['delete'], deletes: { when: { riskNote: ['x'] } } }),
  // @ts-expect-error and of its type
  defineEntity({ ...things, writes: ['delete'], deletes: { when: { status: [1] } } }),
  // @ts-expect-error there is no body that could be rejected
  defineEntity({ ...things, writes: ['delete'], deletes: { rule: () => reject.input('/name', 'No.') } }),
  // @ts-expect-error nothing of a row that goes is set
  defineEntity({ ...things, writes: ['delete'], deletes: { rule: () => ({ set: { name: 'x' } }) } }),
  // @ts-expect-error children of the other database are not under lock
  defineEntity({ ...things, writes: ['delete'], deletes: { rule: ({ children }) => (children.views ? {} : {}) } }),
  defineEntity({
    ...things,
    actions: (action) => ({
      // @ts-expect-error an effect has put nothing under lock that it could update
      move: action({ description: 'Moves.', effect: { update: [{ resource: 'others', id: 1 }] } })
    })
  })
]

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  defineEntity({ ...things, writes: ['create', 'update', 'delete'] }),
  defineEntity({ ...things, access: { read: everyone, write: permission('things:manage') } }),
  defineEntity({
    ...things,
    creates: {
      children: { parts: { min: 1 } },
      prepare: ({ input, children }) =>
        input.name === children.parts[0]?.label
          ? reject.state('No.')
          : {
              values: { status: 'new', total: '0.00', riskNote: null },
              children: { parts: children.parts.map((one) => ({ ...one, price: '1.00' })) }
            }
    }
  }),
  defineEntity({ ...things, updates: ({ root, input }) => (root.ownerId === 1 && input.isOpen ? {} : { set: {} }) }),
  defineEntity({
    ...things,
    actions: (action) => ({
      close: action({
        description: 'Closes.',
        permission: 'things:manage',
        when: { status: ['new', 'used'], isOpen: [true] },
        input: { reason: optional(text(9)), partId: int() },
        child: { children: 'parts', id: 'partId', version: 'partRowVersion' },
        change: ({ root, input, child }) => ({
          set: { status: input.reason ?? root.name, seenAt: null },
          children: { parts: { update: [{ id: child.id, set: { size: child.size + 1 } }], insert: [part] } }
        })
      }),
      use: action({ description: 'Uses.', when: { status: ['new'] }, becomes: { status: 'used', isOpen: true } }),
      wear: action({
        description: 'Wears.',
        becomes: { status: ['used', 'worn'] },
        effect: ({ now }) => ({ set: { seenAt: now } })
      }),
      clear: action({
        description: 'Clears.',
        loads: ['parts'],
        change: async ({ children }) => ({ children: { parts: { remove: children.parts.map(({ id }) => id) } } })
      })
    })
  })
]

export const writesThatAreNone = [
  // @ts-expect-error no such write
  defineEntity({ ...things, writes: ['upsert'] }),
  // @ts-expect-error writing is never for everyone
  defineEntity({ ...things, access: { read: everyone, write: everyone } }),
  // @ts-expect-error an owner is an integer
  defineEntity({ ...things, access: { read: everyone, write: ownRows('name') } }),
  // @ts-expect-error a default of another type
  defineEntity({ ...things, fields: { ...things.fields, isOpen: defaultTo(bool(), 1) } })
]

export const creationsThatDoNotFit = [
  // @ts-expect-error no such children
  defineEntity({ ...things, creates: { children: { prats: { min: 1 } } } }),
  // @ts-expect-error children of the second store are no part of the transaction
  defineEntity({ ...things, creates: { children: { views: { min: 1 } } } }),
  // @ts-expect-error the total is not set
  defineEntity({ ...things, creates: { prepare: () => ({ values: { status: 'new' } }) } }),
  // @ts-expect-error nor may it be null
  defineEntity({ ...things, creates: { prepare: () => ({ values: { status: 'new', total: null } }) } }),
  defineEntity({
    ...things,
    // @ts-expect-error the body never holds a status
    creates: { prepare: ({ input }) => (input.status === '' ? reject.state('No.') : reject.state('Nor.')) }
  }),
  defineEntity({
    ...things,
    creates: {
      children: { parts: { min: 1 } },
      // @ts-expect-error the price of a part is not set
      prepare: ({ children }) => ({ values: { status: 'new', total: '0.00' }, children: { parts: children.parts } })
    }
  })
]

export const actionsThatDoNotFit = [
  defineEntity({
    ...things,
    // @ts-expect-error no such column
    actions: (action) => ({ x: action({ description: '', when: { stauts: ['a'] }, change }) })
  }),
  // @ts-expect-error a status is text
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '', when: { status: [1] }, change }) }) }),
  defineEntity({
    ...things,
    // @ts-expect-error a status is text after the action, too
    actions: (action) => ({ x: action({ description: '', becomes: { status: 1 }, change }) })
  }),
  // @ts-expect-error a state is never null
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '', becomes: { seenAt: null } }) }) }),
  // @ts-expect-error no such column
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '', becomes: { stauts: 'a' } }) }) }),
  // @ts-expect-error an action does something
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '' }) }) }),
  // @ts-expect-error a permission is `<resource>:<verb>`
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '', permission: 'manage', change }) }) }),
  // @ts-expect-error no such children
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '', loads: ['prats'], change }) }) }),
  // @ts-expect-error children of the second store cannot be put under lock
  defineEntity({ ...things, actions: (action) => ({ x: action({ description: '', loads: ['views'], change }) }) }),
  // @ts-expect-error what is not made by `action` is none
  defineEntity({ ...things, actions: () => ({ x: { description: '', change } }) }),
  defineEntity({
    ...things,
    actions: (action) => ({
      x: action({
        description: '',
        input: { partId: int() },
        // @ts-expect-error the id of the child is a member of the body
        child: { children: 'parts', id: 'prat', version: 'partRowVersion' },
        change
      })
    })
  }),
  defineEntity({
    ...things,
    actions: (action) => ({
      x: action({
        description: '',
        input: { partId: int() },
        // @ts-expect-error its version is named for what it is
        child: { children: 'parts', id: 'partId', version: 'version' },
        change
      })
    })
  }),
  defineEntity({
    ...things,
    actions: (action) => ({
      // @ts-expect-error no such member
      x: action({ description: '', change: ({ input }) => (input.note === '' ? {} : reject.state('')) })
    })
  }),
  defineEntity({
    ...things,
    // @ts-expect-error no such column
    actions: (action) => ({ x: action({ description: '', change: ({ now }) => ({ set: { stauts: now } }) }) })
  }),
  defineEntity({
    ...things,
    // @ts-expect-error a status is never null
    actions: (action) => ({ x: action({ description: '', change: () => ({ set: { status: null } }) }) })
  }),
  defineEntity({
    ...things,
    actions: (action) => ({
      // @ts-expect-error a name is text
      x: action({ description: '', input: { name: int() }, change: ({ input }) => ({ set: input }) })
    })
  }),
  defineEntity({
    ...things,
    // @ts-expect-error nobody sets an id
    actions: (action) => ({ x: action({ description: '', change: () => ({ set: { id: 7 } }) }) })
  }),
  defineEntity({
    ...things,
    actions: (action) => ({
      // @ts-expect-error children that are not loaded cannot be removed
      x: action({ description: '', change: () => ({ children: { parts: { remove: [1] } } }) })
    })
  }),
  defineEntity({
    ...things,
    actions: (action) => ({
      // @ts-expect-error a part has a price
      x: action({ description: '', change: () => ({ children: { parts: { insert: [{ size: 1 }] } } }) })
    })
  }),
  defineEntity({
    ...things,
    // @ts-expect-error there is no child of whose version the body would tell
    actions: (action) => ({ x: action({ description: '', change: ({ child }) => ({ set: { name: String(child) } }) }) })
  })
]

function change(): object {
  return {}
}

const signals = {
  name: 'signals',
  description: 'What stands at a line.',
  fields: { id: readOnly(int()), aspect: oneOf(['stop', 'go']), former: optional(oneOf(['stop', 'go'])) },
  label: 'id',
  filterable: [],
  sortable: [],
  access: { read: everyone, write: permission('things:manage') },
  writes: ['delete']
} as const

/** States of a column of words are its words. */
export const wordStates = [
  defineEntity({
    ...signals,
    deletes: { when: { aspect: ['stop'] } },
    actions: (action) => ({
      clear: action({ description: 'Clears.', when: { aspect: ['stop'], former: ['go'] }, becomes: { aspect: 'go' } })
    })
  }),
  // @ts-expect-error none of its words
  defineEntity({ ...signals, deletes: { when: { aspect: ['green'] } } }),
  // @ts-expect-error none of its words after the action, too
  defineEntity({ ...signals, actions: (action) => ({ x: action({ description: '', becomes: { aspect: 'green' } }) }) })
]
