import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { stringify } from 'csv-stringify/sync'
import type { FastifyInstance } from 'fastify'
import { DomainError, httpStatusOf, rejection, type Violation } from '../../shared/errors.js'
import { FairSemaphore } from '../../shared/fair-semaphore.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { ExportPart, Property } from '../data/data-client.js'
import { clientAddress } from '../http/client-address.js'
import { unintelligible } from '../http/problem-details.js'
import type { RouteQuery } from '../http/query-string.js'
import { tellTimes } from '../server/server-timing.js'
import type { UnsentAnswer } from '../server/unsent-answers.js'
import { entityPathOf } from './paths.js'
import { readQuery, sentSelection } from './reads.js'
import { exportContext, routeGuards, type EntityRouteDeps, type ResourceParams } from './requests.js'

/** Milliseconds that the data service may take to send the next part of an export. */
const PART_TIMEOUT = 60_000

/**
 * Milliseconds that the data service keeps an export of which this process reads nothing. It is long because a slow client
 * takes minutes for one part. A client that reads nothing at all is disconnected earlier (connections.ts).
 */
const READER_TIMEOUT = 3_600_000

/**
 * Concurrent anonymous exports of one address. The data service counts them as well, but only if it knows this process as
 * a gateway; otherwise it sees one address for all clients.
 */
const MAX_EXPORTS_OF_ADDRESS = 4

/** `GET /{resource}/export`: streams all rows that match as CSV. */
export function exportRoute(app: FastifyInstance, { data, catalogue, now }: EntityRouteDeps): void {
  const path = entityPathOf('export')
  const detail = 'Too many exports to your address are under way. Try again.'
  const anonymous = new FairSemaphore({ places: 1000, waiting: 1000, timeout: 5_000, detail })

  app.get<{ Params: ResourceParams }>(
    path.url,
    { ...routeGuards(catalogue, path), exposeHeadRoute: false },
    async (request, reply) => {
      const { resource } = request.params
      const query = readQuery({ resource: catalogue.find(resource), operation: 'export' }, request, reply)
      const { bom, escapeFormulas, violations } = exportOptions(query.values)
      const { fields } = query.values
      const call = exportContext(request, reply)
      const address = clientAddress(request)
      const shares = [{ key: throttledAddress(address), limit: MAX_EXPORTS_OF_ADDRESS }] as const
      // One of an address begins in a turn, and those whose client has gone away meanwhile take no call.
      await new Promise<void>((begin) => app.beginLarge(request, begin))
      call.signal.throwIfAborted()
      const release =
        call.authorization === undefined ? await anonymous.enter({ shares, signal: call.signal }) : undefined
      try {
        const parts = data.export(call, {
          resource,
          selection: sentSelection(query),
          ...(fields === undefined ? {} : { fields }),
          idleTimeoutMs: PART_TIMEOUT,
          readerTimeoutMs: READER_TIMEOUT,
          ...query.owner,
          unplaced: query.unplaced,
          clientAddress: address,
          asCsv: { escapeFormulas }
        })
        const opened = await openExport(parts, violations)

        reply.headers({
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': attachmentName(resource, now()),
          'x-export-row-limit': String(opened.header.rowLimit)
        })
        tellTimes(request, reply)
        // From here on the response is being sent, so Fastify must not answer an error.
        reply.hijack()
        for (const [name, value] of Object.entries(reply.getHeaders())) {
          if (value !== undefined) reply.raw.setHeader(name, value)
        }
        const csv = new CsvBatch(opened.header.columns, escapeFormulas)
        const failure = await writeExport(reply.raw, opened, { csv, bom, unsent: request.unsent })
        if (failure !== undefined && !call.signal.aborted) {
          request.log.error({ requestId: request.id, err: failure }, 'export broken off')
        }
      } finally {
        release?.()
      }
    }
  )
}

/** The parameters of an export that the gateway itself uses. */
interface ExportOptions {
  readonly bom: boolean
  readonly escapeFormulas: boolean
}

