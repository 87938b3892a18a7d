import { everyone } from '../entity/access.js'
import { defineEntity } from '../entity/define-entity.js'
import { int, optional, serverSet, text, unique } from '../entity/field.js'

export const categories = defineEntity({
  name: 'categories',
  description: 'The tree that products are sorted into.',

  fields: {
    id: serverSet(int()),
    name: unique(text(200)),
    parentId: optional(int()),
    slug: unique(text(64))
  },
  joined: {
    parentName: { through: 'parent', property: 'name', field: optional(text(200)) }
  },

  label: 'name',
  filterable: ['id', 'name', 'parentId', 'slug', 'parentName'],
  sortable: ['id', 'name', 'parentId', 'slug', 'parentName'],

  references: {
    parent: { to: 'categories', via: 'parentId' }
  },

  access: { read: everyone }
})
