import { listed, StartError } from '../../shared/start-error.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { Ddl, PresentRelation } from '../model/schema-tools.js'
import { OWN_TABLES, ownTableNames, type OwnTables, RECORD } from '../../data-service/sql/engines/own-tables.js'
import { type ForeignKey, partNames } from '../model/tables.js'
import { type PlannedMigration, statementsOfStep } from './migration.js'
import { schemaOf } from '../kinds/kinds.js'
import { shellWord } from '../model/shell-word.js'

/** What a person has named, so that migrations may do it in a database that holds tables of others. */
export interface Allowed {
  /** Databases, by name, in which tables may be made among those of others. */
  readonly among: readonly string[]
  /** Tables that no migration made, and that migrations may take for theirs, alter, and refer to by foreign keys. */
  readonly mayAlter: readonly string[]
}

export const NOTHING_NAMED: Allowed = { among: [], mayAlter: [] }

/** What a database's record says of migrations. */
interface MigrationRecord {
  /** The names of those that have run, and of those whose tables stood there already. */
  readonly applied: ReadonlySet<string>
  /** Those that have begun. One that is in no other list was interrupted, and runs again. */
  readonly begun: ReadonlySet<string>
  /** Those of `applied` that ran no statement, since their tables were there. */
  readonly takenOver: ReadonlySet<string>
}

// Versions up to 0.2 read names from the record and pass over those that they do not know.
const BEGUN = '>'
const TAKEN_OVER = '~'

/** The names under which the record marks a migration. */
export const begunMark = (name: string): string => `${BEGUN}${name}`
export const takenOverMark = (name: string): string => `${TAKEN_OVER}${name}`

/** Reads the record without a lock. */
export async function readRecord(database: Database, own: OwnTables): Promise<MigrationRecord> {
  const names = [...(await schemaOf(database).appliedMigrations(own))]
  const marked = (mark: string): Set<string> =>
    new Set(names.filter((name) => name.startsWith(mark)).map((name) => name.slice(mark.length)))
  const isMark = (name: string): boolean => name.startsWith(BEGUN) || name.startsWith(TAKEN_OVER)
  return {
    applied: new Set(names.filter((name) => !isMark(name))),
    begun: marked(BEGUN),
    takenOver: marked(TAKEN_OVER)
  }
}

/** What a look at a database before the first statement of its migrations found. */
interface Look {
  readonly record: MigrationRecord
  readonly pending: readonly PlannedMigration[]
  /** Names of pending migrations whose tables all stand there already, made by somebody else. */
  readonly toTakeOver: ReadonlySet<string>
  /** Why migrations may not run, with what to do; undefined if they may. */
  readonly objection: StartError | undefined
}

/**
 * Compares all pending migrations with everything that stands in the database, before the first statement: on MySQL a
 * statement that was run cannot be taken back. Nothing is made among tables that no migration made, and none of these is
 * altered, referred to or taken for one of ours, unless a person has named it. Reads, and writes nothing.
 */
export async function lookFirst(
  database: Database,
  planned: readonly PlannedMigration[],
  { own, ddl, allowed }: { readonly own: OwnTables; readonly ddl: Ddl; readonly allowed: Allowed }
): Promise<Look> {
  // In this order: where another process migrates just now, the record has a mark for each table that was seen.
  const present = await schemaOf(database).present()
  const inSchema = own.schema === undefined ? present : await schemaOf(database).present(own.schema)
  const record = await readRecord(database, own)
  const pending = planned.filter(({ name }) => !record.applied.has(name))
  const survey = new Survey({ database, own, ddl, allowed, present, inSchema, record })
  for (const migration of planned) if (record.applied.has(migration.name)) survey.applied(migration)
  for (const migration of pending) survey.pending(migration)
  return { record, pending, toTakeOver: survey.toTakeOver, objection: survey.objection() }
}

interface Surveyed {
  readonly database: Database
  readonly own: OwnTables
  readonly ddl: Ddl
  readonly allowed: Allowed
  /** What stands in the database of the rows. */
  readonly present: ReadonlyMap<string, PresentRelation>
  /** What stands in the database of the engine's tables, which may be the same. */
  readonly inSchema: ReadonlyMap<string, PresentRelation>
  readonly record: MigrationRecord
}

