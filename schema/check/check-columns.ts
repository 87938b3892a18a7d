import type { Column } from '../../data-service/entity/entity.js'
import { suggestion } from '../../data-service/entity/fields/names.js'
import { ROW_VERSION_COLUMN } from '../../data-service/entity/fields/row-version.js'
import type { LiveColumn, LiveTable, LiveTrigger } from '../model/live-schema.js'
import type { Misfit, SchemaChecks, VersionedTable, VersionTrigger } from '../model/schema-checks.js'

/** A sentence that says what differs and what to do, and the statements that would mend it in the database. */
export interface Finding {
  readonly text: string
  readonly statements: readonly string[]
  /** The resource whose entity file it is about; only mistakes have one. */
  readonly resource?: string
  /** Of a warning: requests only take longer, or texts are compared in another way. A start counts these and names all others. */
  readonly isMild?: boolean
  /** What other tables have in common with it, and what this one adds: many of the same are told as one. */
  readonly alike?: { readonly what: string; readonly one: string }
}

/** From this many on, findings that are alike are told as one. A database often has one collation for all of its tables. */
const MANY = 4

/** What is known of the triggers by which other programs advance the versions of rows of one table. */
export interface TriggerFinding extends Finding {
  /** False where both triggers are there, and where there is none: that is right for a table that only the service writes. */
  readonly isWarning: boolean
}

/** The findings for people to read, those that are alike as one. */
export function summarized(findings: readonly Finding[]): readonly Finding[] {
  const groups = new Map<string, Finding[]>()
  for (const one of findings) {
    const group = one.alike?.what ?? one.text
    groups.set(group, [...(groups.get(group) ?? []), one])
  }
  return [...groups].flatMap(([what, all]) => {
    if (all.length < MANY) return all
    const text = `${what}: ${all.map(({ alike }) => alike?.one).join('; ')}`
    return [{ text, statements: all.flatMap(({ statements }) => statements) }]
  })
}

/** What a check has found so far. */
export class Findings {
  readonly mistakes: Finding[] = []
  readonly warnings: Finding[] = []
  /** Whether other programs advance the versions of rows: one for each table with versions. */
  readonly triggers: TriggerFinding[] = []
  /** The resource that is looked at. */
  resource = ''

  mistake(text: string, statements: readonly string[] = []): void {
    this.mistakes.push({ text, statements, resource: this.resource })
  }

  warning(text: string, statements: readonly string[] = []): void {
    this.warnings.push({ text, statements })
  }

  mild(text: string, statements: readonly string[], alike?: Finding['alike']): void {
    this.warnings.push({ text, statements, isMild: true, ...(alike === undefined ? {} : { alike }) })
  }
}

/** What one entity file says of one table. */
export interface CheckedTable {
  /** `films`, or `films.actors` for children. */
  readonly owner: string
  readonly table: string
  readonly columns: readonly Column[]
  readonly key: readonly Column[]
  readonly versionColumn: string | undefined
  /** Whether any write of the service may touch its rows. */
  readonly isWritten: boolean
  /** Whether requests create its rows. */
  readonly isCreated: boolean
  /** The properties whose texts are compared: those that requests filter, sort or search by, and keys. */
  readonly compared: ReadonlySet<string>
}

interface ColumnPair {
  readonly column: Column
  readonly live: LiveColumn
  /** Whether statements of the service set the column. */
  readonly isSet: boolean
}

/** Compares the columns of one table with the fields of one entity, or of its children. */
export class ColumnChecking {
  readonly #checked: CheckedTable
  readonly #table: LiveTable
  readonly #checks: SchemaChecks
  readonly #findings: Findings

  constructor(
    checked: CheckedTable,
    table: LiveTable,
    { checks, findings }: { readonly checks: SchemaChecks; readonly findings: Findings }
  ) {
    this.#checked = checked
    this.#table = table
    this.#checks = checks
    this.#findings = findings
  }

  run(): void {
    const { columns, versionColumn, isCreated, isWritten } = this.#checked
    if (isWritten) this.#transactions()
    for (const column of columns) {
      const live = columnIn(this.#table, column.column)
      if (live === undefined) this.#missingColumn(column)
      else this.#column(column, live)
    }
    if (versionColumn !== undefined && this.#table.kind === 'table') this.#version(versionColumn)
    if (isCreated) this.#unfilled()
  }

  #transactions(): void {
    const { name, withoutTransactions } = this.#table
    if (withoutTransactions === undefined) return
    const statement = this.#checks.mend.changeEngine(name)
    this.#findings.mistake(
      `${this.#checked.owner}: the table ${name} is kept by ${withoutTransactions}, which has no transactions: of a write that ` +
        `fails a part could stay. Change that, ${statement ?? ''}; or say rowVersion: 'none', and leave out writes and actions`,
      statementsOf(statement)
    )
  }

