import {
  defineEntity,
  everyone,
  example,
  type FindByIds,
  int,
  intOf,
  optional,
  permission,
  readOnly,
  reject,
  requiredNullable,
  type StateRejection,
  text,
  unique
} from 'uniform-rest'

export const categories = defineEntity({
  name: 'categories',
  description: 'The tree that products are sorted into.',
  group: 'Catalogue',

  fields: {
    id: readOnly(int()),
    name: example(unique(text(200)), 'Kettles'),
    parentId: optional(int()),
    slug: example(unique(text(64)), 'kettles')
  },
  joined: {
    parentName: { through: 'parent', property: 'name', field: example(optional(text(200)), 'Kitchen') }
  },

  label: 'name',
  filterable: ['id', 'name', 'parentId', 'slug', 'parentName'],
  sortable: ['id', 'name', 'parentId', 'slug', 'parentName'],
  searchable: ['name', 'slug'],

  references: {
    parent: { to: 'categories', via: 'parentId' }
  },

  access: { read: everyone, write: permission('products:manage') },
  writes: ['create', 'update', 'delete'],
  updates: async ({ root, input, findByIds }) => (await circle(root.id, input.parentId, findByIds)) ?? {},

  actions: (action) => ({
    move: action({
      description: 'Puts the category, and all below it, under another; null makes it a top one.',
      input: { parentId: requiredNullable(int()) },
      change: async ({ root, input, findByIds }) =>
        (await circle(root.id, input.parentId, findByIds)) ?? { set: { parentId: input.parentId } }
    })
  })
})

/** Rejects a parent that lies below the category or is the category itself: the tree would become a circle. */
async function circle(id: number, parentId: number | null, findByIds: FindByIds): Promise<StateRejection | undefined> {
  for (let above = parentId; above !== null;) {
    if (parentId === id) return reject.state(`Category ${id} cannot be its own parent.`)
    if (above === id) return reject.state(`Category ${parentId} lies below category ${id}, which cannot move there.`)
    const row = (await findByIds('categories', [above])).get(above)
    above = row === undefined ? null : intOf(row, 'parentId')
  }
  return undefined
}
