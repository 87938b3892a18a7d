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
import { pathOf } from './paths.js'
import { readQuery, selectionOf } from './reads.js'
import { admission, dataCall, type EntityTools, type ResourceParams } from './requests.js'

/** Milliseconds for the data service to send the next part of an export. */
const PART_TIMEOUT = 60_000

/**
 * Milliseconds for which the data service keeps an export that this process asks no more of. Whether a client still
 * reads is judged at its connection; from one part to the next a slow one takes minutes.
 */
const READER_TIMEOUT = 3_600_000

/**
 * Anonymous exports of one address at a time. The data service counts them too, as it counts those of known callers, but
 * only where it knows this process as a gateway.
 */
const EXPORTS_OF_ADDRESS = 4

/** `GET /{resource}/export`: every row that matches as CSV, streamed. */
export function exportRoute(app: FastifyInstance, { data, catalogue, now }: EntityTools): void {
  const path = pathOf('export')
  const detail = 'Too many exports to your address are under way. Try again.'
  const anonymous = new FairSemaphore({ places: 1000, waiting: 1000, patience: 5_000, detail })

  app.get<{ Params: ResourceParams }>(
    path.url,
    { ...admission(catalogue, path), exposeHeadRoute: false },
    async (request, reply) => {
      const { resource } = request.params
      const query = readQuery({ resource: catalogue.find(resource), operation: 'export' }, request, reply)
      const { bom, escapeFormulas, violations } = exportOptions(query.values)
      const { fields } = query.values
      const call = dataCall(request, reply)
      const shares = [{ of: throttledAddress(clientAddress(request)), most: EXPORTS_OF_ADDRESS }] as const
      const leave =
        call.authorization === undefined ? await anonymous.enter({ shares, signal: call.signal }) : undefined
      try {
        const parts = data.export(call, {
          resource,
          selection: selectionOf(query),
          ...(fields === undefined ? {} : { fields }),
          idleTimeoutMs: PART_TIMEOUT,
          readerTimeoutMs: READER_TIMEOUT,
          ...query.owner,
          unplaced: query.unplaced,
          clientAddress: request.ip
        })
        const opened = await openExport(parts, violations)

        reply.headers({
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': attachmentName(resource, now()),
          'x-export-row-limit': String(opened.header.rowLimit)
        })
        // From here on the answer is under way: Fastify must not answer a failure in its place.
        reply.hijack()
        for (const [name, value] of Object.entries(reply.getHeaders())) {
          if (value !== undefined) reply.raw.setHeader(name, value)
        }
        const csv = new CsvBatch(opened.header.columns, escapeFormulas)
        const failure = await writeExport(reply.raw, opened, { csv, bom })
        if (failure !== undefined && !call.signal.aborted) {
          request.log.error({ requestId: request.id, err: failure }, 'export broken off')
        }
      } finally {
        leave?.()
      }
    }
  )
}

/** How the CSV of an export is written. */
export interface ExportOptions {
  readonly bom: boolean
  readonly escapeFormulas: boolean
}

/** `bom` and `escapeFormulas` are the gateway's own, so it judges them: what is wrong is `request.malformed`. */
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

/** `Content-Disposition` of an export: `<resource>-<yyyyMMddTHHmmssZ>.csv`. */
export function attachmentName(resource: string, now: Date): string {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  return `attachment; filename="${resource}-${time}.csv"`
}

/** An export that has begun: its header is here, and its first batch or its end. */
export interface OpenedExport {
  readonly header: NonNullable<ExportPart['header']>
  /** The first batch or the end, and what follows. Leaving it ends the rpc. */
  readonly parts: AsyncGenerator<ExportPart, void, void>
}

/**
 * Waits for the header and the part after it, so that whatever fails before the first row is still a problem document.
 * The gateway's own violations come after who the caller is and what they may, and together with the data service's.
 */
export async function openExport(
  parts: AsyncIterable<ExportPart>,
  violations: readonly Violation[]
): Promise<OpenedExport> {
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

/** One rejection of both where the data service found violations in the request as well. */
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
 * Writes an export to its client, pulling the next batch only when the client has taken the last one. A failure on the
 * way becomes a remark as the last row, and then the connection is broken off, so that nobody takes the file for whole.
 * Answers that failure; never rejects.
 */
export async function writeExport(
  response: ServerResponse,
  { header, parts }: OpenedExport,
  { csv, bom }: { readonly csv: CsvBatch; readonly bom: boolean }
): Promise<unknown> {
  let rows = 0
  let complete = false
  try {
    await write(response, csv.header(header.columns, bom))
    for await (const part of parts) {
      if (part.rows) {
        await nextTurn()
        await write(response, csv.rows(part.rows.json))
        rows += part.rows.count
      } else if (part.end) {
        if (part.end.truncated) await write(response, csv.remark(`# export truncated at ${part.end.count} rows`))
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

let latestTurn: Promise<unknown> = Promise.resolve()

/**
 * Resolves in a turn of the event loop that no other export has. Writing a part as CSV takes milliseconds: were all
 * exports to do so in one turn, every other request would wait for all of them at each of its steps.
 */
function nextTurn(): Promise<unknown> {
  latestTurn = latestTurn.then(() => setImmediate())
  return latestTurn
}

/** Resolves when there is room for more. Rejects when the client is gone; who reads nothing is disconnected elsewhere. */
async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw gone()
  if (response.write(text)) return
  await new Promise<void>((resolve, reject) => {
    const settle = (settled: () => void): void => {
      response.off('drain', onDrain).off('close', onClose)
      settled()
    }
    const onDrain = (): void => settle(resolve)
    const onClose = (): void => settle(() => reject(gone()))
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

function gone(): Error {
  return new Error('The client went away.')
}

/**
 * The empty string is `""` and null an empty cell: of the library's switches only a pattern tells the two apart. Bare
 * line ends are in the pattern too, since with a record delimiter of our own the library quotes for that one alone.
 */
const FORMAT = {
  record_delimiter: '\r\n',
  quoted_match: /^$|[\r\n]/,
  cast: { boolean: String, number: String }
} as const

const FORMULA = /^[=+\-@\t\r]/

/** Writes the rows of one export as RFC 4180 with CRLF, contract.md section 4. */
export class CsvBatch {
  readonly #width: number
  readonly #texts: readonly number[]

  /** Cells of string properties, and no others, are escaped where they would read as formulas. */
  constructor(columns: readonly Property[], escapeFormulas: boolean) {
    this.#width = columns.length
    this.#texts = escapeFormulas ? columns.flatMap(({ type }, index) => (type === 'string' ? [index] : [])) : []
  }

  header(columns: readonly Property[], bom: boolean): string {
    return (bom ? '\uFEFF' : '') + stringify([columns.map(({ name }) => name)], FORMAT)
  }

  /** `json` is an array of rows, each an array of the columns' values. */
  rows(json: Buffer): string {
    // The data service's own promise (entity_service.proto, ExportRows).
    const rows = JSON.parse(json.toString()) as unknown[][]
    for (const row of rows) this.#escape(row)
    return stringify(rows, FORMAT)
  }

  /** A row that says something in its first cell. */
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
