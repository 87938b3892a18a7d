import { QueryTypes } from 'sequelize'
import type { Logger } from 'pino'
import { StartError } from '../../shared/start-error.js'
import type { Children, Column, Entity, Joined, ManyToMany, StoreName } from '../../data-service/entity/entity.js'
import { type Keyed, keyed, keyMaker, unreachableIds } from '../../data-service/entity/key.js'
import { suggestion } from '../../data-service/entity/fields/names.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import { base64urlOfBytes, bytesOfBase64url, quotedIdentifier } from '../../data-service/sql/engines/statement.js'
import { fullTextIndex, searchedColumns } from '../model/full-text.js'
import { keptApart, type LiveSchema, type LiveTable, mayShareKeys } from '../model/live-schema.js'
import type { MissingIndex, SchemaChecks } from '../model/schema-checks.js'
import {
  type CheckedTable,
  ColumnChecking,
  columnIn,
  type Finding,
  Findings,
  isFilledByTrigger,
  keyOf,
  statementsOf,
  summarized,
  type TriggerFinding
} from './check-columns.js'
import { sortedColumn } from '../migrations/entity-tables.js'
import { schemaOf } from '../kinds/kinds.js'

// Entity files and the tables of a live database, whoever made these. What could answer a request wrongly, or not at all, is
// a mistake and stops the start; what only takes longer, or compares texts in another way, is a warning.

export interface SchemaReport {
  readonly mistakes: readonly Finding[]
  readonly warnings: readonly Finding[]
  /** Whether other programs advance the versions of rows: one for each table with versions. */
  readonly triggers: readonly TriggerFinding[]
}

/** What a person should look at, and what is right as long as only the service writes the tables. */
export function sortedByNeed({ warnings, triggers }: Pick<SchemaReport, 'warnings' | 'triggers'>): {
  readonly warnings: readonly Finding[]
  readonly notes: readonly Finding[]
} {
  const suspect = triggers.filter(({ isWarning }) => isWarning)
  return { warnings: [...warnings, ...suspect], notes: triggers.filter(({ isWarning }) => !isWarning) }
}

/**
 * Throws a StartError with all mistakes, those of resources aside that can be taken out of service, and logs these, the
 * warnings, of which the mild ones are counted, and notes at the level debug. Resolves with the live schema, and with the
 * reasons of resources that are out of service.
 */
export async function checkSchema(
  database: Database,
  { store, setting, log, isolatable = new Set() }: HowToCheck,
  entities: readonly Entity[]
): Promise<{ readonly live: LiveSchema; readonly isolated: ReadonlyMap<string, string> }> {
  const { live, mistakes, ...report } = await schemaReport(database, store, entities)
  const { warnings, notes } = sortedByNeed(report)
  const mild = warnings.filter(({ isMild }) => isMild === true)
  for (const { text } of summarized(warnings.filter((one) => !mild.includes(one)))) log?.warn(text)
  if (mild.length > 0) log?.warn(mildText(mild.length, setting))
  for (const { text } of summarized(notes)) log?.debug(text)
  const ending = mistakes.filter(({ resource = '' }) => !isolatable.has(resource))
  if (ending.length === 0) return { live, isolated: isolatedBy(mistakes, { entities, isolatable }) }
  const count = `${ending.length} mistake${ending.length === 1 ? '' : 's'}`
  const lines = ending.map(({ text }) => `- ${text}`).join('\n')
  throw new StartError(`${count} in the tables of ${setting}.\n${lines}\n${HOW_TO_MEND}`)
}

/** Those of a large database are too much for a log: they are there at each start, and harm nothing that runs. */
function mildText(count: number, setting: string): string {
  const what = count === 1 ? 'thing in the tables of' : 'things in the tables of'
  return `${count} ${what} ${setting} may be slow or compared otherwise: \`npx uniform-rest check\` shows what`
}

interface HowToCheck {
  readonly store: StoreName
  /** Names the database in the error. */
  readonly setting: string
  readonly log?: Logger
  /** Resources whose mistakes do not end the start. Default: none. */
  readonly isolatable?: ReadonlySet<string>
}

/**
 * Why resources cannot be served, by name: the mistakes of their tables, and of those that they show a joined property of,
 * which is a part of each of their reads.
 */
