import { bool, defaultTo, defineEntity, example, guid, permission, readOnly, text } from 'uniform-rest'

export const warehouses = defineEntity({
  name: 'warehouses',
  description: 'Places that stock is kept in.',
  group: 'Stock',

  fields: {
    id: example(readOnly(guid()), '00000000-0000-4000-8000-000000000001'),
    name: example(text(200), 'Ring Road'),
    city: example(text(200), 'Göteborg'),
    isOpen: defaultTo(bool(), true)
  },

  label: 'name',
  filterable: ['id', 'name', 'city', 'isOpen'],
  sortable: ['id', 'name', 'city', 'isOpen'],
  searchable: ['name', 'city'],

  access: { read: permission('warehouses:manage'), write: permission('warehouses:manage') },
  writes: ['create', 'update', 'delete'],

  // Open and closed in turn.
  actions: (action) => ({
    open: action({
      description: 'Opens the warehouse.',
      when: { isOpen: [false] },
      becomes: { isOpen: true }
    }),
    close: action({
      description: 'Closes the warehouse; its stock stays where it is.',
      when: { isOpen: [true] },
      becomes: { isOpen: false }
    })
  })
})
