import { createHash } from 'node:crypto'
import type { Exchange, Injury } from '../../history.js'
import { faultsOfCreate } from './answered.js'
import { isInFlight, type Outcome, outcomeOf } from './audit.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { CreatedRows, isCreate, isImport } from './created-rows.js'
import { isOfAccounts } from '../chains.js'
import { objectOf } from '../json.js'

/** The first answer under a key: digests of the body that was sent, and of the answer. */
interface First {
  readonly id: string
  readonly body: string
  readonly answer: string
  readonly endedAt: number
}

/** What is known of a speaker of that name: asked for, and answered with a row, or with a rejection of its only request. */
interface Wanted {
  readonly id: string
  readonly batch: string
  outcome: Outcome
}

/** An answer which says that the first request of a key is still under way. */
interface Held {
  readonly id: string
  readonly sentAt: number
  readonly endedAt: number
}

/** Milliseconds after something is mended for which a key may still be held by what was broken. */
const AFTERMATH_MS = 10_000
/** Milliseconds for which a request may still be under way that came to nothing for its client. */
const UNDER_WAY_MS = 60_000

/** Creates and deletes of all workloads, writes with an Idempotency-Key, and speakers, each with a name that no other has. */
export class CreatedOnce implements Checker {
  readonly title = 'Created once'
  readonly contract = '5. Writes'
  readonly how =
    '`creates` and `exports` create rows and batches of rows under a key, and send what has no answer again through other gateways. So does `agents` by a tool. Some is sent once more after its answer, with its members in another order, by another caller or with another body under the same key. In the end the rows of all workloads that create or delete some, and the orders of carts, are looked for one by one in the audit trail and in their tables; the names of speakers are counted.'
  readonly isOfWrites = true
  readonly promise =
    'Every acknowledged create exists once, and each row was asked for; none exists twice for one key, a batch is there whole or not at all, and what is gone was deleted by request; a replay answers what the first answer said, and a key is worth nothing to another caller or with another body.'
  /** What one caller has sent under one key; undefined while nobody has answered it. */
  readonly #keys = new Map<string, First | undefined>()
  readonly #wanted = new Map<string, Wanted>()
  readonly #rows = new CreatedRows()
  readonly #held: Held[] = []
  /** By key, when the last of its requests ended whose outcome nobody knows. */
  readonly #unknown = new Map<string, number>()
  /** Who was told that a key is in flight while such a request may have been so. */
  readonly #awaited = new Set<string>()
  readonly #injuries: Injury[] = []
  readonly #violations: Violation[] = []
  #actions = 0
  #replays = 0

