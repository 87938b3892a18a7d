import { appendFileSync, existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createTable,
  dateTime,
  defaultTo,
  defineEntity,
  defineEvent,
  everyone,
  int,
  type Migration,
  type NamedValues,
  onEvent,
  optional,
  permission,
  readOnly,
  reject,
  text,
  unique,
  webhook
} from 'uniform-rest'

// Hooks on every write of a row, and a handler that does what the note of the row says.

export const createParcels: Migration = {
  name: '110-parcels',
  steps: [
    createTable('depots', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('name', 40), t.int('parcels'), t.rowVersion()],
      indexes: [t.sorted('name')]
    })),
    createTable('parcels', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('code', 40),
        t.int('depot_id'),
        t.varchar('note', 200).nullable(),
        t.varchar('status', 20),
        t.datetime('moved_at').nullable(),
        t.rowVersion()
      ],
      indexes: [t.unique('code'), t.sorted('code'), t.sorted('depot_id')],
      foreignKeys: [{ column: 'depot_id', references: 'depots.id', onDelete: 'restrict' }]
    })),
    createTable('parcel_writes', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('parcel_id'),
        t.varchar('operation', 20),
        t.varchar('via', 20),
        t.varchar('by_whom', 100),
        t.varchar('before', 300).nullable(),
        t.varchar('after', 300).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('parcel_id')]
    })),
    createTable('receipts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('code', 60), t.rowVersion()],
      indexes: [t.unique('code')]
    }))
  ]
}

export const parcelWritten = defineEvent<{ operation: string; note: string | null }>('parcel-written')

export const depots = defineEntity({
  name: 'depots',
  description: 'Where parcels are. A row counts its parcels.',
  fields: { id: readOnly(int()), name: text(40), parcels: readOnly(defaultTo(int(), 0)) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update'],
  actions: (action) => ({
    'send-all': action({
      description: 'Sends every parcel that is here, and makes one more.',
      async change({ root, findReferencing, getAggregate }) {
        const parcels = await findReferencing('parcels', 'depotId', root.id)
        for (const one of parcels) await getAggregate('parcels', Number(one.root['id']))
        return {
          update: parcels.map((one) => ({ resource: 'parcels', id: Number(one.root['id']), set: { status: 'sent' } })),
          create: [{ resource: 'parcels', values: { code: `extra-${root.id}`, depotId: root.id, status: 'new' } }]
        }
      }
    })
  })
})

/** As short text that SQL can be compared with. */
function shown(row: NamedValues | undefined): string | null {
  if (row === undefined) return null
  return [row['code'], row['depotId'], row['note'], row['status']].map(String).join(' ')
}

export const parcels = defineEntity({
  name: 'parcels',
  description: 'Parcels with a hook on each of their writes.',
  fields: {
    id: readOnly(int()),
    code: unique(text(40)),
    depotId: int(),
    note: optional(text(200)),
    status: readOnly(defaultTo(text(20), 'new')),
    movedAt: readOnly(optional(dateTime()))
  },
  label: 'code',
  filterable: ['id', 'code', 'depotId', 'status'],
  sortable: ['id', 'code', 'depotId'],
  references: { depot: { to: 'depots', via: 'depotId' } },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    // The INSERT locks the depot in shared mode. Whoever changes the depot afterwards locks it before, or two creates wait
    // for each other.
    async prepare({ input: { depotId }, getAggregate }) {
      await getAggregate('depots', depotId)
      return { values: { status: 'new' } }
    }
  },
  actions: (action) => ({
    send: action({ description: 'Sends it.', when: { status: ['new'] }, effect: { set: { status: 'sent' } } }),
    'call-back': action({
      description: 'Calls it back.',
      input: { note: optional(text(200)) },
      change: ({ input: { note }, now }) => ({ set: { status: 'new', note, movedAt: now } })
    })
  }),
  hooks: ({ beforeCommit, emit }) => [
    beforeCommit({
      on: 'any',
      readBefore: true,
      run: (call) => ({
        create: [
          {
            resource: 'parcel-writes',
            values: {
              parcelId: call.id,
              operation: call.operation === 'action' ? call.action : call.operation,
              via: call.via,
              byWhom: call.caller.subject,
              before: shown(call.before),
              after: shown(call.after)
            }
          }
        ]
      })
    }),
    // A rule that spans resources: every depot counts its parcels, and takes at most a hundred thousand.
    beforeCommit({
      on: ['create', 'update', 'delete'],
      readBefore: true,
      async run({ before, after, getAggregate }) {
        const change = new Map<number, number>()
        for (const [row, by] of [[before, -1] as const, [after, 1] as const]) {
          if (row !== undefined) change.set(row.depotId, (change.get(row.depotId) ?? 0) + by)
        }
        // `lock 2,1` in the note is an order of locks in which two writes wait for each other.
        const named = /^lock (\d+),(\d+)$/
          .exec(after?.note ?? '')
          ?.slice(1)
          .map(Number)
        for (const id of named ?? []) change.set(id, change.get(id) ?? 0)
        const ids = named ?? [...change.keys()].filter((id) => change.get(id) !== 0).toSorted((a, b) => a - b)
        const update = []
        for (const id of ids) {
          const depot = await getAggregate('depots', id)
          if (depot === undefined) continue
          const count = Number(depot.root['parcels']) + (change.get(id) ?? 0)
          if (count > 100_000) return reject.conflict('Depot full', 'The depot takes no more parcels.', { depot: id })
          if (change.get(id) !== 0) update.push({ resource: 'depots', id, set: { parcels: count } })
        }
        return { update }
      }
    }),
    emit(parcelWritten, {
      on: 'any',
      payload: ({ operation, after }) =>
        after?.note === 'silent' ? undefined : { operation, note: after === undefined ? null : after.note }
    }),
    // The last hook: what it rejects has been written, counted and emitted before.
    beforeCommit({
      on: 'any',
      run({ after, via }) {
        if (via === 'rule') return undefined
        if (after?.note === 'reject state') return reject.state('Such a parcel is not taken.')
        if (after?.note === 'reject input') return reject.input('/note', 'Another note, please.')
        if (after?.note === 'reject conflict') return reject.conflict('No room', 'There is no room.', { wanted: 1 })
        if (after?.note === 'throw') throw new Error('The hook is broken')
        return undefined
      }
    }),
    beforeCommit({
      on: ['delete'],
      readBefore: true,
      run: ({ before }) => (before.note === 'keep' ? reject.state('It is kept.') : undefined)
    })
  ]
})

