import {
  bool,
  createTable,
  dateTime,
  defineApplication,
  defineEntity,
  guid,
  int,
  onCreate,
  ownRows,
  readOnly,
  reject,
  text
} from 'uniform-rest'

const priorities = ['low', 'high']

/** One entity and nothing else: no roles, no public reads, no sample, no second store. */
export default defineApplication({
  entities: [
    defineEntity({
      name: 'tasks',
      description: 'What somebody has to do. Others see nothing of it.',
      fields: {
        id: readOnly(guid()),
        key: text(60),
        priority: text(20),
        isDone: readOnly(bool()),
        memberId: onCreate(int()),
        addedAt: readOnly(dateTime())
      },
      label: 'key',
      filterable: ['id', 'key', 'priority', 'isDone', 'addedAt'],
      sortable: ['key', 'addedAt'],
      access: { read: ownRows('memberId'), write: ownRows('memberId') },
      writes: ['create', 'update'],
      creates: {
        prepare: ({ now, input }) =>
          priorities.includes(input.priority)
            ? { values: { isDone: false, addedAt: now } }
            : reject.input('/priority', `A priority is one of ${priorities.join(', ')}.`)
      },
      updates: ({ input }) =>
        priorities.includes(input.priority)
          ? {}
          : reject.input('/priority', `A priority is one of ${priorities.join(', ')}.`),
      actions: (action) => ({
        finish: action({
          description: 'Marks the task as done.',
          when: { isDone: [false] },
          effect: { set: { isDone: true } }
        })
      })
    })
  ],
  ownerClaimType: 'member',
  settings: { OWNER_BYPASS_ROLE: 'Admin' },
  migrations: [
    {
      name: '001-tasks',
      steps: [
        createTable('tasks', (t) => ({
          columns: [
            t.guid('id').primaryKey(),
            t.varchar('key', 60),
            t.varchar('priority', 20),
            t.boolean('is_done'),
            t.int('member_id'),
            t.datetime('added_at'),
            t.rowVersion()
          ],
          indexes: [t.index('member_id'), t.sorted('key'), t.sorted('added_at')]
        }))
      ]
    }
  ]
})
