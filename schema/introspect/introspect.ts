import { messageOf } from '../../shared/start-error.js'
import { ROW_VERSION_COLUMN } from '../../data-service/entity/fields/row-version.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { StoredValues } from '../model/column-types.js'
import type { LiveSchema } from '../model/live-schema.js'
import { ownTableNames, type OwnTables, RECORD } from '../../data-service/sql/engines/own-tables.js'
import type { MendingStatements } from '../model/schema-checks.js'
import { type DraftOptions, draftEntities, type Drafts, type EntityDraft } from './entity-draft.js'
import { likelyReferences, type NamedReference, referenceMistake, referenceText, withReferences } from './references.js'
import { shellWord } from '../model/shell-word.js'
import { schemaOf } from '../kinds/kinds.js'

interface IntrospectOptions extends Pick<
  DraftOptions,
  'keys' | 'hidden' | 'resources' | 'files' | 'stripPrefix' | 'sortsAll'
> {
  /** The names of the engine's own tables in this database. */
  readonly own: OwnTables
  /** Tables and views that are not wanted. */
  readonly except: readonly string[]
  /** References that no foreign key declares, those of this run and of earlier ones. */
  readonly references: readonly NamedReference[]
  /** Of these, those that were named for this run. */
  readonly namedReferences: ReadonlySet<string>
  /** What becomes of references that names, types and rows propose. */
  readonly proposals: 'ignored' | 'told' | 'taken'
  /**
   * Tables whose keys were named for this run, with those of earlier runs, which stay where the new one cannot be one. A key that
   * was named before and no longer is one leaves out its table alone.
   */
  readonly named: ReadonlyMap<string, readonly string[] | undefined>
}

/** Drafts with the statements by which tables whose rows have no version would get one, by table. */
export interface Found extends Drafts {
  readonly versions: ReadonlyMap<string, readonly string[]>
  /** `SchemaTools.unseen` */
  readonly unseen: readonly string[]
  /** Why keys that were named for this run do not hold, by table: these are served as before. */
  readonly refused: ReadonlyMap<string, string>
  /** References that could be named. */
  readonly proposed: Proposals
  /** Those that the drafts have without a foreign key. */
  readonly taken: readonly NamedReference[]
}

interface Proposals {
  readonly references: readonly NamedReference[]
  /** How many more were not looked at. */
  readonly more: number
}

/** A reference that was named and cannot be one. */
export class ReferenceMistake extends Error {
  override readonly name = 'ReferenceMistake'
}

/**
 * Drafts of entity files for the tables and views of a database. Reads its catalogue, up to a hundred thousand rows of the tables
 * whose declared types leave open what they hold, and the named keys of all rows; writes nothing. Throws a ReferenceMistake.
 */
export async function introspectDatabase(database: Database, options: IntrospectOptions): Promise<Found> {
  const schema = schemaOf(database)
  const { dialect } = database
  const described = await schema.describe()
  const wanted = [...described.tables].filter(([name]) => !options.except.includes(name))
  const others = [...described.others].filter(([name]) => !options.except.includes(name))
  const { prefix, schema: ownSchema } = options.own
  const own = new Set(ownSchema === undefined ? [...ownTableNames(), RECORD].map((name) => `${prefix}${name}`) : [])
  const isEngineTable = (table: string): boolean => own.has(table)
  const all = { ...described, tables: new Map(wanted) }
  const refused = new Map<string, string>()
  const keys = new Map(options.keys)
  for (const [table, columns] of options.keys) {
    if (options.except.includes(table)) continue
    const why = await keyMistake(database, all, { table, columns })
    if (why !== undefined && options.named.has(table)) {
      refused.set(table, why)
      const earlier = options.named.get(table)
      if (earlier === undefined) keys.delete(table)
      else keys.set(table, earlier)
    } else if (why !== undefined) others.push([table, `${why}; --unkey ${shellWord(table)} forgets its key`])
  }
  const mistaken = new Set(others.map(([table]) => table))
  const tables = new Map(wanted.filter(([table]) => !mistaken.has(table)))
  const live: LiveSchema = { ...described, tables, others: new Map(others) }
  const values = new Map<string, ReadonlyMap<string, StoredValues>>()
  const readable = new Map(live.tables)
  for (const table of live.tables.values()) {
    const { name, columns, broken, kind } = table
    const open = columns.filter(schema.columnTypes.dependsOnValues)
    // Nothing but a read tells whether a view can be read.
    const looked = open.length === 0 && kind === 'view' ? columns.slice(0, 1) : open
    const isRead = looked.length > 0 && broken === undefined && !isEngineTable(name)
    try {
      const found = isRead ? await schema.storedValues(name, looked) : undefined
      if (found !== undefined && open.length > 0) values.set(name, found)
    } catch (error) {
      // A view that this account may read, but not the tables behind it, or whose expression fails for a row.
      if (kind !== 'view' || database.classifyError(error) !== 'other') throw error
      readable.set(name, { ...table, broken: messageOf(error) })
    }
  }
  // A table that is not known may be one that is gone, under another name.
  const gone = new Set([...options.hidden].flatMap(([table, all]) => (described.tables.has(table) ? [] : [...all])))
  const hidden = new Map(wanted.map(([name]) => [name, options.hidden.get(name) ?? gone]))
  const draft = (references: readonly NamedReference[]): Drafts =>
    draftEntities(
      { ...live, tables: new Map(Array.from(readable, ([name, one]) => [name, withReferences(one, references)])) },
      {
        ...options,
        hidden,
        keys,
        refused,
        isEngineTable,
        types: schema.columnTypes,
        values,
        sortedBy: (type) => dialect.keyFunction(type, 'order')
      }
    )
  const declared = draft([])
  const named = options.references.filter((one) => {
    const why = referenceMistake(declared, one)
    const text = referenceText(one)
    if (why !== undefined && options.namedReferences.has(text))
      throw new ReferenceMistake(`--reference ${text}: ${why}.`)
    return why === undefined
  })
  const known = named.length === 0 ? declared : draft(named)
  const proposed = await proposedReferences(database, known, options)
  const isTaken = options.proposals === 'taken' && proposed.references.length > 0
  const taken = isTaken ? [...named, ...proposed.references] : named
  const drafts = isTaken ? draft(taken) : known
  const versions = versionStatements(drafts, live, schema.checksOf(live).mend)
  const entities: EntityDraft[] = []
  for (const one of drafts.entities) {
    const isHinted = one.key.length === 0 && !refused.has(one.table)
    const hint = isHinted ? [await keyHint(database, one.table, one.candidates)] : []
    entities.push({ ...one, notes: [...one.notes, ...hint] })
  }
  return {
    ...drafts,
    entities,
    refused,
    versions,
    unseen: await schema.unseen(),
    proposed: isTaken ? { ...proposed, references: [] } : proposed,
    taken
  }
}