/** Reads `bom` and `escapeFormulas`. `violations` holds a `request.malformed` for each of them that is invalid. */
export function exportOptions(
  values: RouteQuery['values']
): ExportOptions & { readonly violations: readonly Violation[] } {
  const violations: Violation[] = []
  const flag = (name: 'bom' | 'escapeFormulas'): boolean => {
    const text = values[name] ?? 'true'
    if (text !== 'true' && text !== 'false') {
      violations.push({
        code: 'request.malformed',
        detail: `The parameter ${name} must be true or false, once.`,
        place: { in: 'parameter', name }
      })
    }
    return text === 'true'
  }
  return { bom: flag('bom'), escapeFormulas: flag('escapeFormulas'), violations }
}

/** `Content-Disposition` of an export (RFC 6266), with the file name `<resource>-<yyyyMMddTHHmmssZ>.csv`. */
export function attachmentName(resource: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  return `attachment; filename="${resource}-${time}.csv"`
}

/** An export that has begun: its header has arrived, and its first batch or its end. */
interface OpenedExport {
  readonly header: NonNullable<ExportPart['header']>
  /** The first batch or the end, and all parts after it. Leaving the iteration cancels the rpc. */
  readonly parts: AsyncGenerator<ExportPart, void, void>
}

/**
 * Waits for the header and the first part after it, so that every error before the first row becomes a problem document.
 * The gateway's own violations are reported after errors of authentication and authorization, and together with the
 * violations that the data service finds.
 */
async function openExport(parts: AsyncIterable<ExportPart>, violations: readonly Violation[]): Promise<OpenedExport> {
  const iterator = parts[Symbol.asyncIterator]()
  try {
    const opening = await iterator.next()
    const header = opening.done === true ? undefined : opening.value.header
    const first = await iterator.next()
    if (header === undefined || header === null || first.done === true) throw unintelligible()
    const [violation, ...others] = violations
    if (violation !== undefined) throw rejection([violation, ...others])
    return { header, parts: following(first.value, iterator) }
  } catch (error) {
    await iterator.return?.()
    throw together(error, violations)
  }
}

/** One rejection with the violations of the data service and the gateway's own, if the data service reports some. */
function together(error: unknown, own: readonly Violation[]): unknown {
  if (!(error instanceof DomainError) || httpStatusOf(error) !== 400) return error
  const [first, ...others] = error.violations
  return first === undefined || own.includes(first) ? error : rejection([first, ...others, ...own])
}

async function* following(first: ExportPart, rest: AsyncIterator<ExportPart>): AsyncGenerator<ExportPart, void, void> {
  try {
    yield first
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value
  } finally {
    await rest.return?.()
  }
}

/**
 * Writes an export to its client, and pulls the next batch only when the client has taken the last one (backpressure). If
 * the export fails, a remark becomes the last row and the connection is broken off, so that nobody takes the file for
 * complete. Returns the failure, or undefined. Never rejects.
 */
async function writeExport(
  response: ServerResponse,
  { header, parts }: OpenedExport,
  { csv, bom, unsent }: { readonly csv: CsvBatch; readonly bom: boolean; readonly unsent: UnsentAnswer | undefined }
): Promise<unknown> {
  let rows = 0
  let complete = false
  const write = (piece: string | Uint8Array): Promise<void> => writePiece(response, piece, unsent)
  try {
    await write(csv.header(header.columns, bom))
    for await (const part of parts) {
      if (part.rows) {
        const { csv: bytes, json, count } = part.rows
        await write(bytes.length > 0 ? bytes : await csv.rows(json))
        rows += count
      } else if (part.end) {
        const { count, truncated, unshownValues } = part.end
        if (unshownValues.length > 0) await write(csv.remark(`# export without values: ${inOneCell(unshownValues)}`))
        if (truncated) await write(csv.remark(`# export truncated at ${count} rows`))
        complete = true
      }
    }
    if (complete) {
      response.end()
      return undefined
    }
    throw new DomainError('upstream.bad-gateway', 'The export stopped without saying that it was complete.')
  } catch (error) {
    await breakOff(response, csv.remark(`# export incomplete after ${rows} rows`))
    return error
  }
}

