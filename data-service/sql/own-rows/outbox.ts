import { createHash } from 'node:crypto'
import { type EmittedEvent, oneTimeLink, webhookOfType } from '../../entity/event.js'
import type { ClaimedEvent, DueEvent, OutboxStore, SetAsideEvent, SetAsideOf } from '../../plan/model/stores.js'
import { digits, millis, orNull, type RowOfColumns, selectedRows, select, textOfColumn } from './account-rows.js'
import type { Database } from '../engines/engine.js'
import type { Transactions, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { type BoundValues, padToPowerOfTwo, type StatementText, statementText } from '../engines/statement.js'
import { deleteListed } from './idempotency-keys.js'
import { runTransaction } from '../transactions.js'

// The outbox is one table. An event is
// - waiting while `due_at` is set: it may be claimed from then on. A claim moves `due_at` to the end of its lease, so an
//   event whose process died is due again then. `lease` is the random token of the claim, and each later statement of the
//   claimant compares it.
// - delivered with `delivered_at`, or set aside with `dead_at`. `due_at` and `aggregate_key` are null then, so that the
//   index of each holds waiting events only.
// Events of one row (`aggregate_key`) are in the order of their ids: a write of a row holds its lock, or collides with
// other writes of the row on a cluster, before it inserts the event.

/** What a write stores in its own transaction: the events that it emits, and that one was delivered. */
export class EventRows {
  readonly #insert: StatementText
  readonly #deliver: StatementText

  constructor({ sql: { outbox } }: OwnTables) {
    this.#insert = statementText(
      `INSERT INTO ${outbox} (event_id, type, resource, row_id, request_id, payload, occurred_at, aggregate_key, due_at, ` +
        'attempts) VALUES ($event, $type, $resource, $row, $request, $payload, $at, $aggregate, $at, 0)'
    )
    this.#deliver = deliverText(outbox)
  }

  /** The statement of a write that emits an event. */
  async insert(session: WriteSession, event: EmittedEvent): Promise<void> {
    await session.change(this.#insert, {
      event: event.id,
      type: event.type,
      resource: event.resource,
      row: event.rowId,
      request: event.requestId,
      payload: event.payload,
      at: BigInt(Date.parse(event.occurredAt)),
      aggregate: aggregateKey(event)
    })
  }

  /** The statement of a transaction that stores what the handler of a claimed event wants. As UnitOfWork.deliverEvent says. */
  async deliver(session: WriteSession, claimed: ClaimedEvent, at: number): Promise<boolean> {
    return (await session.change(this.#deliver, { ...claimOf(claimed), at: BigInt(at) })).rows === 1
  }
}

function deliverText(outbox: string): StatementText {
  return statementText(
    `UPDATE ${outbox} SET due_at = NULL, aggregate_key = NULL, lease = NULL, delivered_at = $at ` +
      'WHERE id = $id AND lease = $lease'
  )
}

/**
 * Texts with different bytes may be equal in a collation, and names and ids of any length make a key of one length. Events of
 * a row wait for each other on their way to one webhook, or to the handlers: a webhook that fails delays nothing else.
 */
function aggregateKey({ type, resource, rowId }: Pick<EmittedEvent, 'type' | 'resource' | 'rowId'>): Buffer {
  const webhook = webhookOfType(type)
  return createHash('sha256')
    .update(JSON.stringify([resource, rowId, ...(webhook === undefined ? [] : [webhook])]))
    .digest()
    .subarray(0, 16)
}

const EVENT = {
  id: digits,
  event_id: textOfColumn,
  type: textOfColumn,
  resource: textOfColumn,
  row_id: textOfColumn,
  request_id: textOfColumn,
  occurred_at: millis,
  attempts: millis
}

const DUE = { ...EVENT, payload: textOfColumn, due_at: millis }

const DEAD = { ...EVENT, dead_at: orNull(millis), last_error: orNull(textOfColumn) }

const UNHANDLED = { type: textOfColumn, waiting: millis }

const ID = { id: digits }

/** The statements of the dispatcher and of the command, with the number of types that a handler is there for. */
function outboxTexts({ sql: { outbox } }: OwnTables) {
  const listed = (types: readonly string[]): string => types.map((_, index) => `$t${index}`).join(', ')
  const claimed = 'WHERE id = $id AND lease = $lease'
  return {
    /** The first waiting event of each row, where it is due. */
    due: (types: readonly string[]) =>
      select(
        DUE,
        `FROM ${outbox} o WHERE due_at <= $now AND type IN (${listed(types)}) AND NOT EXISTS (SELECT 1 FROM ${outbox} e ` +
          'WHERE e.aggregate_key = o.aggregate_key AND e.id < o.id) ORDER BY due_at, id LIMIT $limit'
      ),
    unhandled: (types: readonly string[]) =>
      select(
        UNHANDLED,
        `FROM (SELECT type, COUNT(*) AS waiting FROM ${outbox} WHERE due_at IS NOT NULL AND type NOT IN ` +
          `(${listed(types)}) GROUP BY type) AS others`
      ),
    claim: statementText(
      `UPDATE ${outbox} SET due_at = $until, lease = $lease, attempts = attempts + 1 ` +
        'WHERE id = $id AND due_at = $seen AND attempts = $attempts'
    ),
    postpone: statementText(`UPDATE ${outbox} SET due_at = $due, lease = NULL, last_error = $error ${claimed}`),
    deliver: deliverText(outbox),
    release: statementText(`UPDATE ${outbox} SET due_at = $due, lease = NULL, attempts = attempts - 1 ${claimed}`),
    setAside: statementText(
      `UPDATE ${outbox} SET due_at = NULL, aggregate_key = NULL, lease = NULL, dead_at = $at, last_error = $error ${claimed}`
    ),
    retry: statementText(
      `UPDATE ${outbox} SET due_at = $now, aggregate_key = $aggregate, dead_at = NULL, attempts = 0 ` +
        'WHERE id = $id AND dead_at IS NOT NULL'
    ),
    drop: statementText(`DELETE FROM ${outbox} WHERE id = $id AND dead_at IS NOT NULL`),
    dead: ({ type, id }: SetAsideOf) => {
      const ofType = type === undefined ? '' : ' AND type = $type'
      const ofId = id === undefined ? '' : ' AND event_id = $event'
      return select(DEAD, `FROM ${outbox} WHERE dead_at IS NOT NULL${ofType}${ofId} ORDER BY dead_at, id LIMIT $limit`)
    },
    delivered: purgeOf(outbox, 'delivered_at'),
    // The type is no value, or SQLite would not use the index of these.
    links: purgeOf(outbox, 'occurred_at', `type = '${oneTimeLink.name}' AND `)
  }
}

/** A SELECT of events that are over, and the beginning of the DELETE of these. */
function purgeOf(outbox: string, time: string, and = '') {
  const over = `FROM ${outbox} WHERE ${and}${time} <= $now`
  return { old: select(ID, `${over} ORDER BY ${time} LIMIT $limit`), statement: `DELETE ${over} AND id IN` }
}

/** Milliseconds for a transaction, as long as the deadline of a call. */
const TRANSACTION_TIMEOUT = 10_000

/** Events of one DELETE at most. */
const EVENTS_PER_DELETE = 1024

/** Characters that fit into the column. */
const LONGEST_ERROR = 1000

function claimOf({ sequence, lease }: ClaimedEvent): BoundValues & { id: bigint; lease: Buffer } {
  return { id: BigInt(sequence), lease }
}

interface SqlOutboxStore extends OutboxStore {
  /** Waits for running reads. */
  close(): Promise<void>
}

/** The outbox of the primary database. It sends nothing before its first use. Reads end as those of `database` do. */
export function createOutboxStore(
  database: Database,
  {
    tables,
    transactions,
    random
  }: { readonly tables: OwnTables; readonly transactions: Transactions; readonly random: () => number }
): SqlOutboxStore {
  const texts = outboxTexts(tables)
  const reader = database.openReader('The database')
  const never = new AbortController().signal
  const run = <Result>(work: (session: WriteSession) => Promise<Result>, tries?: number): Promise<Result> =>
    runTransaction(
      { transactions, what: 'The database', random, ...(tries === undefined ? {} : { tries }) },
      // A database that hangs must not keep a process from stopping.
      AbortSignal.timeout(TRANSACTION_TIMEOUT),
      // Each statement compares what it changes, so a repetition after an unknown COMMIT changes nothing.
      { run: work, isRepeatable: () => true }
    )
  const settle = async (statement: StatementText, claimed: ClaimedEvent, values: BoundValues): Promise<boolean> =>
    (await run((session) => session.change(statement, { ...claimOf(claimed), ...values }))).rows === 1
  const purge = ({ old, statement }: ReturnType<typeof purgeOf>, now: number, limit: number): Promise<number> =>
    run(async (session) => {
      const values = { now: BigInt(now), limit: BigInt(Math.min(limit, EVENTS_PER_DELETE)) }
      const keys = (await selectedRows(session, old, values)).map(({ id }) => BigInt(id))
      return await deleteListed(session, statement, { keys, now })
    })
  return {
    async due(types, { now, limit }) {
      const padded = padToPowerOfTwo(types)
      const values = { ...namedTypes(padded), now: BigInt(now), limit: BigInt(limit) }
      const rows = await reader.read(never, (session) => selectedRows(session, texts.due(padded), values))
      return rows.map((row): DueEvent => ({ ...eventOf(row), payload: row.payload, dueAt: row.due_at }))
    },
    async unhandled(types) {
      const padded = padToPowerOfTwo(types)
      return await reader.read(never, (session) => selectedRows(session, texts.unhandled(padded), namedTypes(padded)))
    },
    async claim({ sequence, dueAt, attempts }, { lease, until }) {
      // One try: whoever loses the race looks for another event.
      const { rows } = await run(
        (session) =>
          session.change(texts.claim, {
            id: BigInt(sequence),
            lease,
            until: BigInt(until),
            seen: BigInt(dueAt),
            attempts: BigInt(attempts)
          }),
        1
      )
      return rows === 1
    },
    postpone: (claimed, { until, error }) =>
      settle(texts.postpone, claimed, { due: BigInt(until), error: storableError(error) }),
    deliver: (claimed, at) => settle(texts.deliver, claimed, { at: BigInt(at) }),
    release: (claimed, now) => settle(texts.release, claimed, { due: BigInt(now) }),
    setAside: (claimed, { at, error }) =>
      settle(texts.setAside, claimed, { at: BigInt(at), error: storableError(error) }),
    async dead(limit, of = {}) {
      const { type, id } = of
      const values = {
        limit: BigInt(limit),
        ...(type === undefined ? {} : { type }),
        ...(id === undefined ? {} : { event: id })
      }
      const rows = await reader.read(never, (session) => selectedRows(session, texts.dead(of), values))
      return rows.map((row): SetAsideEvent => ({
        ...eventOf(row),
        setAsideAt: new Date(row.dead_at ?? 0).toISOString(),
        error: row.last_error ?? ''
      }))
    },
    retry: (event, now) =>
      run(async (session) => {
        const values = { id: BigInt(event.sequence), now: BigInt(now), aggregate: aggregateKey(event) }
        return (await session.change(texts.retry, values)).rows === 1
      }),
    drop: (event) =>
      run(async (session) => (await session.change(texts.drop, { id: BigInt(event.sequence) })).rows === 1),
    purge: (deliveredBefore, limit) => purge(texts.delivered, deliveredBefore, limit),
    purgeLinks: (askedBefore, limit) => purge(texts.links, askedBefore, limit),
    close: () => reader.close()
  }
}

function eventOf(
  row: RowOfColumns<typeof EVENT>
): Omit<EmittedEvent, 'payload'> & Pick<DueEvent, 'sequence' | 'attempts'> {
  return {
    sequence: row.id,
    id: row.event_id,
    type: row.type,
    resource: row.resource,
    rowId: row.row_id,
    requestId: row.request_id,
    occurredAt: new Date(row.occurred_at).toISOString(),
    attempts: row.attempts
  }
}

function namedTypes(types: readonly string[]): BoundValues {
  return Object.fromEntries(types.map((type, index) => [`t${index}`, type]))
}

/** Without U+0000, which no text column takes everywhere, and as long as the column. */
function storableError(error: string): string {
  return Array.from(error.replaceAll('\0', '')).slice(0, LONGEST_ERROR).join('')
}
