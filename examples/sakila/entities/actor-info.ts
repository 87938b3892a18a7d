import { column, defineEntity, longText, onCreate, optional, permission, smallInt, text, unsigned } from 'uniform-rest'

export const actorInfo = defineEntity({
  name: 'actor-info',
  description: 'Rows of the view actor_info.',
  rowVersion: 'none',
  fields: {
    id: column('actor_id', onCreate(unsigned(smallInt()))),
    firstName: text(45, 0),
    lastName: text(45, 0),
    filmInfo: optional(longText(16777215))
  },
  label: 'lastName',
  filterable: ['id', 'firstName', 'lastName', 'filmInfo'],
  sortable: ['id'],
  access: { read: permission('actor-info:read') }
})
