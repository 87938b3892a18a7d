import { describeEveryEntity } from 'uniform-rest/testing'
import application from '../uniform-rest.config.js'

// Some forty tests for each entity: every read, write and action, by every kind of caller.
describeEveryEntity({
  application,
  folder: new URL('..', import.meta.url),
  // What must not change by accident is written down a second time.
  rules: {
    tasks: {
      writes: ['create', 'update', 'delete'],
      read: { permission: 'tasks:read' },
      write: { permission: 'tasks:manage' },
      actions: { complete: undefined },
      states: { complete: { isDone: [false] } }
    }
  }
})
