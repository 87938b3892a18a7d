import type { Transaction } from 'sequelize'
import { messageOf, StartError } from '../../shared/start-error.js'
import type { Ddl } from '../model/schema-tools.js'
import type { OwnTablesMigration } from '../../data-service/sql/engines/own-tables.js'
import type { EngineName } from '../../data-service/sql/engines/engine-name.js'
import { applyStep, type Schema, type TableChange, type TableStep } from '../model/tables.js'

/**
 * A change of the schema, forward only. Its name is never changed or reused once it is released, and neither are its steps:
 * what comes later is another migration. Some databases commit every DDL statement by itself, so an interrupted migration
 * runs again from its start. The steps of builders.ts leave out what is done; `sql` and `run` must be repeatable.
 */
export interface Migration {
  readonly name: string
  readonly steps: readonly Step[]
  /**
   * Says that the tables which it makes may stand in a database already, made by somebody else. Where all of them do, the
   * migration is recorded and none of its statements runs; where none of them does, it runs like any other.
   */
  readonly baseline?: boolean
}

/** A step is data, so that the schema after it is known without a database. */
export type Step = TableStep | SqlStep | RunStep | EngineTablesStep

interface SqlStep {
  readonly kind: 'sql'
  readonly statements: Readonly<Record<EngineName, string | readonly string[]>>
  /** The steps that amount to the same. */
  readonly leaves: readonly Step[]
}

interface RunStep {
  readonly kind: 'run'
  readonly description: string
  readonly work: (database: MigrationDatabase) => Promise<void>
}

/** Tables of the engine that belong to no entity; each engine holds the statements. */
interface EngineTablesStep {
  readonly kind: 'engineTables'
  readonly name: OwnTablesMigration
}

/** The database of a step. If DDL can be rolled back, all pending migrations share one transaction. */
export interface MigrationDatabase {
  /** The kind of database: a member of what `sql` takes. */
  readonly engine: string
  readonly transaction: Transaction
  run(statement: string): Promise<void>
  /** The rows of a SELECT, for a migration that depends on existing data. */
  select(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** A migration whose steps know the tables that they change. */
export interface PlannedMigration {
  readonly name: string
  readonly baseline: boolean
  readonly steps: readonly PlannedStep[]
}

export type PlannedStep =
  | TableChange
  | RunStep
  | EngineTablesStep
  | (Omit<SqlStep, 'leaves'> & { readonly leaves: readonly PlannedStep[] })

/** The tables that the migrations make, without those of `engineTables` and of `sql` that does not say what it leaves. */
export function schemaAfter(migrations: readonly Migration[]): Schema {
  return plan(migrations).schema
}

/** Throws a StartError that names the migration and the step that does not fit those before it. */
export function plan(migrations: readonly Migration[]): {
  readonly planned: PlannedMigration[]
  readonly schema: Schema
} {
  let schema: Schema = new Map()
  const aliases = new Map<string, string>()
  const planned = migrations.map(({ name, steps, baseline = false }) => {
    const planStep = (step: Step): PlannedStep => {
      switch (step.kind) {
        case 'sql':
          return { ...step, leaves: step.leaves.map(planStep) }
        case 'run':
        case 'engineTables':
          return step
        default: {
          if (step.kind === 'createTable' && step.alias !== undefined) aliases.set(step.alias, step.table)
          const table = schema.has(step.table) ? step.table : (aliases.get(step.table) ?? step.table)
          const named = step.kind === 'createTable' ? step : { ...step, table }
          const before = schema.get(named.table)
          schema = applyStep(schema, named)
          return { step: named, before, after: schema.get(named.kind === 'renameTable' ? named.to : named.table) }
        }
      }
    }
    try {
      return { name, baseline, steps: steps.map(planStep) }
    } catch (error) {
      throw new StartError(`the migration ${name} does not fit those before it: ${messageOf(error)}.`, { cause: error })
    }
  })
  return { planned, schema }
}

/** The texts of a step, as they are for a database that has had the steps before it. */
export function statementsOfStep(step: PlannedStep, ddl: Ddl): readonly string[] {
  if ('step' in step) return ddl.statements(step)
  switch (step.kind) {
    case 'sql':
      return statementsFor(step.statements, ddl.engine)
    case 'run':
      return [`-- ${step.description}`]
    case 'engineTables':
      return ddl.ownTables[step.name]
  }
}

function statementsFor(statements: Readonly<Record<string, string | readonly string[]>>, engine: string) {
  return [statements[engine] ?? []].flat()
}

/** The statements of each migration on one kind of database that has had none of them. */
export function statementsOfAll(migrations: readonly Migration[], ddl: Ddl): ReadonlyMap<string, readonly string[]> {
  const { planned } = plan(migrations)
  return new Map(planned.map(({ name, steps }) => [name, steps.flatMap((step) => statementsOfStep(step, ddl))]))
}
