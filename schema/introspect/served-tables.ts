import type { Children, Column, Entity, Reference } from '../../data-service/entity/entity.js'

/** What the entity files say of one table: all resources and children that have it together. */
export interface ServedTable {
  readonly resource: string
  readonly columns: readonly Column[]
  /** The columns of the key. undefined of children, whose key may be a part of it. */
  readonly key: readonly string[] | undefined
  readonly versionColumn: string | undefined
  readonly references: readonly Reference[]
}

/** By table of the first database. */
export function servedTables(entities: readonly Entity[]): ReadonlyMap<string, ServedTable> {
  const found = new Map<string, ServedTable>()
  const add = (table: string, one: ServedTable): void => {
    const there = found.get(table)
    if (there === undefined) found.set(table, one)
    else
      found.set(table, {
        ...there,
        columns: [...there.columns, ...one.columns],
        versionColumn: there.versionColumn ?? one.versionColumn,
        references: [...there.references, ...one.references]
      })
  }
  for (const { table, name, columns, key, versionColumn, references } of entities) {
    add(table, { resource: name, columns, key: key.map(({ column }) => column), versionColumn, references })
  }
  const addChildren = (children: readonly Children[], parent: string): void => {
    for (const {
      name,
      table,
      store,
      columns,
      key,
      foreignKey,
      versionColumn,
      references,
      children: nested
    } of children) {
      if (store !== 'primary') continue
      const resource = `${parent}-${name}`
      add(table, {
        resource,
        columns: [...foreignKey, ...key, ...columns],
        key: undefined,
        versionColumn,
        references: [...references, { name, to: parent, via: foreignKey }]
      })
      addChildren(nested, resource)
    }
  }
  for (const { name, children } of entities) addChildren(children, name)
  return found
}
