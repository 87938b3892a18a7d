/** What an application writes its migrations in; the columns are in the words of entity files. */
export type { Migration, MigrationDatabase } from '../sql/schema/migrate.js'
export { addColumns, addSortOrders, createTables, table } from '../sql/schema/tables.js'