export const parcelWrites = defineEntity({
  name: 'parcel-writes',
  description: 'What the first hook was told.',
  fields: {
    id: readOnly(int()),
    parcelId: int(),
    operation: text(20),
    via: text(20),
    byWhom: text(100),
    before: optional(text(300)),
    after: optional(text(300))
  },
  label: 'operation',
  filterable: ['id', 'parcelId'],
  sortable: ['id', 'parcelId'],
  access: { read: everyone }
})

export const receipts = defineEntity({
  name: 'receipts',
  description: 'What a handler stores.',
  fields: { id: readOnly(int()), code: unique(text(60)) },
  label: 'code',
  filterable: ['id', 'code'],
  sortable: ['id'],
  access: { read: everyone }
})

/** The variable that names the file in which handlers write a line for each step of a delivery. */
export const FILE_SETTING = 'TEST_OUTBOX_FILE'

/** A line of that file. */
export interface Handled {
  readonly pid: number
  readonly at: number
  readonly phase: 'begin' | 'end' | 'failed' | 'aborted'
  readonly id: string
  readonly rowId: string
  readonly operation: string
  readonly attempt: number
}

export const parcelHandler = onEvent(parcelWritten, async (event, { signal, log }) => {
  const { id, rowId, attempt, payload } = event
  const file = process.env[FILE_SETTING]
  const tell = (phase: Handled['phase']): void => {
    const line: Handled = { pid: process.pid, at: Date.now(), phase, id, rowId, operation: payload.operation, attempt }
    // One write to the end of the file is one line, whichever process makes it.
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(line)}\n`)
  }
  tell('begin')
  const note = payload.note ?? ''
  if (note === 'fail' || (note === 'fail twice' && attempt <= 2)) {
    tell('failed')
    throw new Error(`not today: ${note}`)
  }
  if (note === 'slow') await delay(20)
  // Until the test makes the file, or the process may not wait any longer.
  while (note.startsWith('block') && !existsSync(`${file ?? ''}.${note.slice('block '.length)}`)) {
    await delay(20)
    if (signal.aborted && note !== 'block deaf') {
      tell('aborted')
      signal.throwIfAborted()
    }
  }
  tell('end')
  log.info({ note }, 'parcel seen')
  return note === 'receipt' ? { create: [{ resource: 'receipts', values: { code: id } }] } : undefined
})

/** Those of parcels that have settings. */
export const parcelWebhooks = ['accounting', 'archive'].map((name) =>
  webhook({
    name,
    events: [parcelWritten],
    url: { setting: `${name.toUpperCase()}_WEBHOOK_URL` },
    secret: { setting: `${name.toUpperCase()}_WEBHOOK_SECRET` }
  })
)
