import {
  bool,
  defaultTo,
  defineEntity,
  everyone,
  int,
  permission,
  readOnly,
  text
} from '../../../data-service/public/entity.js'

export const venues = defineEntity({
  name: 'venues',
  description: 'Where events take place.',

  fields: {
    id: readOnly(int()),
    name: text(200),
    city: text(200),
    capacity: int({ min: 0 }),
    isOpen: defaultTo(bool(), true)
  },

  label: 'name',
  filterable: ['id', 'name', 'city', 'capacity', 'isOpen'],
  sortable: ['id', 'name', 'city', 'capacity', 'isOpen'],

  access: { read: everyone, write: permission('events:manage') },
  writes: ['create', 'update', 'delete'],

  // open → closed; a PUT opens it again. The events that a closed one has stay there, and it gets no new ones.
  actions: (action) => ({
    close: action({
      description: 'Takes no more events.',
      when: { isOpen: [true] },
      effect: { set: { isOpen: false } }
    })
  })
})
