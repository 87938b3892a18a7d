import { definitionWords, wordMistakes } from './fields/definition-words.js'
import type { Column } from './fields/columns.js'
import type { Field } from './fields/field.js'
import type { RowOf } from './fields/rows.js'
import { columnOf } from './resolve-columns.js'

/** A stored procedure of the primary database, as an operation calls it. */
interface ProcedureDefinition {
  /**
   * Its parameters in their order, all of the mode IN. `column('…')` says the name of one whose own name is not the property's
   * in snake_case.
   */
  readonly parameters?: Readonly<Record<string, Field>>
  /** What its one SELECT answers, in order. Without `columns` it answers no rows. */
  readonly columns?: Readonly<Record<string, Field>>
}

/** The procedures that an operation calls, by their names in the database. */
export type Procedures = Readonly<Record<string, ProcedureDefinition>>

/** Calls a procedure that the operation declares, and answers the rows of its SELECT. */
export type CallProcedure<X> = <const N extends keyof X & string>(
  name: N,
  parameters: X[N] extends { readonly parameters: infer P } ? RowOf<P> : Readonly<Record<string, never>>
) => Promise<X[N] extends { readonly columns: infer C } ? readonly RowOf<C>[] : void>

/** A procedure as the service works with it. The `column` of a parameter is its name in the database. */
export interface Procedure {
  readonly name: string
  readonly parameters: readonly Column[]
  /** Empty for a procedure that answers no rows. */
  readonly columns: readonly Column[]
}

const PROCEDURE = definitionWords<ProcedureDefinition>({ parameters: 'object', columns: 'object' })

export function resolveProcedures(procedures: Procedures): Procedure[] {
  return Object.entries(procedures).map(([name, { parameters = {}, columns = {} }]) => ({
    name,
    parameters: Object.entries(parameters).map(([property, field]) => columnOf(property, field)),
    columns: Object.entries(columns).map(([property, field]) => columnOf(property, field))
  }))
}

/** Words that nothing would read. */
export function procedureWordMistakes(procedures: Procedures): string[] {
  return Object.entries(procedures).flatMap(([name, one]) => wordMistakes(`procedures.${name}`, one, PROCEDURE))
}
