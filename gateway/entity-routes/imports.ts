import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'
import { NEVER } from '../../shared/transport/cancellation.js'
import { Turns } from '../../shared/turns.js'
import type { HttpContext } from '../data/calls.js'
import type { LiveCatalogue } from '../data/catalogue.js'
import type { ImportRequest, ImportResponse, Resource } from '../data/data-client.js'
import { headerLines } from '../http/header-fields.js'
import { mediaTypeAmong } from '../http/json-body.js'
import { prefersRollback } from '../http/negotiation.js'
import { idempotencyKey } from '../http/preconditions.js'
import { queryOf, routeQuery, type RouteParameters } from '../http/query-string.js'
import { readPiecewise } from '../server/open-requests.js'
import { csvRows, type ReadingTurn } from './import-csv.js'
import { HeavyWork } from './large-writes.js'
import { checkFileLength, linesOf, partsOf, piecesOf } from './import-rows.js'
import { entityPathOf, ownerMember, ownerParameterOf } from './paths.js'
import { JSON_TYPE } from './reads.js'
import {
  type EntityRouteDeps,
  handleUnknownParameters,
  type ResourceParams,
  routeGuards,
  setIgnoredParameters,
  type UnknownParameterHandling,
  writeContext
} from './requests.js'

const MEDIA_TYPES = ['text/csv', 'application/x-ndjson'] as const

const PARAMETERS: RouteParameters<'onError' | 'by'> = { names: ['onError', 'by'], filters: false, rejected: [] }

/** Bytes that an import keeps in memory: a part that is being made, one that is under way, and what has come of the next. */
const HELD = 2 * 1024 * 1024

/** The most errors of an answer (contract.md section 5). */
const MAX_ERRORS = 1000

/** With hundreds of resources it takes half a second to say what a caller may see of them. */
const LOOKS = { what: 'imports', waiting: 64, detail: 'Too many imports begin at a time. Try again.' }

/** `POST /{resource}/import`: creates the rows of a file, which is read as it comes. */
export function importRoute(app: FastifyInstance, { data, catalogue, largeWrites }: EntityRouteDeps): void {
  const path = entityPathOf('import')
  const { onRequest, preValidation } = routeGuards(catalogue, path)
  const reading = new ReadingTurns()
  const looks = new HeavyWork(LOOKS)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.post<{ Params: ResourceParams }>(
    // Other methods at this path are about the row with this id.
    `${path.url}(^import$)`,
    {
      config: { readsInParts: true, routeLabel: '/:resource/import' },
      onRequest,
      preParsing: checkHead,
      preValidation
    },
    async (request, reply) => {
      const resource = catalogue.find(request.params.resource)
      if (resource === undefined) throw new TypeError('the resource was there when the request came')
      const { members, ignored } = importOptions({ catalogue }, request, reply)
      const { raw } = request
      const call = writeContext(request)
      const total = new Total(members.by !== undefined)
      const endPieces = readPiecewise(raw)
      const file = { ...members, resource: resource.name }
      let kept: { readonly firstRow: number; readonly continuation: Buffer } = {
        firstRow: 0,
        continuation: Buffer.alloc(0)
      }
      try {
        request.unsent?.receive(HELD)
        const pieces = piecesOf(raw)
        const isCsv = formatOf(request) === 'text/csv'
        const rows = isCsv
          ? csvRows(pieces, await readableOf(resource, { catalogue, call, data, file, looks }), reading.of(call))
          : linesOf(pieces)
        for await (const { rows: some, bytes, firstRow, more } of partsOf(rows)) {
          const part = { ...file, rows: [...some], ...kept, firstRow, more, maxErrors: total.maxErrors }
          const send = (): Promise<ImportResponse> =>
            largeWrites.inTurn(call, { length: bytes }, () => data.import(call, part))
          const answer = await (more || firstRow === 0 ? send() : sendLast(send))
          if (answer.continuation.length > 0) {
            kept = { firstRow: firstRow + some.length, continuation: answer.continuation }
          }
          total.add(answer, firstRow + some.length)
        }
      } catch (error) {
        // The client may be sending on, and reads the answer afterwards. What it sends counts as that of any other request.
        endPieces()
        setImmediate(() => raw.resume())
        throw error
      } finally {
        // Whatever became of the file, its parts are of no use any more. The client may have gone, and waits for nothing of it.
        if (kept.continuation.length > 0) {
          const end = { ...file, rows: [], ...kept, more: true, forget: true }
          data.import({ ...call, signal: NEVER, report: undefined }, end).catch(() => undefined)
        }
      }
      setIgnoredParameters(reply, [...ignored, ...total.ignoredMembers.map((name) => `body.${name}`)])
      if (total.isReplayed) reply.header('idempotent-replayed', 'true')
      return reply.type(JSON_TYPE).send(JSON.stringify(total.answer))
    }
  )
}

/** How often the last part of a file is sent while the data service has too much to do. */
const LAST_TRIES = 10

/**
 * Sends the last part, and again while the data service asks for that: whoever waits for the turn of another file has sent
 * all of this one, and would have to send all of it again.
 */
async function sendLast(send: () => Promise<ImportResponse>): Promise<ImportResponse> {
  for (let tries = 1; ; tries++) {
    try {
      return await send()
    } catch (error) {
      const isBusy = error instanceof DomainError && error.code === 'upstream.unavailable'
      if (!isBusy || error.retryAfter === undefined || tries === LAST_TRIES) throw error
      await pause(error.retryAfter * 1000)
    }
  }
}

/** Milliseconds that the files of an address are read in a turn of the event loop. */
const READING_MS = 10

