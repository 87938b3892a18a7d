import { ENOUGH_MEMORY } from '../rpc/account.js'
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { EventHandler, OutboxEvent } from '../../../data-service/entity/event.js'
import type { OutboxSettings } from '../../../data-service/outbox/dispatcher.js'
import { Outbox } from '../../../data-service/outbox/outbox.js'
import type { WebhookTarget } from '../../../data-service/outbox/webhook-settings.js'
import { GuessCounts } from '../../../data-service/operations/writes/guess-counts.js'
import { WriteShares } from '../../../data-service/operations/writes/write-shares.js'
import type { OutboxStore, WriteStore } from '../../../data-service/plan/model/stores.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { connect } from '../../../data-service/sql/connect.js'
import { createWriteStore } from '../../../data-service/sql/entity-rows/writes.js'
import { createOutboxStore } from '../../../data-service/sql/own-rows/outbox.js'
import { engineMigrations } from '../../../schema/migrations/engine-tables.js'
import { migrateDatabase } from '../../../schema/migrations/migrate.js'
import { createLogger } from '../../../shared/logger.js'
import { type DatabaseKind, freshDatabase } from '../../harness/database.js'
import { type MemoryLog, memoryLog } from '../../harness/memory-log.js'
import { OWN } from '../../harness/own-tables.js'
import { openTestDatabase, type RawRow, type TestDatabase } from '../../oracle/test-database.js'

export const TYPE = 'tried'

/** Short, since a look costs one statement and the clock of the tests does not move with the looks. */
const POLL_INTERVAL = 5

export const SETTINGS: OutboxSettings = { pollInterval: POLL_INTERVAL, maxAttempts: 15, handlerTimeout: 30_000 }

type Handle = (event: OutboxEvent, signal: AbortSignal) => ReturnType<EventHandler['handle']>

/** What a process is given besides its handler. */
interface Dispatching extends Partial<OutboxSettings> {
  readonly webhooks?: readonly WebhookTarget[]
  /** Milliseconds. */
  readonly webhookTimeout?: number
  readonly privateNetworks?: boolean
  /** What the handler is for. */
  readonly types?: readonly string[]
}

/** What one process would have, with a log of its own. */
interface Started {
  readonly dispatcher: Outbox
  readonly log: MemoryLog
}

/** An outbox in a database of its own, with any number of dispatchers. Its clock stands until a test moves it. */
export class FreshOutbox {
  /** Epoch milliseconds. */
  now = Date.UTC(2030, 0, 1)
  /** What dispatchers take for a random number. */
  random = 0.5
  /** Deliveries that have ended, `type outcome`. */
  readonly ended: string[] = []
  /** May throw in place of a look into the outbox. */
  look: () => void = () => undefined
  readonly #byHand: TestDatabase
  readonly #write: WriteStore
  readonly #outbox: OutboxStore
  readonly #dispatchers: Outbox[] = []
  readonly #close: () => Promise<void>

  private constructor(
    parts: { readonly byHand: TestDatabase; readonly write: WriteStore; readonly outbox: OutboxStore },
    close: () => Promise<void>
  ) {
    this.#byHand = parts.byHand
    this.#write = parts.write
    this.#outbox = parts.outbox
    this.#close = close
  }

  static async start(kind: DatabaseKind): Promise<FreshOutbox> {
    const { url, dispose } = await freshDatabase(kind)
    const database = connect(url)
    await migrateDatabase(database, engineMigrations(OWN), {
      own: OWN,
      log: createLogger({ name: 'test', level: 'silent' })
    })
    const shared = { tables: OWN, transactions: database.openTransactions(), random: Math.random }
    const write = createWriteStore(database, [], { ...shared, randomBytes, onEmitted: () => undefined })
    const outbox = createOutboxStore(database, shared)
    const byHand = await openTestDatabase(url)
    return new FreshOutbox({ byHand, write, outbox }, async () => {
      await outbox.close()
      await write.close()
      await database.sequelize.close()
      await byHand.close()
      await dispose()
    })
  }

  async stop(): Promise<void> {
    await this.clear()
    await this.#close()
  }

  /** Ends all dispatchers, breaks off what their handlers do, and removes all events. */
  async clear(): Promise<void> {
    await this.stopDispatchers()
    await this.#byHand.run('DELETE FROM ur_outbox')
  }

  async stopDispatchers(): Promise<void> {
    await Promise.all(this.#dispatchers.splice(0).map((one) => one.stop(0)))
  }

  /** Starts a dispatcher, as a data service does. */
  dispatch(
    handle: Handle,
    { webhooks = [], webhookTimeout, privateNetworks = true, types = [TYPE], ...settings }: Dispatching = {}
  ): Started {
    const log = memoryLog()
    const outbox = this.#outbox
    const store: OutboxStore = {
      ...outbox,
      due: async (...of) => {
        this.look()
        return outbox.due(...of)
      }
    }
    const planning = {
      catalogue: makeCatalogue([]),
      ownership: { bypassRole: undefined, parameterName: 'ownerId' },
      maxPageSize: 500,
      maxExportRows: 1000
    }
    const writeDeps = {
      planning,
      shares: new WriteShares(this.#write, { connections: 10, memory: ENOUGH_MEMORY }),
      idempotency: { retention: 1, required: false },
      guesses: new GuessCounts(Date.now),
      storedTypes: (type: string) => [type],
      now: () => this.now,
      randomBytes,
      newGuid: randomUUID
    }
    const handlers = types.map((name) => ({
      event: { name },
      handle: (event: OutboxEvent, { signal }: { readonly signal: AbortSignal }) => handle(event, signal)
    }))
    const dispatcher = new Outbox(handlers, {
      store,
      writeDeps,
      settings: { ...SETTINGS, ...settings },
      log: log.log,
      random: () => this.random,
      webhooks,
      privateNetworks,
      deliveryTimeout: webhookTimeout,
      ended: (type, outcome) => void this.ended.push(`${type} ${outcome}`)
    })
    dispatcher.start()
    this.#dispatchers.push(dispatcher)
    return { dispatcher, log }
  }

  /** Commits an event of a row, and answers its id. */
  async emit(rowId: string, type = TYPE): Promise<string> {
    const id = randomUUID()
    await this.#write.transaction(new AbortController().signal, (unit) =>
      unit.emit({
        id,
        type,
        resource: 'things',
        rowId,
        payload: '{}',
        occurredAt: new Date(this.now).toISOString(),
        requestId: 'r'
      })
    )
    return id
  }

  purgeLinks(askedBefore: number): Promise<number> {
    return this.#outbox.purgeLinks(askedBefore, 100)
  }

  /** The row of an event by hand-written SQL. */
  async row(id: string): Promise<RawRow> {
    const [row] = await this.#byHand.run('SELECT * FROM ur_outbox WHERE event_id = ?', [id])
    if (row === undefined) throw new Error(`There is no event ${id}`)
    return row
  }

  /** Milliseconds from now until an event is due; undefined if it does not wait. */
  async dueIn(id: string): Promise<number | undefined> {
    const { due_at: due } = await this.row(id)
    return due === null ? undefined : Number(due) - this.now
  }

  /** Waits for a state. The timeout of the test ends it otherwise. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await delay(POLL_INTERVAL)
  }

  /** Resolves when an event that is emitted now was delivered: what was due before was looked at by then. */
  async looked(): Promise<void> {
    const id = await this.emit(randomUUID())
    await this.until(async () => (await this.row(id))['delivered_at'] !== null)
  }
}