/** `7=amount more=5`: without the characters at which programs end a cell. The ids are percent-encoded. */
function inOneCell(unshownValues: readonly string[]): string {
  return unshownValues.join(' ').replaceAll('; property=', '=')
}

/** Resolves when the client can take more. Rejects when it has disconnected. */
async function writePiece(
  response: ServerResponse,
  piece: string | Uint8Array,
  unsent: UnsentAnswer | undefined
): Promise<void> {
  if (response.destroyed) throw disconnected()
  if (response.write(piece)) return
  unsent?.hold(response.writableLength)
  await new Promise<void>((resolve, reject) => {
    const settle = (settled: () => void): void => {
      response.off('drain', onDrain).off('close', onClose)
      settled()
    }
    const onDrain = (): void => settle(resolve)
    const onClose = (): void => settle(() => reject(disconnected()))
    response.on('drain', onDrain).on('close', onClose)
  })
}

async function breakOff(response: ServerResponse, remark: string): Promise<void> {
  if (!response.destroyed) {
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      response.write(remark, () => resolve())
    })
  }
  response.destroy()
}

function disconnected(): Error {
  return new Error('The client went away.')
}

/**
 * The empty string is written as `""` and null as an empty cell; of the library's options only a pattern distinguishes
 * them. The pattern includes bare line ends, because with its own record delimiter the library quotes only for that one,
 * semicolons and tabs, at which programs of some countries end cells, and cells that begin as a remark does: remarks are never quoted.
 */
const FORMAT = {
  record_delimiter: '\r\n',
  quoted_match: /^$|[\r\n;\t]|^# export /,
  cast: { boolean: String, number: String }
} as const

/** The first characters by which spreadsheets recognize a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

let latestTurn: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other export uses. Writing rows of JSON as CSV takes milliseconds. If all
 * exports did so in the same turn, every other request would wait for all of them at each of its steps.
 */
function nextTurn(): Promise<unknown> {
  latestTurn = latestTurn.then(() => setImmediate())
  return latestTurn
}

/**
 * Writes the header row, the remarks and the rows of one export as CSV (RFC 4180) with CRLF (contract.md section 4). Rows
 * that the data service has sent as CSV are none of its business (data-service/operations/csv.ts writes the same bytes).
 */
class CsvBatch {
  readonly #width: number
  readonly #texts: readonly number[]
  readonly #sets: readonly number[]

  /** With `escapeFormulas`, cells of string properties that look like formulas get a leading `'`. */
  constructor(columns: readonly Property[], escapeFormulas: boolean) {
    this.#width = columns.length
    this.#sets = columns.flatMap(({ type }, index) => (type === 'set' ? [index] : []))
    this.#texts = escapeFormulas ? columns.flatMap(({ type }, index) => (type === 'string' ? [index] : [])) : []
  }

  header(columns: readonly Property[], bom: boolean): string {
    return (bom ? '\uFEFF' : '') + stringify([columns.map(({ name }) => name)], FORMAT)
  }

  /** Of a data service that sends JSON: an array of rows, each an array of the columns' values. */
  async rows(json: Buffer): Promise<string> {
    await nextTurn()
    // entity_service.proto, ExportRows, promises this form.
    const rows = JSON.parse(json.toString()) as unknown[][]
    for (const row of rows) {
      for (const index of this.#sets) row[index] = textOfSet(row[index])
      this.#escape(row)
    }
    return stringify(rows, FORMAT)
  }

  /** A row with a text in its first cell, in which no comma may be. */
  remark(text: string): string {
    return text + ','.repeat(Math.max(0, this.#width - 1)) + '\r\n'
  }

  #escape(row: unknown[]): void {
    for (const index of this.#texts) {
      const cell = row[index]
      if (typeof cell === 'string' && FORMULA.test(cell)) row[index] = `'${cell}`
    }
  }
}

/** The words of a set with commas between. The library would write a set without words as it writes null. */
function textOfSet(cell: unknown): unknown {
  return Array.isArray(cell) ? cell.join() : cell
}