  #missingColumn({ name, column }: Column): void {
    const { owner, table } = this.#checked
    const near = suggestion(
      column,
      this.#table.columns.map((one) => one.name)
    )
    const word = near === '' ? '' : ` column('…', …) names another.${near}`
    this.#findings.mistake(
      `${owner}: the table ${table} has no column ${column} for \`${name}\`; a new migration must add it.${word}`
    )
  }

  #column(column: Column, live: LiveColumn): void {
    const { name, field } = column
    const place = `${this.#checked.owner}: ${this.#table.name}.${live.name}`
    const isSet = this.#checked.isWritten && field.writability !== 'generated' && this.#table.kind === 'table'
    const misfit = this.#checks.misfit(field, live)
    if (misfit !== undefined && (misfit.harms === 'reads' || isSet)) {
      this.#misfit(`${place} is ${live.nativeType}, and ${misfit.why}.`, { name, live, misfit })
    }
    this.#nulls(place, { column, live, isSet })
    if (isSet && live.generated !== undefined) {
      this.#findings.mistake(
        `${place} is computed by the database, and nobody else can set it. Say generated(…) of \`${name}\``
      )
    }
    this.#default(place, { column, live, isSet })
  }

  #misfit(
    begin: string,
    { name, live, misfit }: { readonly name: string; readonly live: LiveColumn; readonly misfit: Misfit }
  ): void {
    const { word, columnType, harms } = misfit
    const change = columnType && this.#checks.mend.changeColumn(this.#table.name, live, { type: columnType })
    const says =
      word === undefined ? 'No word of entity files reads it: leave the field out' : `Say ${word} of \`${name}\``
    const alter = change === undefined ? '' : ', or widen the column'
    const view = harms === 'writes' ? '' : ', or make a view that converts it'
    this.#findings.mistake(`${begin} ${says}${alter}${view}`, statementsOf(change))
  }

  #nulls(place: string, { column, live, isSet }: ColumnPair): void {
    const { name, field } = column
    const change = (nullable: boolean): string[] =>
      statementsOf(this.#checks.mend.changeColumn(this.#table.name, live, { nullable }))
    // SQLite says of a primary key that it may be NULL, unless the table forbids it expressly.
    const isKey = this.#table.primaryKey.includes(live.name)
    if (live.nullable && !isKey && !field.nullable && this.#checks.knowsNulls(this.#table)) {
      const text = `${place} may be NULL, and \`${name}\` never is: rows would be missing from pages. Say optional(…)`
      if (this.#table.kind === 'view') this.#findings.warning(`${text} if it is null in some row`)
      else this.#findings.mistake(`${text}, or make the column NOT NULL`, change(false))
    }
    if (!live.nullable && field.nullable && isSet && !live.autoIncrement) {
      this.#findings.mistake(
        `${place} is NOT NULL, and \`${name}\` is optional(…): a null could not be stored. Leave out that word`,
        change(true)
      )
    }
  }

  /** What a row gets in a column that a statement does not name. */
  #default(place: string, { column, live, isSet }: ColumnPair): void {
    const { name, field } = column
    const isFilled = live.default !== undefined || live.autoIncrement || live.nullable || live.generated !== undefined
    const leavesOut = field.filledByDatabase || field.writability === 'generated'
    if (
      leavesOut &&
      this.#checked.isCreated &&
      !isFilled &&
      !isFilledByTrigger(this.#checked, this.#table, this.#checks)
    ) {
      const word = field.filledByDatabase ? 'filledByDatabase(…)' : 'generated(…)'
      this.#findings.mistake(
        `${place} has no default, and \`${name}\` is ${word}: a create would fail. Leave out that word`
      )
      return
    }
    const isReset = isSet && field.filledByDatabase && field.writability === 'always' && !field.nullable
    if (isReset && live.default === undefined) {
      this.#findings.mistake(
        `${place} has no default that a PUT could set it to. Say onCreate(…) within filledByDatabase(…), or leave it out`
      )
    }
  }

  /** Columns that no field names and that a create would have to fill. */
  #unfilled(): void {
    const { owner, columns, versionColumn } = this.#checked
    const table = this.#table
    if (table.kind === 'view') return
    const named = new Set([...columns.map(({ column }) => column), versionColumn ?? ''].map((one) => one.toLowerCase()))
    for (const live of table.columns) {
      const { name, nullable, autoIncrement, generated } = live
      if (named.has(name.toLowerCase()) || nullable || autoIncrement || generated !== undefined) continue
      if (live.default !== undefined || isFilledByTrigger(this.#checked, this.#table, this.#checks)) continue
      this.#findings.mistake(
        `${owner}: ${table.name}.${name} is NOT NULL without a default, and no field names it: a create would fail. ` +
          'Name it in a field, or leave out `create`',
        statementsOf(this.#checks.mend.changeColumn(table.name, live, { nullable: true }))
      )
    }
  }

  #version(column: string): void {
    const { owner, isWritten, key } = this.#checked
    const table = this.#table
    const of: VersionedTable = { table: table.name, column, key: keyOf(table, key) }
    const live = columnIn(table, column)
    const add = (one: string): string => this.#checks.mend.addVersion({ ...of, column: one })
    if (live === undefined) {
      this.#findings.mistake(
        `${owner}: the table ${table.name} has no column ${column} for the version of rows; a new migration must add it, or ` +
          `${add(column)}. For a table that may not be altered say rowVersion: 'content', or rowVersion: 'none' without \`update\` and actions`,
        [add(column)]
      )
      if (isWritten) this.#versionTriggers(of)
      return
    }
    if (!this.#checks.holdsVersions(live)) {
      const other = columnIn(table, 'row_version') === undefined ? 'row_version' : 'uniform_row_version'
      this.#findings.mistake(
        `${owner}: ${table.name}.${column} is ${live.nativeType}, and a row version is always 8 bytes that the service makes: ` +
          'a counter or a timestamp that exists could repeat, and a stale tag would pass. Add a column for it, ' +
          `${add(other)}, and name it by rowVersionColumn; or say rowVersion: 'none'`,
        [add(other)]
      )
      return
    }
    if (live.nullable) {
      this.#findings.mistake(
        `${owner}: ${table.name}.${column} may be NULL, and a row without a version could never be changed. Make it NOT NULL`,
        statementsOf(this.#checks.mend.changeColumn(table.name, live, { nullable: false }))
      )
    }
    if (isWritten) this.#versionTriggers(of)
    this.#versionTriggers(of)
  }

  #versionTriggers(of: VersionedTable): void {
    const table = this.#table
    // One table may be that of an entity and of children.
    if (this.#findings.triggers.some(({ text }) => text.startsWith(`${table.name}:`))) return
    const ours = this.#checks.mend.versionTriggers(of)
    const missing = ours.filter((one) => !table.triggers.some((live) => isSameTrigger(live, one)))
    const isSeen = table.triggers.every(({ body }) => body !== undefined)
    // A table with one of the two triggers lacks the other, and what the account may not read may be either.
    const isWarning = missing.length > 0 && (missing.length < ours.length || !isSeen)
    const what =
      missing.length === 0
        ? 'other programs advance the version of the rows that they write, by triggers'
        : 'no trigger that this account may see advances the version of rows that other programs ' +
          `${missing.map(({ event }) => event).join(' and ')}${isSeen ? '' : ' (there are some that it may not read)'}. ` +
          'Does another program write the table? If not, nothing is to be done. If so, `uniform-rest check --sql` prints ' +
          'the triggers (docs/other-writers.md)'
    const statements = missing.map(({ statement }) => statement)
    this.#findings.triggers.push({
      text: `${table.name}: ${what}`,
      statements,
      alike: { what, one: table.name },
      isWarning
    })
  }
}

