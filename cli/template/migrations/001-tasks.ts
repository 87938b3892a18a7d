import { createTable, type Migration } from 'uniform-rest'

export const migration: Migration = {
  name: '001-tasks',
  steps: [
    createTable('tasks', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 200),
        t.varchar('note', 2000).nullable(),
        t.datetime('due_at').nullable(),
        t.boolean('is_done'),
        t.datetime('created_at'),
        t.rowVersion()
      ],
      indexes: [t.sorted('title'), t.sorted('due_at'), t.sorted('created_at')]
    }))
  ]
}
