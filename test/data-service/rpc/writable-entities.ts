import { everyone, ownRows, permission } from '../../../data-service/entity/access.js'
import { reject } from '../../../data-service/entity/action.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import {
  bool,
  defaultTo,
  guid,
  hidden,
  int,
  money,
  onCreate,
  optional,
  readOnly,
  requiredNullable,
  text
} from '../../../data-service/entity/field.js'

/** Written by permission, with every kind of column, children, and an action for each thing an action can do. */
const things = defineEntity({
  name: 'things',
  description: 'Things.',
  fields: {
    id: readOnly(int()),
    name: text(20),
    note: optional(text(20)),
    kind: onCreate(text(10)),
    isOpen: defaultTo(bool(), true),
    status: readOnly(text(20)),
    code: readOnly(text(20)),
    secret: hidden(optional(text(20)))
  },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  children: {
    parts: {
      table: 'thing_parts',
      foreignKey: 'thingId',
      fields: { id: readOnly(int()), size: int({ min: 1 }), label: optional(text(5)), price: readOnly(money(6, 2)) }
    },
    views: { table: 'thing_views', foreignKey: 'thingId', store: 'second', fields: { id: readOnly(int()) } }
  },
  access: { read: everyone, write: permission('things:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    children: { parts: { min: 1 } },
    prepare: ({ input, children, newCode }) =>
      input.name === 'refused'
        ? reject.conflict('Taken', 'That name is taken.', { by: 7 })
        : {
            values: { status: 'new', code: newCode(), secret: 's' },
            children: { parts: children.parts.map((part) => ({ ...part, price: `${part.size}.50` })) }
          }
  },
  updates: ({ root, input }) => {
    if (input.name === 'forbidden') return reject.state(`${root.name} stays what it is.`)
    return input.name === 'marked' ? { set: { status: 'marked' } } : {}
  },
  actions: (action) => ({
    close: action({
      description: 'Closes.',
      permission: 'things:close',
      when: { status: ['new', 'used'] },
      input: { reason: requiredNullable(text(10)) },
      change: ({ input }) => ({ set: { status: 'closed', note: input.reason } })
    }),
    resize: action({
      description: 'Sizes a part.',
      input: { partId: int(), size: int({ min: 1 }) },
      child: { children: 'parts', id: 'partId', version: 'partRowVersion' },
      change: ({ child, input }) => ({ children: { parts: { update: [{ id: child.id, set: { size: input.size } }] } } })
    }),
    rebuild: action({
      description: 'Replaces all parts and leaves a ticket.',
      loads: ['parts'],
      change: ({ children }) => ({
        children: { parts: { remove: children.parts.map(({ id }) => id), insert: [{ size: 9, price: '0' }] } },
        create: [{ resource: 'tickets', values: { ownerId: 1, label: 'rebuilt' } }]
      })
    }),
    refuse: action({
      description: 'Builds a conflict.',
      change: () => reject.conflict('Checked out', 'It was checked out.', { orderId: 7 })
    }),
    object: action({ description: 'Objects to the body.', change: () => reject.input('/x', 'Not like that.') }),
    break: action({
      description: 'Sets what it cannot.',
      change: () => ({ set: { name: 'longer than twenty characters' } })
    })
  })
})

/** Written by their owners. */
const tickets = defineEntity({
  name: 'tickets',
  description: 'Rows with owners.',
  fields: { id: readOnly(int()), ownerId: onCreate(int()), label: optional(text(20)) },
  label: 'id',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: ownRows('ownerId'), write: ownRows('ownerId') },
  writes: ['create', 'delete'],
  actions: (action) => ({
    stamp: action({ description: 'Stamps.', change: ({ now }) => ({ set: { label: now.slice(0, 10) } }) }),
    void: action({ description: 'Voids.', permission: 'things:manage', change: () => ({ set: { label: null } }) })
  })
})

/** With an id that the service makes. */
const places = defineEntity({
  name: 'places',
  description: 'Rows with GUIDs.',
  fields: { id: readOnly(guid()), name: text(20) },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: everyone, write: permission('things:manage') },
  writes: ['create']
})

export const writableEntities = [things, tickets, places]