class Survey {
  readonly toTakeOver = new Set<string>()
  readonly #found: Surveyed
  /** Tables of the rows' database that migrations have made, or make before the step that is looked at. */
  readonly #made = new Set<string>()
  /** As `#made`, in the database of the engine's tables. */
  readonly #ownMade: Set<string>
  readonly #toMake = new Set<string>()
  readonly #ownToMake: Set<string>
  /** What forbids the migrations whatever is named. */
  readonly #hard: string[] = []
  /** What a person may allow by naming a table. */
  readonly #soft: string[] = []
  readonly #toName = new Set<string>()

  constructor(found: Surveyed) {
    this.#found = found
    const isApart = found.own.schema !== undefined
    this.#ownMade = isApart ? new Set() : this.#made
    this.#ownToMake = isApart ? new Set() : this.#toMake
    const record = `${found.own.prefix}${RECORD}`
    if (found.inSchema.has(record)) this.#ownMade.add(record)
    else this.#ownToMake.add(record)
  }

  applied({ name, steps }: PlannedMigration): void {
    for (const table of this.#ownTablesOf(name)) this.#ownMade.add(table)
    if (this.#found.record.takenOver.has(name)) return
    for (const one of steps) {
      if (!('step' in one)) continue
      const { step } = one
      const made = this.#isAudit(step.table) ? this.#ownMade : this.#made
      if (step.kind === 'createTable') made.add(step.table)
      if (step.kind === 'dropTable' || step.kind === 'renameTable') made.delete(step.table)
      if (step.kind === 'renameTable') made.add(step.to)
    }
  }

  pending(migration: PlannedMigration): void {
    const { name, steps } = migration
    this.#ownTables(name)
    if (this.#isTakenOver(migration)) return
    for (const one of steps) {
      if (!('step' in one)) {
        if (one.kind === 'sql') for (const text of statementsOfStep(one, this.#found.ddl)) this.#statement(name, text)
        continue
      }
      const { step } = one
      if (this.#isAudit(step.table)) continue
      if (step.kind === 'createTable') {
        this.#create(
          name,
          step.table,
          step.definition.columns.map((column) => column.name)
        )
        this.#refer(name, step.definition.foreignKeys)
        continue
      }
      this.#alter(name, step.table)
      if (step.kind === 'addColumns' || step.kind === 'addForeignKeys') this.#refer(name, step.foreignKeys)
      if (step.kind === 'dropTable' || step.kind === 'renameTable') this.#made.delete(step.table)
      if (step.kind === 'renameTable') this.#renameTo(name, step.to)
    }
  }

  objection(): StartError | undefined {
    const { own, database, inSchema, present } = this.#found
    const crowded = [
      this.#crowd(database.name, present, { made: this.#made, toMake: this.#toMake }),
      ...(own.schema === undefined
        ? []
        : [this.#crowd(own.schema, inSchema, { made: this.#ownMade, toMake: this.#ownToMake })])
    ].filter((one) => one !== undefined)
    const reasons = [...this.#hard, ...this.#soft, ...crowded.map(({ reason }) => reason)]
    if (reasons.length === 0) return undefined
    const flags = [
      ...crowded.map(({ name }) => amongTablesOf(name)),
      ...[...this.#toName].map((table) => `--may-alter ${shellWord(table)}`)
    ]
    const word =
      this.#hard.length > 0
        ? ''
        : `\nTo have it done all the same, say it by name:\n  uniform-rest migrate ${flags.join(' ')}`
    return new StartError(
      `migrations would touch what they did not make, and nothing was changed.${listed(reasons)}\n` +
        `\`uniform-rest migrate --dry-run\` prints every statement.${word}`
    )
  }

  /** Tables of others among which the first tables of ours would be made. */
  #crowd(
    name: string,
    present: Surveyed['present'],
    { made, toMake }: { readonly made: ReadonlySet<string>; readonly toMake: ReadonlySet<string> }
  ): { readonly name: string; readonly reason: string } | undefined {
    const others = [...present.keys()].filter((one) => !made.has(one))
    const isOurs = [...made].some((one) => present.has(one))
    const missing = [...toMake].filter((one) => !present.has(one))
    if (others.length === 0 || isOurs || missing.length === 0) return undefined
    if (this.#found.allowed.among.includes(name)) return undefined
    const count = others.length === 1 ? 'a table' : `${others.length} tables`
    return {
      name,
      reason:
        `the database ${name} holds ${count} of others (${toldNames(others)}), and ${missing.length} would be made among ` +
        `them: ${missing.join(', ')}`
    }
  }

  #ownTablesOf(migration: string): string[] {
    return ownTableNames()
      .filter((table) => OWN_TABLES[table].since === migration)
      .map((table) => `${this.#found.own.prefix}${table}`)
  }

  #isAudit(table: string): boolean {
    return table === `${this.#found.own.prefix}audit_entries`
  }

  #ownTables(migration: string): void {
    const { inSchema, record, own, ddl } = this.#found
    for (const table of ownTableNames().filter((one) => OWN_TABLES[one].since === migration)) {
      // An engine that knows no clusters has no guards.
      if (table === 'look_up_guards' && ddl.ownTables['033-look-up-guards'].length === 0) continue
      const name = `${own.prefix}${table}`
      const found = inSchema.get(name)
      this.#ownToMake.add(name)
      if (found === undefined) continue
      const { columns } = OWN_TABLES[table]
      const isShaped = found.kind === 'table' && columns.every((column) => found.columns.has(column))
      // Versions up to 0.2 did not mark what they began, and one of them may have been interrupted.
      if (isShaped && (record.begun.has(migration) || record.applied.size > 0)) {
        this.#ownMade.add(name)
        continue
      }
      this.#hard.push(
        `${migration} makes the table ${name} of the engine, and ${found.kind === 'view' ? 'a view' : 'another table'} of ` +
          'this name stands there. ' +
          (own.prefix === ''
            ? 'Give that one another name'
            : 'Name another beginning for the tables of the engine with ENGINE_TABLE_PREFIX, such as rest_')
      )
    }
  }

  /** Whether a migration describes tables that all stand there. Where some do and others do not, nobody knows what is meant. */
  #isTakenOver({ name, baseline, steps }: PlannedMigration): boolean {
    if (!baseline || this.#found.record.begun.has(name)) return false
    const tables = steps.flatMap((one) => ('step' in one && one.step.kind === 'createTable' ? [one.step] : []))
    const standing = tables.filter(({ table }) => this.#stands(table))
    if (standing.length === 0) return false
    const missing = tables.filter(({ table }) => !this.#stands(table)).map(({ table }) => table)
    for (const { table, definition } of standing) this.#requireColumns(name, table, partNames(definition.columns))
    if (missing.length > 0) {
      this.#hard.push(
        `the baseline ${name} describes tables that are there, and ${toldNames(missing)}, which ` +
          `${missing.length === 1 ? 'is' : 'are'} not: move what is to be made into a migration of its own`
      )
    }
    this.toTakeOver.add(name)
    return true
  }

  #create(migration: string, table: string, columns: readonly string[]): void {
    if (!this.#stands(table)) {
      this.#toMake.add(table)
      this.#made.add(table)
      return
    }
    const { record, present, allowed } = this.#found
    if (present.get(table)?.kind === 'view') {
      this.#hard.push(`${migration} makes the table ${table}, and a view of this name stands there`)
      return
    }
    if (!this.#requireColumns(migration, table, columns)) return
    if (!record.begun.has(migration) && !allowed.mayAlter.includes(table)) {
      this.#name(
        table,
        `${migration} makes the table ${table}, which stands there already. If the migration describes tables that are ` +
          'there, give it `baseline: true`, and it is recorded without a statement. If the table is what an earlier ' +
          'version left when it was interrupted, name it'
      )
    }
    this.#made.add(table)
  }

  #alter(migration: string, table: string): void {
    if (!this.#stands(table) || this.#isNamed(table)) return
    this.#name(table, `${migration} alters the table ${table}, which no migration made`)
  }

  #refer(migration: string, foreignKeys: readonly ForeignKey[]): void {
    for (const { to, name } of foreignKeys) {
      if (!this.#stands(to) || this.#isNamed(to)) continue
      this.#name(to, `${migration} makes the foreign key ${name} to the table ${to}, which no migration made`)
    }
  }

  #renameTo(migration: string, to: string): void {
    const isBegun = this.#found.record.begun.has(migration)
    if (this.#stands(to) && !isBegun) this.#hard.push(`${migration} gives a table the name ${to}, which another has`)
    this.#made.add(to)
  }

  /** A statement of an application's own, as far as its text shows which tables it makes and alters. */
  #statement(migration: string, text: string): void {
    for (const { table, makes } of tablesIn(text)) {
      if (makes && !this.#stands(table)) {
        this.#toMake.add(table)
        this.#made.add(table)
      } else if (this.#stands(table) && !this.#isNamed(table) && !this.#found.record.begun.has(migration)) {
        this.#name(table, `${migration} runs \`${onOneLine(text)}\`, and no migration made the table ${table}`)
      }
    }
  }

  #stands(table: string): boolean {
    return this.#found.present.has(table) && !this.#made.has(table)
  }

  #isNamed(table: string): boolean {
    return this.#found.allowed.mayAlter.includes(table)
  }

  #name(table: string, reason: string): void {
    this.#soft.push(reason)
    this.#toName.add(table)
  }

  #requireColumns(migration: string, table: string, columns: readonly string[]): boolean {
    const found = this.#found.present.get(table)
    const missing = columns.filter((column) => found?.columns.has(column) !== true)
    if (missing.length === 0) return true
    this.#hard.push(
      `${migration} makes the table ${table} with ${toldNames(missing)}, and the one that stands there has no such column`
    )
    return false
  }
}