export function isolatedBy(
  mistakes: readonly Finding[],
  { entities, isolatable }: { readonly entities: readonly Entity[]; readonly isolatable: ReadonlySet<string> }
): ReadonlyMap<string, string> {
  const unfit = new Map<string, Finding[]>()
  for (const one of mistakes) {
    const { resource = '' } = one
    if (isolatable.has(resource)) unfit.set(resource, [...(unfit.get(resource) ?? []), one])
  }
  const reasons = new Map(Array.from(unfit, ([resource, found]) => [resource, reasonOf(found)]))
  for (const { name, joined } of entities) {
    for (const one of joined) {
      const to = joinedResources(one, entities).find((resource) => unfit.has(resource))
      if (to === undefined || reasons.has(name)) continue
      reasons.set(name, `${name}: its property \`${one.name}\` is read from ${to}, which does not fit`)
    }
  }
  return reasons
}

/** So many mistakes of a resource are told. */
const MISTAKES_TOLD = 3

function reasonOf(mistakes: readonly Finding[]): string {
  const more = mistakes.length - MISTAKES_TOLD
  const told = mistakes.slice(0, MISTAKES_TOLD).map(({ text }) => text)
  return [...told, ...(more > 0 ? [`${more} more: \`uniform-rest check\` names them`] : [])].join('. ')
}

/** The resources whose tables a joined property is read from. */
function joinedResources({ through, further }: Joined, entities: readonly Entity[]): readonly string[] {
  const found = [through.to]
  for (const step of further) {
    const entity = entities.find(({ name }) => name === found.at(-1))
    found.push(entity?.references.find(({ name }) => name === step)?.to ?? '')
  }
  return found
}

/** A changed migration has no effect on a database in which it has run. */
const HOW_TO_MEND =
  'Tables of your own migrations are mended in a new one, which `uniform-rest migrate create <name>` writes: one that ran ' +
  'is not run again. For tables that others made, change the entity file as the lines say, or have them altered: ' +
  '`uniform-rest check --sql` prints the statements. On a throw-away database delete DATA_DIR instead.'

/** Reads the live schema once, and compares it with what the entity files say of the tables of one store. */
export async function schemaReport(
  database: Database,
  store: StoreName,
  entities: readonly Entity[]
): Promise<SchemaReport & { readonly live: LiveSchema }> {
  const schema = schemaOf(database)
  const live = await schema.describe()
  const check = new Checking(live, schema.checksOf(live), entities)
  // `describe` sees one database, and what is in another belongs to the engine: its migrations made it.
  for (const entity of entities.filter((one) => one.schema === undefined)) {
    check.begin(entity)
    if (store === 'primary') check.root(entity)
    for (const children of entity.children.filter((one) => one.store === store)) {
      check.children(children, { entity, owner: entity.name, to: keyed(entity) })
    }
  }
  const { mistakes, warnings, triggers } = check.report
  return { live, mistakes, warnings, triggers }
}

/** A table whose rows have children. */
interface OwningTable extends Keyed {
  readonly table: string
}

class Checking {
  readonly #findings = new Findings()
  /** Tables and columns of missing indexes that have an entry. */
  readonly #toldIndexes = new Set<string>()
  readonly #live: LiveSchema
  readonly #checks: SchemaChecks
  readonly #entities: readonly Entity[]

  constructor(live: LiveSchema, checks: SchemaChecks, entities: readonly Entity[]) {
    this.#live = live
    this.#checks = checks
    this.#entities = entities
  }

  get report(): SchemaReport {
    return this.#findings
  }

  begin({ name }: Entity): void {
    this.#findings.resource = name
  }

