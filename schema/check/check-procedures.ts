import type { Operation } from '../../data-service/entity/define-operation.js'
import type { Procedure } from '../../data-service/entity/procedure.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import { schemaOf } from '../kinds/kinds.js'
import type { LiveProcedures } from '../model/live-schema.js'

/** What is wrong with the procedures that operations call, a sentence each: they are not there, or not as they are declared. */
export async function procedureMistakes(database: Database, operations: readonly Operation[] = []): Promise<string[]> {
  const called = operations.flatMap(({ name: operation, procedures }) => procedures.map((one) => ({ operation, one })))
  if (called.length === 0) return []
  const live = await schemaOf(database).procedures(called.map(({ one }) => one.name))
  return called.flatMap(({ operation, one }) =>
    mistakesOf(one, live).map((mistake) => `operation \`${operation}\`: ${mistake}`)
  )
}

function mistakesOf({ name, parameters }: Procedure, live: LiveProcedures | undefined): string[] {
  if (live === undefined)
    return [
      `the procedure \`${name}\` cannot be called: this kind of database has no procedures. DATABASE_URL must name a database server.`
    ]
  const found = live.found.find((one) => one.name.toLowerCase() === name.toLowerCase())
  if (found === undefined) {
    return [`there is no procedure \`${name}\` that the account may call. Make it, or run: ${live.grantOf(name)}`]
  }
  const mistakes = found.mayCall
    ? []
    : [`the account may not call the procedure \`${name}\`. Run: ${live.grantOf(name)}`]
  for (const { mode, column } of found.parameters.filter((one) => one.mode !== 'IN'))
    mistakes.push(
      `\`${column.name}\` of the procedure \`${name}\` is ${mode}. Only IN is served: SELECT what it gives.`
    )
  const [declared, there] = [parameters.map((one) => one.column), found.parameters.map(({ column }) => column.name)]
  if (declared.join().toLowerCase() !== there.join().toLowerCase())
    mistakes.push(
      `the procedure \`${name}\` takes (${there.join(', ')}), and \`parameters\` says (${declared.join(', ')}).`
    )
  return mistakes
}