/** Databases take names of columns without their case. */
export function columnIn({ columns }: LiveTable, name: string): LiveColumn | undefined {
  return columns.find((one) => one.name.toLowerCase() === name.toLowerCase())
}

export function keyOf({ primaryKey }: LiveTable, key: readonly Column[]): readonly string[] {
  return primaryKey.length > 0 ? primaryKey : key.map(({ column }) => column)
}

/**
 * Whether a trigger may fill columns of new rows: which ones, the catalogue does not say. The trigger that gives new rows
 * their version fills no other column.
 */
export function isFilledByTrigger(
  { versionColumn, key }: CheckedTable,
  table: LiveTable,
  { mend }: SchemaChecks
): boolean {
  const column = versionColumn ?? ROW_VERSION_COLUMN
  const ofVersions = mend.versionTriggers({ table: table.name, column, key: keyOf(table, key) })
  return table.triggers.some((one) => one.event === 'insert' && !ofVersions.some((ours) => isSameTrigger(one, ours)))
}

/** A trigger whose body this account may not see is the same as none. */
function isSameTrigger({ event, body }: LiveTrigger, ours: VersionTrigger): boolean {
  return event === ours.event && body !== undefined && normalized(ours.statement).endsWith(normalized(body))
}

export function statementsOf(statement: string | undefined): string[] {
  return statement === undefined ? [] : [statement]
}

/** The text of a trigger as servers and people may write it: without regard to white space, case and quotes of names. */
function normalized(text: string): string {
  return text.replace(/[\s`;]+/g, '').toLowerCase()
}