  root(entity: Entity): void {
    const { name, table, columns, key, versionColumn, writes, actions } = entity
    const compared = new Set([...entity.filterable.keys(), ...entity.sortable, ...entity.searchable])
    for (const column of [...key, ...columns.filter(({ field }) => field.unique)]) compared.add(column.name)
    const checked: CheckedTable = {
      owner: name,
      table,
      columns,
      key,
      versionColumn,
      isWritten: writes.size + actions.size > 0 || versionColumn !== undefined,
      isCreated: writes.has('create'),
      compared
    }
    const found = this.#table(checked)
    if (found === undefined) return
    if (found.kind === 'view' && writes.size + actions.size > 0) {
      this.#findings.mistake(`${name}: ${table} is a view, which is only read. Leave out its writes and actions`)
    }
    if (found.kind === 'view' && versionColumn !== undefined) {
      this.#findings.mistake(`${name}: ${table} is a view, whose rows have no version. Say rowVersion: 'none'`)
    }
    this.#key(checked, found)
    this.#sorting(entity)
    for (const one of entity.joined) this.#joined(name, one)
    if (entity.fullText && found.kind === 'table') this.#fullText(entity, found)
    for (const one of entity.manyToMany) this.#links(entity, one)
  }

  /** A join over a key that two rows may share would show a row once for each of them, in pages, totals and exports alike. */
  #joined(owner: string, joined: Joined): void {
    for (const resource of joinedResources(joined, this.#entities)) {
      const target = this.#entities.find(({ name }) => name === resource)
      const table = target && this.#live.tables.get(target.table)
      if (target === undefined || !mayShareKeys(table, target)) continue
      const listed = target.key.map(({ column }) => column).join(', ')
      this.#findings.mistake(
        `${owner}: joined \`${joined.name}\` reads ${table.name}, where no unique key keeps two rows from the same ${listed}, so that ` +
          `rows of ${owner} could appear twice. Leave the property out and include the reference instead` +
          (table.kind === 'view' ? '' : `, or make (${listed}) a unique key`)
      )
    }
  }

  /** The index by which the links of rows are found. */
  #links(entity: Entity, { name, through, from }: ManyToMany): void {
    const link = this.#entities.find((one) => one.name === through)
    const column = link?.references.find((one) => one.name === from)?.via[0]
    const table = link && this.#live.tables.get(link.table)
    if (column === undefined || table === undefined || table.kind === 'view') return
    if (this.#isIndexed(table, column)) return
    const text = `${entity.name}.${name}: no index leads with ${table.name}.${column.column}, by which links are found`
    this.#missingIndex(entity, { table, column }, { text })
  }

  /** `to`: the table that the children belong to, that of the entity or of other children. */
  children(
    children: Children,
    { entity, owner: parent, to }: { readonly entity: Entity; readonly owner: string; readonly to: OwningTable }
  ): void {
    const { table, resource, columns, key, foreignKey, versionColumn, rootWrites } = children
    const owner = `${parent}.${children.name}`
    for (const one of children.children) this.children(one, { entity, owner, to: children })
    const missing = foreignKey.filter((one) => !columns.some(({ column }) => column === one.column))
    const isWritten = children.store === 'primary' && versionColumn !== undefined
    const isCreated = entity.creation.children.some((one) => one.children === children)
    const compared = new Set(key.map(({ name }) => name))
    const all = [...columns, ...missing]
    const found =
      resource === undefined
        ? this.#table({ owner, table, columns: all, key, versionColumn, isWritten, isCreated, compared })
        : this.#live.tables.get(table)
    if (found === undefined || found.kind === 'view') return
    const [leading] = foreignKey
    if (!this.#isIndexed(found, leading)) {
      const text = `${owner}: no index leads with ${table}.${leading.column}, by which children are found`
      this.#missingIndex(entity, { table: found, column: leading }, { text })
    }
    // Rows that are written as rows of a resource may rightly keep a root from being deleted.
    const isOfRoot = resource === undefined || rootWrites === 'all'
    if (entity.writes.has('delete') && isWritten && isOfRoot) this.#cascade(owner, { children, to, table: found })
  }

  /** The columns of a table. undefined for a table that is not there, or cannot be read. */
  #table(checked: CheckedTable): LiveTable | undefined {
    const { owner, table } = checked
    const found = this.#live.tables.get(table)
    if (found === undefined) {
      const near = suggestion(table, [...this.#live.tables.keys()])
      this.#findings.mistake(
        `${owner}: there is no table ${table}; a new migration must create it, or \`table\` names another.${near}`
      )
      return undefined
    }
    if (found.broken !== undefined) {
      this.#findings.mistake(`${owner}: the view ${table} cannot be read: ${found.broken}`)
      return undefined
    }
    new ColumnChecking(checked, found, { checks: this.#checks, findings: this.#findings }).run()
    this.#collations(checked, found)
    return found
  }

  /** A key that two rows could share would make a page repeat rows, and a write change several. */
  #key(checked: CheckedTable, table: LiveTable): void {
    if (table.kind === 'view' || checked.key.length === 0) return
    const { owner, key, isCreated, isWritten } = checked
    const by = keptApart(
      table,
      key.map(({ column }) => column)
    )
    const isPrimary = by === 'primary key'
    const listed = key.map(({ column }) => column).join(', ')
    if (by === undefined) {
      const primary = table.primaryKey.join(', ')
      const text = `${owner}: nothing keeps two rows of ${table.name} from the same ${listed}`
      if (primary !== '') {
        this.#findings.mistake(`${text}. Its primary key is ${primary}: name these columns by \`id\` or \`key\``)
      } else if (isWritten) {
        this.#findings.mistake(`${text}. Make (${listed}) its primary key, by which rows are found and locked`)
      } else {
        // As of a view: whoever named the key knows that the rows differ in it.
        this.#findings.warning(`${text}: a read that would leave one of two such rows out is 500`)
      }
      return
    }
    if (!isPrimary && isWritten && table.primaryKey.length === 0) {
      this.#findings.mistake(
        `${owner}: ${table.name} has no primary key, by which rows are locked. Make (${listed}) its primary key`
      )
    }
    const [id] = key
    if (id === undefined || key.length > 1 || !isCreated || keyMaker(id, { key: [id] }) !== 'database') return
    const live = columnIn(table, id.column)
    if (
      live !== undefined &&
      !live.autoIncrement &&
      live.default === undefined &&
      !isFilledByTrigger(checked, table, this.#checks)
    ) {
      this.#findings.mistake(
        `${owner}: the database does not number ${table.name}.${live.name}, and no request names \`id\`. Say ` +
          'onCreate(…) of it, so that creates name it, or make it AUTO_INCREMENT'
      )
    }
  }

  /** Deletes of a root take its children along by their foreign key. */
  #cascade(
    owner: string,
    of: { readonly children: Children; readonly to: OwningTable; readonly table: LiveTable }
  ): void {
    const { table, to } = of
    const { name, foreignKey } = of.children
    const columns = foreignKey.map(({ column }) => column)
    const found = table.foreignKeys.find(
      (one) => one.table === to.table && one.columns.every((column) => columns.includes(column))
    )
    if (found !== undefined && found.onDelete === 'cascade') return
    const toColumns = to.key.map(({ column }) => column)
    const what =
      found === undefined
        ? `a delete leaves its ${name} behind, since no foreign key of ${table.name} that this account may see refers to ${to.table}`
        : `a row with ${name} cannot be deleted, since their foreign key does not say ON DELETE CASCADE`
    const statement = this.#checks.mend.addForeignKey({ table: table.name, columns, to: to.table, toColumns })
    this.#findings.warning(
      `${owner.slice(0, owner.lastIndexOf('.'))}: ${what}`,
      found === undefined ? statementsOf(statement) : []
    )
  }

  #fullText(entity: Entity, table: LiveTable): void {
    const { name, indexes } = entity
    const columns = searchedColumns(entity)
    const statement = this.#checks.mend.addFullText?.(
      table,
      columns.map(({ column }) => column)
    )
    if (statement === undefined || fullTextIndex(table, columns) !== undefined) return
    const of = columns.map(({ column }) => `${table.name}.${column}`).join(', ')
    const text = `${name}: no full-text index of ${of} finds all words`
    if (indexes === 'required') this.#findings.mistake(`${text}; a new migration must add it`, [statement])
    else this.#findings.mild(`${text}: each search reads all rows that the filters leave`, [statement])
  }

  #sorting(entity: Entity): void {
    for (const property of entity.sortable) {
      const place = sortedColumn(entity, property, this.#entities)
      const target = place && this.#entities.find(({ table }) => table === place.table)
      const column = target?.columns.find((one) => one.column === place?.column)
      const table = place && this.#live.tables.get(place.table)
      if (place === undefined || column === undefined || table === undefined || table.kind === 'view') continue
      if (columnIn(table, column.column) === undefined) continue
      if (place.isOfKey || this.#isIndexed(table, column)) continue
      const index = `(${[`${table.name}.${column.column}`, ...keyOf(table, target?.key ?? [])].join(', ')})`
      const text = `${entity.name}: the sortable ${property} has no index ${index}`
      this.#missingIndex(entity, { table, column }, { text, one: `${entity.name}.${property} ${index}` })
    }
  }

  /** A unique index does not continue with the primary key, so that equal values of it have no order. */
  #isIndexed({ indexes, primaryKey }: LiveTable, column: Column): boolean {
    const [first] = primaryKey
    if (primaryKey.length > 1 && first?.toLowerCase() === column.column.toLowerCase()) return true
    return indexes.some(({ keys: [key], unique, partial, sorted }) => {
      const serves = key !== undefined && sorted && !partial && !unique && !key.descending
      return serves && this.#checks.isSortedBy(key, column)
    })
  }

  /** One entry for each column: another entity may have told of it. */
  #missingIndex(
    { indexes }: Entity,
    { table, column }: { readonly table: LiveTable } & Pick<MissingIndex, 'column'>,
    { text, one }: { readonly text: string; readonly one?: string }
  ): void {
    const id = JSON.stringify([table.name, column.column])
    const live = columnIn(table, column.column)
    if (this.#toldIndexes.has(id) || live === undefined) return
    const { name, primaryKey } = table
    const added = this.#checks.mend.addIndex({ table: name, column, live, key: primaryKey })
    if (added === undefined) return
    this.#toldIndexes.add(id)
    const note = added.note === undefined ? '' : `. ${added.note}`
    const alike =
      one === undefined || added.note !== undefined
        ? undefined
        : { what: 'there is no index to sort by, and each such read sorts all rows that the filters leave', one }
    if (indexes === 'required') this.#findings.mistake(`${text}; a new migration must add it${note}`, added.statements)
    else
      this.#findings.mild(
        `${text}: each such read sorts all rows that the filters leave${note}`,
        added.statements,
        alike
      )
  }

  /** One warning for all columns of a table that are compared alike. */
  #collations({ owner, columns, compared }: CheckedTable, table: LiveTable): void {
    const groups = new Map<string, string[]>()
    for (const { name, column, field } of columns) {
      const live = columnIn(table, column)
      if (live === undefined || field.type !== 'string' || !compared.has(name)) continue
      const difference = this.#checks.comparesOtherwise(live)
      if (difference === undefined) continue
      const group = `${live.collation ?? ''}: ${difference}`
      groups.set(group, [...(groups.get(group) ?? []), column])
    }
    for (const [group, names] of groups) {
      this.#findings.mild(
        `${owner}: ${table.name} compares ${names.join(', ')} by ${group}. Filters, sorts and unique values follow that`,
        [],
        {
          what: `texts are compared by ${group}, and filters, sorts and unique values follow that`,
          one: `${table.name} (${names.join(', ')})`
        }
      )
    }
  }
}