  see(exchange: Exchange): void {
    const { id, account = '', request, answer, sentAt, endedAt } = exchange
    if (isOfAccounts(exchange)) return
    this.#rows.see(exchange)
    if (isCreate(exchange) && answer?.status === 201) {
      for (const fault of faultsOfCreate(exchange)) this.#violate(`${id} ${fault}.`, id)
    }
    const key = request.headers['idempotency-key']
    if (key === undefined) return
    if (isInFlight(answer)) this.#held.push({ id, sentAt, endedAt })
    if (request.target.startsWith('/speakers')) this.#want(exchange)
    const unit = `${account} ${request.method} ${request.target} ${key}`
    this.#await(unit, exchange)
    // An import counts what it created before, too. `ImportedOnce` judges imports.
    if (isImport(exchange)) return
    const isRetry = this.#keys.has(unit)
    const first = this.#keys.get(unit)
    if (!isRetry) this.#keys.set(unit, undefined)
    if (answer === undefined || answer.status >= 500 || answer.status === 429 || isInFlight(answer)) return
    const body = digest(inOneOrder(request.body ?? 'null'))
    const isReplay = answer.headers['idempotent-replayed'] !== undefined
    const isDone = answer.status < 300
    if (isReplay && (!isDone || !isRetry))
      this.#violate(`${id} is called a replay, of nothing that was sent before.`, id)
    const isReused = answer.status === 422 && objectOf(exchange)['code'] === 'idempotency.key.reused'
    if (first === undefined) {
      if (isReused && !isRetry) this.#violate(`${id} is told that its key was used before, which it was not.`, id)
      if (!isDone) return
      this.#keys.set(unit, { id, body, answer: answerOf(exchange), endedAt })
      if (request.method !== 'POST') this.#actions++
      return
    }
    // Of two that were under way at the same time, either may be called the first.
    if (first.endedAt >= sentAt) return
    this.#replays++
    if (body !== first.body) {
      if (!isReused) {
        this.#violate(
          `${id} has another body than ${first.id} under the same key, and is answered ${answer.status}: ${answer.body.slice(0, 200)}`,
          first.id,
          id
        )
      }
    } else if (!isDone || answerOf(exchange) !== first.answer) {
      this.#violate(`The replay ${id} differs from the answer of ${first.id}.`, first.id, id)
    } else if (!isReplay) {
      this.#violate(`${id} was done again, or is not called the replay of ${first.id} that it is.`, first.id, id)
    }
  }

  hurt(injury: Injury): void {
    if (injury.touches?.length !== 0) this.#injuries.push(injury)
  }

  async judge(rows: Rows): Promise<Verdict> {
    for (const { id, sentAt, endedAt } of this.#held) {
      const isOfInjury = this.#injuries.some(
        ({ from, until = Infinity }) => from <= endedAt && sentAt <= until + AFTERMATH_MS
      )
      if (!isOfInjury && !this.#awaited.has(id))
        this.#violate(`${id} is told that its key is in flight, while nothing was broken.`, id)
    }
    for await (const violation of this.#rows.faults(rows)) this.#violations.push(violation)
    const stored = new Map<string, number>()
    const batches = new Map<string, Set<boolean>>()
    const found = await rows(
      `SELECT name, COUNT(*) AS times FROM speakers
       WHERE name LIKE 'creates-%' OR name LIKE 'exports-%' OR name LIKE 'recovery-%' GROUP BY name`
    )
    for (const { name, times } of found) stored.set(String(name), Number(times))
    for (const [name, { id, batch, outcome }] of this.#wanted) {
      const times = stored.get(name) ?? 0
      stored.delete(name)
      if (times > 1) this.#violate(`${name} exists ${times} times.`, id)
      if (times === 0 && outcome === 'done') this.#violate(`${name} was acknowledged and does not exist.`, id)
      if (times > 0 && outcome === 'rejected') this.#violate(`${name} was rejected and exists.`, id)
      batches.set(batch, (batches.get(batch) ?? new Set()).add(times > 0))
    }
    for (const name of stored.keys()) this.#violate(`Nobody asked for ${name}.`)
    for (const [batch, there] of batches) {
      if (there.size > 1) this.#violate(`Some rows of the batch of ${batch} exist, and some do not.`, batch)
    }
    const tried = this.#rows.acknowledged + this.#actions + this.#replays
    return {
      tried,
      of: 'acknowledged creates, deletes and actions with a key, and retries of them',
      violations: this.#violations
    }
  }

  /** A request that is cut, or given up by its gateway, may still be done: an overload does that, and nothing is broken. */
  #await(unit: string, { id, answer, sentAt, endedAt }: Exchange): void {
    if (answer === undefined || answer.status >= 500) this.#unknown.set(unit, endedAt)
    else if (answer.status === 409) {
      if ((this.#unknown.get(unit) ?? -Infinity) + UNDER_WAY_MS >= sentAt) this.#awaited.add(id)
    } else this.#unknown.delete(unit)
  }

  #want({ id, request, answer }: Exchange): void {
    const outcome = outcomeOf(answer)
    const bodies = [JSON.parse(request.body ?? '[]')].flat() as readonly { readonly name?: unknown }[]
    const batch = String(bodies[0]?.name)
    for (const { name } of bodies) {
      const wanted = this.#wanted.get(String(name))
      if (wanted === undefined) this.#wanted.set(String(name), { id, batch, outcome })
      // A rejection says nothing of a request before it whose answer was lost.
      else if (outcome === 'done') wanted.outcome = outcome
    }
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** A JSON text with the members of each object in one order: two that are equal by value are the same text. */
function inOneOrder(text: string): string {
  return JSON.stringify(JSON.parse(text), (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value
  )
}

/** The parts of an answer that a replay repeats. */
function answerOf({ answer }: Exchange): string {
  const location = answer?.headers['location']
  const path = location !== undefined && URL.canParse(location) ? new URL(location).pathname : location
  return digest(JSON.stringify([answer?.status, answer?.body, path, answer?.headers['etag']]))
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
