import { DomainError, rejectionAt } from '../../shared/errors.js'
import { MAX_BATCH, MAX_IMPORT_ROWS } from '../../shared/request-limits.js'
import { countValues, MAX_BODY_VALUES } from '../../shared/transport/json-bounds.js'
import { checkBodyLength } from '../../shared/transport/wire.js'
import type { Column } from '../entity/fields/columns.js'
import type { JsonValue } from '../entity/fields/json-values.js'
import { requireImports } from './authorize.js'
import { type Resource, uniqueColumn } from './model/catalogue.js'
import { parseJson } from './parsing/json-body.js'
import { BodyFindings, type Violations } from './parsing/violations.js'
import type { PlanningContext } from './planning.js'
import {
  authorizeOperation,
  type BodyParams,
  parseBody,
  type ParsedRow,
  type ParsedWrite,
  rowReader
} from './write-requests.js'

// Reads a part of an import. Each row is checked as the body of a create, so that a wrong row does not stop the others.

/** What the calls of an import say. */
interface ImportParams extends Omit<BodyParams, 'body' | 'dryRun' | 'by'> {
  readonly rows: readonly Uint8Array[]
  readonly firstRow: number
  readonly onError?: string
  readonly by?: string
}

/** A row, or why it can not be created. */
export type ImportedRow = ParsedRow | DomainError

export interface ParsedImport extends Omit<ParsedWrite, 'values'> {
  readonly rows: readonly ImportedRow[]
  readonly firstRow: number
  readonly onError: keyof typeof MAX_IMPORT_ROWS
  /** The column whose values tell which rows are there already. */
  readonly by: Column | undefined
  /** Reads a row of an earlier part. Throws what is wrong with it. */
  readonly readRow: (json: JsonValue) => ParsedRow
}

/** The most names of ignored members that an answer has. */
const MAX_NAMES = 50

export function parseImport(params: ImportParams, context: PlanningContext): ParsedImport {
  const { rows: sent, firstRow, onError = 'stop', by: named, ...others } = params
  const whole = { ...others, body: NO_BODY, dryRun: false }
  const { resource, writer } = authorizeOperation('create', whole, context)
  requireImports(resource)
  if (sent.length > MAX_BATCH) throw rejectionAt('body.invalid', TOO_MANY, { place: { in: 'pointer', name: '' } })
  checkBodyLength(sent.reduce((sum, { length }) => sum + length, 0))
  // What one row has too much of is its own fault.
  if (sent.length > 1 && sent.reduce((sum, row) => sum + countValues(row), 0) > MAX_BODY_VALUES) {
    throw new DomainError('body.too-large', `The rows hold more than ${MAX_BODY_VALUES} values. Send them in parts.`)
  }
  const read = rowReader(resource, writer, context.planning.catalogue)
  const ignored = new Set<string>()
  const readRow = (json: JsonValue): ParsedRow => {
    const findings = new BodyFindings(params.strict)
    const row = read(json, '', findings)
    findings.violations.finish()
    for (const name of findings.ignored) if (ignored.size < MAX_NAMES) ignored.add(name)
    return row
  }
  const bodies = sent.map((bytes, index) => bodyOfRow(bytes, firstRow + index))
  const body = [onError, named ?? null, ...bodies.map((one) => (one instanceof DomainError ? one.message : one))]
  const parsed = parseBody(whole, { resource, writer, body, keyRequired: true }, ({ violations }) => {
    const most = checkPlaces({ onError, firstRow, rows: sent.length }, violations)
    const by = named === undefined ? undefined : columnOf(named, resource, violations)
    const rows = bodies.map((one) => (one instanceof DomainError ? one : readOrError(() => readRow(one))))
    return { rows, firstRow, by, readRow, onError: most }
  })
  return { ...parsed, ignored: [...ignored] }
}

const TOO_MANY = `A part of an import has at most ${MAX_BATCH} rows.`
const NO_BODY = Buffer.alloc(0)

/** The JSON of a row, or why it is none that a request may send. Throws `body.malformed` for what is no JSON. */
function bodyOfRow(bytes: Uint8Array, index: number): JsonValue | DomainError {
  const read = readOrError(() => parseJson(bytes))
  if (!(read instanceof DomainError) || read.code !== 'body.malformed') return read
  const detail = `Row ${index + 1} is not JSON (RFC 8259) in UTF-8.`
  throw rejectionAt('body.malformed', detail, { place: { in: 'pointer', name: `/${index}` }, cause: read })
}

function readOrError<Read>(read: () => Read): Read | DomainError {
  try {
    return read()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
}

function checkPlaces(
  { onError, firstRow, rows }: { readonly onError: string; readonly firstRow: number; readonly rows: number },
  violations: Violations
): ParsedImport['onError'] {
  const isSkip = onError === 'skip'
  if (!isSkip && onError !== 'stop') violations.add('request.malformed', 'onError', 'onError must be stop or skip.')
  if (firstRow < 0) violations.add('request.malformed', 'firstRow', 'firstRow must not be negative.')
  const most = MAX_IMPORT_ROWS[isSkip ? 'skip' : 'stop']
  if (firstRow + rows > most) {
    const how = isSkip ? 'skips' : 'stops at'
    violations.addAt(`/${most}`, `Row ${most + 1}: an import that ${how} wrong rows takes at most ${most} rows.`)
  }
  return isSkip ? 'skip' : 'stop'
}

function columnOf(name: string, resource: Resource, violations: Violations): Column | undefined {
  const column = readOrError(() => uniqueColumn(resource, name))
  if (!(column instanceof DomainError) && resource.settable.create.includes(column)) return column
  violations.add('request.malformed', 'by', 'by must name a unique property that a create sets.')
  return undefined
}