/**
 * Rows whose id is a fixed segment of their resource, or no segment of a path at all: other programs may have made them.
 * The list of a resource holds at most as many ids as it has such segments.
 */
export async function unreachableRows(
  { sequelize }: Database,
  entities: readonly Entity[]
): Promise<{ readonly resource: string; readonly ids: readonly string[] }[]> {
  const found: { readonly resource: string; readonly ids: readonly string[] }[] = []
  for (const entity of entities) {
    const segments = unreachableIds(entity)
    const [key] = entity.key
    if (key === undefined || segments.length === 0) continue
    const id = quotedIdentifier(key.column)
    const isBytes = key.field.type === 'base64url'
    const places = segments.map((_, at) => `$${at + 1}`).join(', ')
    const rows = await sequelize.query<{ id: unknown }>(
      `SELECT ${id} AS id FROM ${quotedIdentifier(entity.table)} WHERE ${id} IN (${places}) LIMIT ${4 * segments.length}`,
      { type: QueryTypes.SELECT, bind: isBytes ? segments.map(bytesOfBase64url) : [...segments] }
    )
    // The collation of the column may equate other texts with these.
    const ids = rows
      .map((row) => (isBytes ? base64urlOfBytes(row.id) : String(row.id)))
      .filter((one) => segments.includes(one))
    if (ids.length > 0) found.push({ resource: entity.name, ids })
  }
  return found
}
