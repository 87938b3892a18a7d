import { columnOfTable, type Table, type TableChange, type TableColumn, type TableIndex } from '../model/tables.js'
import type { PlannedMigration, PlannedStep } from './migration.js'
import { becomesWords, typeChange, typeText } from './type-change.js'

/** What migrations mean for data services of the version before, which serve beside the new ones during a rolling upgrade. */
export interface RollingUpgrade {
  /**
   * `safe`: the migrations only add. `unsafe`: a step takes away or restricts something that the version before may use.
   * `unknown`: nothing of that, and some step runs statements or code of the application.
   */
  readonly verdict: 'safe' | 'unsafe' | 'unknown'
  /** What is not safe, `004-drop-title: drops the column cards.title`. */
  readonly unsafe: readonly string[]
  /** What nobody but a reader of the migration can judge, in the same form. */
  readonly unknown: readonly string[]
}

/**
 * Judges migrations that are about to run by their steps alone. Whether the version before uses a column or a table is not
 * known here, so that whatever is taken from it is `unsafe`. Tables that one of these migrations makes are used by no
 * version before.
 */
export function rollingUpgrade(pending: readonly PlannedMigration[]): RollingUpgrade {
  const judge = new Judge()
  for (const { name, steps } of pending) for (const step of steps) judge.step(name, step)
  const { unsafe, unknown } = judge
  return { verdict: unsafe.length > 0 ? 'unsafe' : unknown.length > 0 ? 'unknown' : 'safe', unsafe, unknown }
}

class Judge {
  readonly unsafe: string[] = []
  readonly unknown: string[] = []
  readonly #newTables = new Set<string>()

  step(migration: string, step: PlannedStep): void {
    if ('step' in step) {
      for (const text of this.#ofTable(step)) this.unsafe.push(`${migration}: ${text}`)
      for (const text of limits(step)) this.unknown.push(`${migration}: ${text}`)
    } else if (step.kind === 'run') this.unknown.push(`${migration}: ${step.description}`)
    else if (step.kind === 'sql') {
      if (step.leaves.length === 0) this.unknown.push(`${migration}: statements that do not say what they leave`)
      for (const one of step.leaves) this.step(migration, one)
    }
    // What remains are the engine's own tables, whose migrations only add from one version to the next.
  }

  #ofTable(change: TableChange): readonly string[] {
    const { step } = change
    if (step.kind === 'createTable') this.#newTables.add(step.table)
    if (this.#newTables.has(step.table)) {
      if (step.kind === 'renameTable') this.#newTables.add(step.to)
      return []
    }
    return restrictions(change)
  }
}

/** A column of text that takes words alone is read as before. Only a reader knows whether the version before writes others. */
function limits({ step, before }: TableChange): readonly string[] {
  if (step.kind !== 'alterColumn' || before === undefined || step.column.type.kind !== 'enum') return []
  if (!becomesWords(columnOfTable(before, step.column.name).type, step.column.type)) return []
  const words = step.column.type.words.join(', ')
  return [`${step.table}.${step.column.name} takes nothing but ${words}: safe if the version before writes no others`]
}

/** What a step takes from those who use the table as it was, a phrase each. */
function restrictions({ step, before }: TableChange): readonly string[] {
  switch (step.kind) {
    case 'createTable':
      return []
    case 'dropTable':
      return [`drops the table ${step.table}`]
    case 'renameTable':
      return [`renames the table ${step.table} to ${step.to}`]
    case 'renameColumn':
      return [`renames the column ${step.table}.${step.from} to ${step.to}`]
    case 'dropColumns':
      return step.columns.map((column) => `drops the column ${step.table}.${column}`)
    case 'addColumns': {
      const nullable = new Set(step.columns.filter((one) => one.nullable).map(({ name }) => name))
      const isFree = ({ keys }: TableIndex): boolean => keys.some(({ column }) => nullable.has(column))
      const bound = step.foreignKeys.filter(({ columns }) => !columns.some((one) => nullable.has(one)))
      return [
        ...step.columns
          .filter(({ type }) => type.kind === 'rowVersion')
          .map(() => `gives the rows of ${step.table} a version, which the version before does not change with them`),
        ...uniqueOf(step.indexes.filter((index) => !isFree(index))),
        ...bound.map(({ name }) => `adds the foreign key ${name}`)
      ]
    }
    case 'alterColumn':
      return before === undefined ? [] : alterations(before, step.column)
    case 'addIndexes':
      return uniqueOf(step.indexes)
    // Statements may name an index, and a start requires those of what is sortable.
    case 'dropIndexes':
      return step.indexes.map((name) => `drops the index ${name} of ${step.table}`)
    case 'addForeignKeys':
      return step.foreignKeys.map(({ name }) => `adds the foreign key ${name}`)
    case 'dropForeignKeys':
      return step.foreignKeys.map((name) => `drops the foreign key ${name} of ${step.table}`)
  }
}

function uniqueOf(indexes: readonly TableIndex[]): string[] {
  return indexes.filter(({ unique }) => unique).map(({ name }) => `adds the unique index ${name}`)
}

function alterations(before: Table, altered: TableColumn): string[] {
  const column = before.columns.find(({ name }) => name === altered.name)
  if (column === undefined) return []
  const name = `${before.name}.${altered.name}`
  const change = typeChange(column.type, altered.type)
  const isReadable = change === 'same' || isLonger(column, altered) || becomesWords(column.type, altered.type)
  const [old, now] = [typeText({ ...column, nullable: false }), typeText({ ...altered, nullable: false })]
  return [
    ...(isReadable ? [] : [`changes the type of ${name} from ${old} to ${now}`]),
    ...(column.nullable && !altered.nullable ? [`forbids null in ${name}`] : []),
    ...(!column.nullable && altered.nullable ? [`allows null in ${name}`] : [])
  ]
}

/** Longer texts and bytes are read as the shorter ones were. Of other types a reader may have no room for new values. */
function isLonger({ type: before }: TableColumn, { type: after }: TableColumn): boolean {
  const kinds = ['varchar', 'text', 'varbinary']
  return kinds.includes(before.kind) && kinds.includes(after.kind) && typeChange(before, after) === 'wider'
}
