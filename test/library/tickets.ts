import {
  createTable,
  date,
  defaultTo,
  defineEntity,
  everyone,
  guid,
  hidden,
  int,
  long,
  type Migration,
  optional,
  permission,
  preset,
  readOnly,
  text,
  writableBy
} from 'uniform-rest'

// Questions to the library: columns whose values come with the token.

export const createTickets: Migration = {
  name: '150-tickets',
  steps: [
    createTable('tickets', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 60),
        t.guid('tenant'),
        t.varchar('author', 60),
        t.bigint('number').nullable(),
        t.varchar('channel', 20),
        t.int('priority').default(3),
        t.date('due').nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('title'), t.index('tenant'), t.sorted('priority')]
    })),
    createTable('ticket_lines', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('ticket_id'),
        t.varchar('text', 60),
        t.varchar('writer', 60),
        t.int('weight').default(1),
        t.rowVersion()
      ],
      indexes: [t.index('ticket_id')],
      foreignKeys: [{ column: 'ticket_id', references: 'tickets.id', onDelete: 'cascade' }]
    }))
  ]
}

/** Callers of no branch are of the house; those of a branch bring their tenant. */
export const HOUSE = '00000000-0000-4000-8000-00000000000a'

export const tickets = defineEntity({
  name: 'tickets',
  description: 'Questions of readers, each of one tenant.',
  fields: {
    id: readOnly(int()),
    title: text(60),
    tenant: preset(guid(), ({ caller }) => {
      const { branch, tenant } = caller.claims
      return branch === undefined ? HOUSE : tenant
    }),
    author: preset(text(60), ({ caller }) => caller.subject),
    number: preset(optional(long()), ({ caller }) => caller.owner ?? 0n),
    channel: hidden(preset(text(20), () => 'desk')),
    priority: writableBy('tickets:rank', defaultTo(int({ min: 0, max: 9 }), 3)),
    due: writableBy('tickets:rank', optional(date()))
  },
  label: 'title',
  filterable: ['id', 'title', 'tenant', 'author', 'number', 'priority'],
  sortable: ['id', 'title', 'priority'],
  children: {
    lines: {
      table: 'ticket_lines',
      foreignKey: 'ticketId',
      fields: {
        id: readOnly(int()),
        text: text(60),
        writer: preset(text(60), ({ caller }) => caller.subject),
        weight: writableBy('tickets:rank', defaultTo(int(), 1))
      }
    }
  },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: { children: { lines: { min: 0 } } }
})
