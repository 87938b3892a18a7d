import type { LiveTexts } from './statements/where-text.js'
import type { KeyedTable } from './violated-keys.js'

/** What statements depend on of the tables as they are in the primary database. Read at start (schema/table-facts.ts). */
export interface TableFacts {
  /**
   * The orders of rows that an index serves, as `products: category_id ASC,price DESC,id ASC`, each with the name of the
   * index. Empty for a kind of database whose statements name no index. Without them orders of several columns take longer.
   */
  readonly sortOrders: ReadonlyMap<string, string>
  /** Without them a comparison with a text column of a view, or of another character set, can fail. */
  readonly texts: LiveTexts
  /** The SQL of the defaults that an UPDATE may set, by `columnKey`. Without them no column can be set to its default. */
  readonly defaults: ReadonlyMap<string, string>
  /** By name. Without them a conflict names a property only where the database names its column. */
  readonly keys: ReadonlyMap<string, KeyedTable>
  /** Tables and views of which no index keeps two rows from having the key of the entity. */
  readonly sharedKeys: ReadonlySet<string>
}