/**
 * The files of an address are read one piece after the other, whosever they are, so that what others ask comes between them: a
 * caller has as many tokens as it asks for.
 */
class ReadingTurns {
  readonly #turns = new Turns(1)
  /** Until when an address may read on, on the clock of `performance`. */
  readonly #until = new Map<string, number>()

  /** For one file. */
  of({ clientAddress = '' }: HttpContext): ReadingTurn {
    const key = throttledAddress(clientAddress)
    return async () => {
      if (performance.now() < (this.#until.get(key) ?? 0)) return
      await this.#turns.next(key)
      this.#begin(key)
    }
  }

  #begin(key: string): void {
    const until = performance.now() + READING_MS
    this.#until.set(key, until)
    // Behind the turn, unless another piece has begun one by then.
    setImmediate(() => {
      if (this.#until.get(key) === until) this.#until.delete(key)
    })
  }
}

interface Readable {
  readonly catalogue: LiveCatalogue
  readonly call: HttpContext
  readonly data: Pick<EntityRouteDeps['data'], 'import'>
  /** The import without its rows. */
  readonly file: Omit<ImportRequest, 'rows' | 'firstRow' | 'more' | 'continuation'>
  readonly looks: HeavyWork
}

/**
 * The resource with what the caller may see of it: cells of hidden properties are read as those of names that nobody has. A
 * caller who may not import is rejected by the data service before any of the file is read.
 */
async function readableOf(resource: Resource, { catalogue, call, data, file, looks }: Readable): Promise<Resource> {
  const nothing = { rows: [], firstRow: 0, more: true, forget: true, continuation: Buffer.alloc(0) }
  await data.import(call, { ...file, ...nothing })
  const leave = await looks.enter(call)
  try {
    const { resources } = await catalogue.seenBy(call)
    return resources.get(resource.name) ?? { ...resource, properties: [], writeOnly: [], createdChildren: [] }
  } finally {
    leave()
  }
}

function formatOf({ headers }: FastifyRequest): (typeof MEDIA_TYPES)[number] | undefined {
  return mediaTypeAmong(headers, MEDIA_TYPES)
}

/** A `preParsing` hook, which runs before any of the body is read. */
function checkHead(request: FastifyRequest, _reply: FastifyReply, ...rest: [payload: unknown, done: () => void]): void {
  checkFileLength(Number(request.headers['content-length'] ?? 0))
  if (formatOf(request) === undefined) {
    const detail = `The file must be sent with Content-Type: ${MEDIA_TYPES.join(' or ')}.`
    throw rejectionAt('media-type.unsupported', detail, { place: { in: 'header', name: 'Content-Type' } })
  }
  rest[1]()
}

type Options = Pick<ImportRequest, 'onError' | 'by' | 'idempotencyKey' | 'ownerParameter' | 'strict' | 'unplaced'>

function importOptions(
  { catalogue }: Pick<EntityRouteDeps, 'catalogue'>,
  request: FastifyRequest<{ Params: ResourceParams }>,
  reply: FastifyReply
): Pick<UnknownParameterHandling, 'ignored'> & { readonly members: Options } {
  const key = idempotencyKey(headerLines(request.raw.rawHeaders, 'idempotency-key'))
  // The rules of `create` hold for each row.
  const owner = ownerParameterOf(catalogue.find(request.params.resource), 'create')
  const query = routeQuery(queryOf(request.url), PARAMETERS, owner)
  const { strict, ignored, unplaced } = handleUnknownParameters(query, request, reply)
  if (prefersRollback(request.headers['prefer']?.toString())) {
    // Whoever asks for it does not want the rows created.
    const detail = 'An import cannot be tried without its rows being created. Try some of them as a batch.'
    throw rejectionAt('request.malformed', detail, { place: { in: 'header', name: 'Prefer' } })
  }
  const keyed = key === undefined ? {} : { idempotencyKey: key }
  return { members: { ...query.values, ...keyed, ...ownerMember(query), strict, unplaced }, ignored }
}

/** What the parts of an import came to. */
class Total {
  #rows = 0
  #isReplayed = true
  readonly #ignored = new Set<string>()
  readonly #counts = { created: 0, existing: 0, failed: 0, replayed: 0 }
  readonly #errors: ImportResponse['errors'] = []
  readonly #hasBy: boolean

  constructor(hasBy: boolean) {
    this.#hasBy = hasBy
  }

  /** `rows`: how many have come so far. */
  add(part: ImportResponse, rows: number): void {
    const { created, existing, failed, createdBefore, errors, ignoredMembers, replayed, continuation } = part
    this.#rows = rows
    // A part that is only kept has decided nothing.
    if (continuation.length === 0) this.#isReplayed &&= replayed
    this.#counts.created += created
    this.#counts.existing += existing
    this.#counts.failed += failed
    this.#counts.replayed += createdBefore
    this.#errors.push(...errors.slice(0, this.maxErrors))
    for (const name of ignoredMembers) if (this.#ignored.size < MAX_ERRORS) this.#ignored.add(name)
  }

  /** How many more there is room for. */
  get maxErrors(): number {
    return MAX_ERRORS - this.#errors.length
  }

  get isReplayed(): boolean {
    return this.#isReplayed
  }

  get ignoredMembers(): readonly string[] {
    return [...this.#ignored]
  }

  get answer(): object {
    const { created, existing, failed, replayed } = this.#counts
    const left = this.#hasBy ? { existing } : {}
    const errors = this.#errors.map(({ row, code, detail, pointer }) => ({ row, code, detail, pointer }))
    return { rows: this.#rows, created, ...left, failed, replayed, errors }
  }
}
