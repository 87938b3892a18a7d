import { ENOUGH_MEMORY } from './account.js'
import type { Logger } from 'pino'
import { type Authenticated, type CallContext, type Caller } from '../../../data-service/entity/caller.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { GuessCounts } from '../../../data-service/operations/writes/guess-counts.js'
import { WriteShares } from '../../../data-service/operations/writes/write-shares.js'
import type { WriteDeps } from '../../../data-service/operations/writes/write-steps.js'
import { act } from '../../../data-service/operations/writes/act.js'
import { create } from '../../../data-service/operations/writes/create.js'
import { importHandler } from '../../../data-service/operations/writes/import.js'
import { update } from '../../../data-service/operations/writes/update.js'
import { DomainError } from '../../../shared/errors.js'
import type { CreateResponse } from '../../../shared/gen/entity/v1/CreateResponse.js'
import type { ImportResponse } from '../../../shared/gen/entity/v1/ImportResponse.js'
import { MemoryWriteStore } from './memory-write-store.js'

interface Requests {
  readonly create: Parameters<typeof create>[2]
  readonly update: Parameters<typeof update>[2]
  readonly act: Parameters<typeof act>[2]
  readonly import: Parameters<ReturnType<typeof importHandler>>[1]
}
/** A request with JSON in place of bytes, and tags in place of a precondition. */
type Short<Request> = Partial<Omit<Request, 'body' | 'precondition'>> & {
  readonly resource: string
  readonly body?: unknown
  readonly tags?: readonly (Buffer | undefined)[]
  readonly precondition?: 'ANY' | 'MALFORMED'
}

export function caller(
  of: {
    readonly subject?: string
    readonly roles?: readonly string[]
    readonly permissions?: readonly string[]
    readonly owner?: bigint | null
  } = {}
): Authenticated {
  const { subject = 'somebody', roles = [], permissions = [], owner = null } = of
  return {
    kind: 'authenticated',
    claims: {},
    issuer: 'issuer',
    subject,
    roles,
    permissions: new Set(permissions),
    owner
  }
}

/** The write handlers over rows in memory. */
export class WriteHarness {
  readonly store = new MemoryWriteStore()
  now = Date.UTC(2026, 0, 31, 8)
  readonly #deps: WriteDeps

  constructor(entities: readonly Entity[]) {
    this.#deps = {
      planning: {
        catalogue: makeCatalogue(entities),
        ownership: { bypassRole: 'Admin', parameterName: 'id' },
        maxPageSize: 500,
        maxExportRows: 100
      },
      shares: new WriteShares(this.store, { connections: 10, memory: ENOUGH_MEMORY }),
      idempotency: { retention: 1000, required: false },
      guesses: new GuessCounts(() => this.now),
      storedTypes: (type) => [type],
      now: () => this.now,
      randomBytes: (size) => Buffer.alloc(size, 1),
      newGuid: () => '6f9619ff-8b86-d011-b42d-00c04fc964ff'
    }
  }

  async create(request: Short<Requests['create']>, by: Caller): Promise<Answer> {
    return answerOf(await create(this.#deps, contextOf(by), { ...defaults, ...wire(request) }))
  }

  async update(request: Short<Requests['update']>, by: Caller): Promise<Answer> {
    return answerOf(await update(this.#deps, contextOf(by), { ...defaults, id: '1', ...wire(request) }))
  }

  async import(rows: readonly object[], by: Caller, more: Partial<Requests['import']> = {}): Promise<ImportResponse> {
    const request = {
      ...defaults,
      rows: rows.map((row) => Buffer.from(JSON.stringify(row))),
      resource: 'boxes',
      firstRow: 0,
      onError: 'skip',
      idempotencyKey: 'k',
      more: false,
      continuation: Buffer.alloc(0),
      forget: false,
      ...more
    }
    return await importHandler(this.#deps)(contextOf(by), request)
  }

  async act(action: string, request: Short<Requests['act']>, by: Caller): Promise<Answer> {
    return answerOf(await act(this.#deps, contextOf(by), { ...defaults, id: '1', action, ...wire(request) }))
  }
}

interface Answer {
  readonly json: string
  readonly record: Readonly<Record<string, unknown>>
  readonly version: Buffer
  readonly id: string
  readonly ignored: readonly string[]
  readonly replayed: boolean
  readonly location: string
}

/** The DomainError that a call fails with. */
async function rejectionOf(call: Promise<unknown>): Promise<DomainError> {
  try {
    await call
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** `code place` of every fault, or the code alone where it names no place. */
export async function violationsIn(call: Promise<unknown>): Promise<string[]> {
  const { code, violations } = await rejectionOf(call)
  return violations.length === 0 ? [code] : violations.map((one) => `${one.code} ${one.place.name}`)
}

const defaults = {
  resource: '',
  body: Buffer.alloc(0),
  dryRun: false,
  strict: false,
  linkBase: '',
  mergePatch: false,
  unplaced: null,
  precondition: null
}

function wire({ body, tags, precondition, ...rest }: Short<object>): object & { readonly resource: string } {
  const kind = precondition ?? (tags === undefined ? undefined : 'TAGS')
  return {
    ...rest,
    ...(body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }),
    ...(kind === undefined ? {} : { precondition: { kind: `PRECONDITION_KIND_${kind}`, versions: tags ?? [] } })
  }
}

function answerOf({ record, id, ignoredMembers = [], replayed = false, location = '' }: CreateResponse): Answer {
  const { json, rowVersion } = record ?? {}
  if (!Buffer.isBuffer(json) || !Buffer.isBuffer(rowVersion)) throw new Error('no record')
  const text = json.toString()
  // What the encoder writes of a row.
  const parsed = JSON.parse(text) as Record<string, unknown>
  return { json: text, record: parsed, version: rowVersion, id: id ?? '', ignored: ignoredMembers, replayed, location }
}

function contextOf(by: Caller): CallContext {
  const { signal } = new AbortController()
  // No handler of a write logs.
  return {
    caller: by,
    requestId: 'r',
    peerIsGateway: false,
    clientAddress: '198.51.100.7',
    signal,
    cancellation: signal,
    onTaken: () => undefined,
    log: {} as Logger
  }
}