/** So many columns are counted for references: each takes a read of up to a hundred thousand rows. */
const REFERENCES_COUNTED = 500

/** Likely references of which no row shows that they are none. */
async function proposedReferences(
  database: Database,
  drafts: Drafts,
  { proposals, except }: IntrospectOptions
): Promise<Proposals> {
  if (proposals === 'ignored') return { references: [], more: 0 }
  const likely = likelyReferences(drafts).filter(({ table, columns }) => !except.includes(`${table}.${columns.join()}`))
  const references: NamedReference[] = []
  for (const one of likely.slice(0, REFERENCES_COUNTED)) {
    const [column = '', toColumn = ''] = [...one.columns, ...one.toColumns]
    try {
      const { dangling } = await schemaOf(database).countDangling({ table: one.table, column, to: one.to, toColumn })
      if (dangling === 0) references.push(one)
    } catch (error) {
      // Two collations that the server does not compare, or a count that took too long.
      if (database.classifyError(error) !== 'other') throw error
    }
  }
  return { references, more: Math.max(0, likely.length - REFERENCES_COUNTED) }
}

/** Columns that are tried for a key alone, and in pairs: each takes a read of the whole table. */
const TRIED = { alone: 6, inPairs: 4 }

/** What tells the rows of a table apart, as far as a count of them shows it. */
async function keyHint(database: Database, table: string, candidates: readonly string[]): Promise<string> {
  const pairs = candidates
    .slice(0, TRIED.inPairs)
    .flatMap((one, at) => candidates.slice(at + 1, TRIED.inPairs).map((other) => [one, other]))
  for (const columns of [...candidates.slice(0, TRIED.alone).map((one) => [one]), ...pairs]) {
    const { nulls, duplicates, rows } = await schemaOf(database).countKey(table, columns)
    if (rows === 0)
      return `It has no rows that show what tells them apart: \`--key ${shellWord(table)}=<column>\` says it.`
    if (nulls + duplicates > 0) continue
    return `Its rows are told apart by ${columns.join(', ')} so far. Where that is no chance: --key ${shellWord(`${table}=${columns.join(',')}`)}`
  }
  return 'No column of it that could be a key, and no pair of them, tells its rows apart.'
}

/** The statements that give the rows of a table a version, which are printed and never run. */
function versionStatements(
  { entities }: Drafts,
  { tables }: LiveSchema,
  { addVersion, versionTriggers }: MendingStatements
): ReadonlyMap<string, readonly string[]> {
  const unversioned = entities.filter(
    ({ table, kind, key, versionColumn }) =>
      kind === 'table' &&
      key.length > 0 &&
      versionColumn === undefined &&
      tables.get(table)?.withoutTransactions === undefined
  )
  return new Map(
    unversioned.map(({ table, key, fields }) => {
      const columns = fields.filter(({ property }) => key.includes(property)).map(({ column }) => column)
      const of = { table, column: ROW_VERSION_COLUMN, key: columns }
      return [table, [addVersion(of), ...versionTriggers(of).map(({ statement }) => statement)]]
    })
  )
}

/** Nothing in a database says that a column of a view is unique, so every row is looked at. */
async function keyMistake(
  database: Database,
  { tables }: LiveSchema,
  { table, columns }: { readonly table: string; readonly columns: readonly string[] }
): Promise<string | undefined> {
  const found = tables.get(table)
  if (found === undefined) return `the database has no table or view ${table}`
  const missing = columns.find((name) => !found.columns.some((one) => one.name === name))
  if (missing !== undefined) return `it has no column ${missing}`
  const { nulls, duplicates } = await schemaOf(database).countKey(table, columns)
  if (nulls > 0) return `${columns.join(', ')} is null in ${nulls} of its rows`
  return duplicates > 0 ? `${duplicates} of its rows share their ${columns.join(', ')} with another row` : undefined
}
