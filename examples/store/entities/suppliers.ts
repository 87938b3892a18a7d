import { bool, defaultTo, defineEntity, example, int, permission, readOnly, text } from 'uniform-rest'

export const suppliers = defineEntity({
  name: 'suppliers',
  description: 'Companies that the store buys from.',
  group: 'Stock',

  fields: {
    id: readOnly(int()),
    name: example(text(200), 'Lindgren & Sons'),
    country: example(text(64), 'SE'),
    isActive: defaultTo(bool(), true)
  },

  label: 'name',
  filterable: ['id', 'name', 'country', 'isActive'],
  sortable: ['id', 'name', 'country', 'isActive'],
  searchable: ['name', 'country'],

  access: { read: permission('suppliers:manage'), write: permission('suppliers:manage') },
  writes: ['create', 'update', 'delete'],

  // Active and inactive in turn.
  actions: (action) => ({
    activate: action({
      description: 'Takes up business with the supplier.',
      when: { isActive: [false] },
      becomes: { isActive: true }
    }),
    deactivate: action({
      description: 'Ends business with the supplier; orders on their way still come.',
      when: { isActive: [true] },
      becomes: { isActive: false }
    })
  })
})
