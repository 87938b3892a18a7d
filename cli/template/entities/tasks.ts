import { bool, dateTime, defineEntity, int, optional, permission, readOnly, text } from 'uniform-rest'

export const tasks = defineEntity({
  name: 'tasks',
  description: 'What is to be done.',

  fields: {
    id: readOnly(int()),
    title: text(200),
    note: optional(text(2000)),
    dueAt: optional(dateTime()),
    isDone: readOnly(bool()),
    createdAt: readOnly(dateTime())
  },
  label: 'title',
  filterable: ['id', 'title', 'note', 'dueAt', 'isDone', 'createdAt'],
  sortable: ['id', 'title', 'dueAt', 'createdAt'],
  searchable: ['title', 'note'],

  access: { read: permission('tasks:read'), write: permission('tasks:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    prepare: ({ now }) => ({ values: { isDone: false, createdAt: now } })
  },

  actions: (action) => ({
    complete: action({
      description: 'Says that the task is done.',
      when: { isDone: [false] },
      effect: { set: { isDone: true } }
    })
  })
})
