import type { Children, Entity, StoreName } from '../../data-service/entity/entity.js'
import type { TableRight, TableRights } from '../model/schema-tools.js'
import { OWN_TABLES, type OwnNames, ownTableNames, RECORD } from '../../data-service/sql/engines/own-tables.js'

/**
 * What the service does with the rows of the tables of one store. Of a resource without writes and actions it reads them:
 * what a rule of another resource writes there is not in its entity file.
 */
export function neededRights(entities: readonly Entity[], store: StoreName): TableRights[] {
  const rights = new Map<string, { readonly rights: Set<TableRight>; readonly column: string }>()
  const need = (table: string, column: string, more: readonly TableRight[]): void => {
    const found = rights.get(table) ?? { rights: new Set<TableRight>(), column }
    for (const right of ['SELECT', ...more] as const) found.rights.add(right)
    rights.set(table, found)
  }
  for (const entity of entities) {
    const { table, columns, versionColumn = columns[0]?.column ?? '', children } = entity
    if (store === 'primary') need(table, versionColumn, rightsToRoot(entity))
    for (const one of children.filter((child) => child.store === store).flatMap(withNested)) {
      need(one.table, one.versionColumn ?? one.foreignKey[0].column, rightsToChildren(one, entity))
    }
  }
  return Array.from(rights, ([table, found]) => ({ table, rights: [...found.rights], column: found.column }))
}

/** As `neededRights`, for the tables of the engine: all of them in the primary store, and the record of migrations in both. */
export function neededRightsToOwn({ prefix }: OwnNames, store: StoreName): TableRights[] {
  const record: TableRights = { table: `${prefix}${RECORD}`, rights: ['SELECT'], column: 'name' }
  if (store !== 'primary') return [record]
  const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const
  const others = ownTableNames().map((table) => ({
    table: `${prefix}${table}`,
    rights,
    column: OWN_TABLES[table].columns[0]
  }))
  return [record, ...others]
}

function rightsToRoot({ writes, actions }: Entity): TableRight[] {
  return [
    ...(writes.has('create') ? (['INSERT'] as const) : []),
    ...(writes.has('update') || actions.size > 0 ? (['UPDATE'] as const) : []),
    ...(writes.has('delete') ? (['DELETE'] as const) : [])
  ]
}

function withNested(children: Children): Children[] {
  return [children, ...children.children.flatMap(withNested)]
}

/** Rows of children go with their root by its foreign key. What a rule does with them is not in the entity file. */
function rightsToChildren(children: Children, { creation, updateRule, deletion, actions }: Entity): TableRight[] {
  const { rootWrites } = children
  if (rootWrites === 'none') return []
  if (rootWrites === 'create') return creation.children.some((one) => one.children === children) ? ['INSERT'] : []
  const hasRule = updateRule !== undefined || deletion.rule !== undefined || actions.size > 0
  if (hasRule) return ['INSERT', 'UPDATE', 'DELETE']
  return creation.children.length > 0 || creation.prepare !== undefined ? ['INSERT'] : []
}