const NO_NAME = new Set(['IF', 'NOT', 'EXISTS'])

/** The tables that the text of DDL statements names, and whether it makes them. A table may be named with its database. */
function tablesIn(text: string): { readonly table: string; readonly makes: boolean }[] {
  const words = text.match(/`[^`]*`|"[^"]*"|[\p{L}\p{N}_$]+|\S/gu) ?? []
  const nameAt = (at: number): string => {
    let place = at
    while (NO_NAME.has((words[place] ?? '').toUpperCase())) place++
    return (words[place + 1] === '.' ? words[place + 2] : words[place])?.replaceAll(/[`"]/g, '') ?? ''
  }
  const found: { readonly table: string; readonly makes: boolean }[] = []
  let verb = ''
  words.forEach((one, at) => {
    const word = one.toUpperCase()
    if (one === ';') verb = ''
    else if (verb === '' && ['CREATE', 'ALTER', 'DROP', 'TRUNCATE', 'RENAME'].includes(word)) verb = word
    // `CREATE INDEX … ON products`, `CREATE TRIGGER … ON products`.
    else if (verb === 'CREATE' || verb === 'DROP') {
      if (word === 'TABLE') {
        found.push({ table: nameAt(at + 1), makes: verb === 'CREATE' })
        verb = 'inside'
      } else if (word === 'ON') {
        found.push({ table: nameAt(at + 1), makes: false })
        verb = 'inside'
      }
    } else if (verb !== '' && verb !== 'inside' && word === 'TABLE') {
      found.push({ table: nameAt(at + 1), makes: false })
      verb = 'inside'
    } else if (word === 'REFERENCES') found.push({ table: nameAt(at + 1), makes: false })
  })
  return found
}

/** So many names are told, and the number of the others. */
const NAMES_TOLD = 10

function toldNames(names: readonly string[]): string {
  const more = names.length - NAMES_TOLD
  return more > 1 ? `${names.slice(0, NAMES_TOLD).join(', ')} and ${more} more` : names.join(', ')
}

const LONGEST_TEXT = 80

function onOneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line
}

/** The flag of `uniform-rest migrate` that lets it make tables in a database that holds tables of others, for a shell. */
export function amongTablesOf(database: string): string {
  return `--among-tables-of ${shellWord(database)}`
}
