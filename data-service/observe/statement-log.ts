import { type Logger, unredacted } from '../../shared/logger.js'

/** The values that are bound to the placeholders of a text, in their order or by name. */
export type StatementValues = readonly unknown[] | Readonly<Record<string, unknown>>

/** A statement that has ended. */
export interface EndedStatement {
  readonly sql: string
  readonly values: StatementValues | undefined
  /** How many rows it read or changed; undefined for one that does neither, and for one that failed. */
  readonly rows: number | undefined
  readonly durationMs: number
  /** Of the calls that it was run for; none for a statement of the engine itself. */
  readonly requestIds: readonly string[]
  /** Of the driver's error. */
  readonly code: string | undefined
}

/** Is called with each statement that has ended. */
export type StatementLog = (statement: EndedStatement) => void

/**
 * Logs a line for each statement that has ended (LOG_SQL, docs/operations.md). A line has no value: of the parameters it has
 * the types, and of an error the code, because a driver's message may repeat a value. undefined if the level of the log
 * leaves the lines out.
 */
export function statementLog(log: Logger): StatementLog | undefined {
  if (!log.isLevelEnabled('info')) return undefined
  const lines = unredacted(log)
  return ({ sql, values, rows, durationMs, requestIds, code }) => {
    const [requestId, ...others] = requestIds
    // Members that are undefined are not written.
    lines.info(
      {
        ...(others.length === 0 ? { requestId } : { requestIds }),
        rows,
        durationMs: Math.round(durationMs * 1000) / 1000,
        code,
        sql,
        parameters: typesOf(Object.values(values ?? []))
      },
      'sql'
    )
  }
}

/** The types in their order. Equal ones in a row are one member: `integer*64`. undefined for a statement without parameters. */
function typesOf(values: readonly unknown[]): string[] | undefined {
  if (values.length === 0) return undefined
  const runs: { readonly type: string; count: number }[] = []
  for (const value of values) {
    const type = loggedType(value)
    const last = runs.at(-1)
    if (last?.type === type) last.count += 1
    else runs.push({ type, count: 1 })
  }
  return runs.map(({ type, count }) => (count === 1 ? type : `${type}*${count}`))
}

function loggedType(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Date) return 'time'
  switch (typeof value) {
    case 'string':
      return 'text'
    case 'bigint':
      return 'integer'
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'double'
    default:
      return typeof value
  }
}
