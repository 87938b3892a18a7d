import {
  allOf,
  createTable,
  decimal,
  defineEntity,
  everyone,
  int,
  long,
  type Migration,
  onCreate,
  ownRows,
  permission,
  readOnly,
  text
} from 'uniform-rest'

// Children of crates whose place in a scope the values of a request do not tell, or that no request of their own creates.

const OWNER = 'owner_id'

export const createCrates: Migration = {
  name: '002-crates',
  steps: [
    createTable('crates', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('name', 60), t.rowVersion()]
    })),
    // It has no foreign key: rows may name a crate that does not exist yet.
    createTable('loose_parts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('crate_id'), t.decimal('price', 10, 2), t.rowVersion()],
      indexes: [t.index('crate_id')]
    })),
    createTable('branch_parts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('crate_id'), t.varchar('branch', 30), t.rowVersion()],
      indexes: [t.index('crate_id')],
      foreignKeys: [{ column: 'crate_id', references: 'crates.id', onDelete: 'restrict' }]
    })),
    createTable('late_parts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('crate_id'), t.varchar('note', 30), t.rowVersion()],
      indexes: [t.index('crate_id')],
      foreignKeys: [{ column: 'crate_id', references: 'crates.id', onDelete: 'restrict' }]
    })),
    createTable('area_parts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('crate_id'), t.int('area_id'), t.rowVersion()],
      indexes: [t.index('crate_id'), t.index('area_id')],
      foreignKeys: [{ column: 'crate_id', references: 'crates.id', onDelete: 'restrict' }]
    })),
    createTable('free_parts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('crate_id'), t.varchar('note', 30), t.rowVersion()],
      indexes: [t.index('crate_id')],
      foreignKeys: [{ column: 'crate_id', references: 'crates.id', onDelete: 'restrict' }]
    })),
    ...['kept_parts', 'fixed_parts', 'sealed_parts', 'unseen_parts'].map((table) =>
      createTable(table, (t) => ({
        columns: [t.int('id').autoIncrement(), t.int('crate_id'), t.bigint(OWNER), t.rowVersion()],
        indexes: [t.index('crate_id'), t.index(OWNER)],
        foreignKeys: [{ column: 'crate_id', references: 'crates.id', onDelete: 'restrict' }]
      }))
    )
  ]
}

const parts = { filterable: ['id'], sortable: ['id'], label: 'id', description: 'Parts of a crate.' } as const
const keys = { id: readOnly(int()), crateId: int() }

/** A decimal is compared by the database alone. */
export const looseParts = defineEntity({
  ...parts,
  name: 'loose-parts',
  fields: { ...keys, price: onCreate(decimal(10, 2)) },
  access: ({ rows }) => {
    const cheap = rows(({ where }) => where('price', 'less than', '100.00'))
    return { read: cheap, write: cheap }
  },
  writes: ['create']
})

/** So is a text that ends with a space. */
export const branchParts = defineEntity({
  ...parts,
  name: 'branch-parts',
  fields: { ...keys, branch: onCreate(text(30)) },
  access: ({ rows }) => {
    const own = rows(({ caller, where }) => where('branch', 'equals', String(caller.claims['branch'])))
    return { read: own, write: own }
  },
  writes: ['create']
})

/** The key of the crate is known after its INSERT alone. */
export const lateParts = defineEntity({
  ...parts,
  name: 'late-parts',
  fields: { ...keys, note: onCreate(text(30)) },
  access: ({ rows }) => {
    const none = rows(({ where }) => where('crateId', 'less than', 0))
    return { read: none, write: none }
  },
  writes: ['create']
})

/** Besides the rows it takes a permission, which those who create crates need not have. */
export const areaParts = defineEntity({
  ...parts,
  name: 'area-parts',
  fields: { ...keys, areaId: onCreate(int()) },
  access: ({ rows }) => {
    const own = allOf(
      permission('parts:manage'),
      rows(({ caller, where }) => where('areaId', 'equals', Number(caller.claims['area'])))
    )
    return { read: own, write: own }
  },
  writes: ['create']
})

/** It takes a permission and nothing else. */
export const freeParts = defineEntity({
  ...parts,
  name: 'free-parts',
  fields: { ...keys, note: onCreate(text(30)) },
  access: { read: permission('parts:manage'), write: permission('parts:manage') },
  writes: ['create']
})

const owned = { ...keys, ownerId: onCreate(long()) }

/** Those who may create it write every row, but they read their own. */
export const keptParts = defineEntity({
  ...parts,
  name: 'kept-parts',
  fields: owned,
  access: { read: ownRows('ownerId'), write: permission('parts:manage') },
  writes: ['create']
})

/** No request of its own creates it. */
export const fixedParts = defineEntity({
  ...parts,
  name: 'fixed-parts',
  fields: owned,
  access: { read: ownRows('ownerId'), write: ownRows('ownerId') },
  writes: ['delete']
})

export const sealedParts = defineEntity({
  ...parts,
  name: 'sealed-parts',
  fields: owned,
  access: { read: ownRows('ownerId') }
})

/** Its callers write what they do not read. */
export const unseenParts = defineEntity({
  ...parts,
  name: 'unseen-parts',
  fields: owned,
  access: { read: ownRows('ownerId'), write: ownRows('ownerId'), writesUnseen: true },
  writes: ['delete']
})

const foreignKey = 'crateId'

export const crates = defineEntity({
  name: 'crates',
  description: 'Crates with parts.',
  fields: { id: readOnly(int()), name: text(60) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  children: {
    looseParts: { entity: looseParts, foreignKey },
    branchParts: { entity: branchParts, foreignKey },
    lateParts: { entity: lateParts, foreignKey },
    areaParts: { entity: areaParts, foreignKey },
    freeParts: { entity: freeParts, foreignKey },
    keptParts: { entity: keptParts, foreignKey },
    fixedParts: { entity: fixedParts, foreignKey },
    sealedParts: { entity: sealedParts, foreignKey, writtenBy: 'root' },
    unseenParts: { entity: unseenParts, foreignKey }
  },
  access: { read: everyone, write: permission('trips:manage') },
  writes: ['create'],
  creates: {
    children: {
      looseParts: { min: 0 },
      branchParts: { min: 0 },
      lateParts: { min: 0 },
      areaParts: { min: 0 },
      freeParts: { min: 0 },
      keptParts: { min: 0 },
      fixedParts: { min: 0 },
      sealedParts: { min: 0 },
      unseenParts: { min: 0 }
    },
    prepare: ({ input, children }) => {
      if (input.name === 'dearer') {
        return {
          values: {},
          children: { looseParts: children.looseParts.map(() => ({ crateId: 0, price: '900.00' })) }
        }
      }
      // A rule makes rows for every caller.
      return input.name === 'made'
        ? { values: {}, children: { looseParts: [{ crateId: 0, price: '900.00' }] } }
        : { values: {} }
    }
  }
})

export const crateEntities = [
  crates,
  looseParts,
  branchParts,
  lateParts,
  areaParts,
  freeParts,
  keptParts,
  fixedParts,
  sealedParts,
  unseenParts
]
