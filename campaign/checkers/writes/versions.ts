import type { Exchange, Injury } from '../../history.js'
import { faultsOfUpdate } from './answered.js'
import { auditOf } from './audit.js'
import { Chains, COUNTERS } from '../chains.js'
import { type Checker, NotAsked, type Rows, type Verdict, type Violation } from '../checker.js'
import { type Forgotten, Kills } from '../kills.js'
import { RowWrites } from './row-writes.js'

/** Resources of other workloads whose actions have one audit entry each. */
const ACTED: readonly string[] = ['bookmarks', 'subscriptions', 'shopping-carts', 'orders', 'products']

/** Guarded updates of rows that count them, and all other writes of rows that are there. */
export class OneChain implements Checker {
  readonly title = 'One chain of versions'
  readonly contract = '5. Writes'
  readonly how =
    '`counters` updates few rows from many clients, by PUT, PATCH and actions, each guarded by the version that it has read. `saves` updates one row hundreds of times. `agents` calls the tools of `POST /mcp`, hangs up at random moments and sends the same call again. Each update adds one, so that the count says where a version stands. In the end counts, versions and the audit trail are compared. The actions and deletes of `owners` and `stock` have audit entries too, and name the version on which they rest, which is not the one that the row has in the end; each answer is compared with what was sent.'
  readonly isOfWrites = true
  readonly promise =
    'The versions of a row are one chain: no update is lost, whether it was acknowledged or shown by a read; none rests on a version that another one has left or on a row that was deleted, each has one audit entry, and its answer shows what was sent.'
  readonly #chains = new Chains()
  readonly #writes = new RowWrites()
  readonly #wrong: Violation[] = []
  readonly #kills = new Kills()

  see(exchange: Exchange): void {
    const { id } = exchange
    this.#chains.see(exchange)
    if (this.#writes.see(exchange)?.outcome !== 'done') return
    for (const fault of faultsOfUpdate(exchange)) this.#wrong.push({ what: `${id} ${fault}.`, exchanges: [id] })
  }

  hurt(injury: Injury): void {
    this.#kills.hurt(injury)
  }

  async judge(rows: Rows): Promise<Verdict> {
    const violations: Violation[] = [...this.#chains.contradictions, ...this.#chains.unasked(), ...this.#wrong]
    const updates = new Map<string, number>()
    const deleted = new Map<string, string>()
    for (const resource of Object.keys(COUNTERS)) {
      for await (const { requestId, row, action } of auditOf(rows, resource)) {
        if (!this.#chains.rows.has(row) || action === 'create') continue
        if (action === 'delete') deleted.set(row, requestId)
        else updates.set(row, (updates.get(row) ?? 0) + 1)
        violations.push(...this.#settle(requestId, row))
      }
    }
    for (const resource of ACTED) {
      for await (const { requestId, row, action } of auditOf(rows, resource)) {
        // Creates are those of the checker of creates; what no request of this run wrote was there before. An order updates the
        // products of which it takes some.
        if (action === 'create' || action === 'update' || requestId === '') continue
        violations.push(...this.#settle(requestId, row))
      }
    }
    const units = new Map<string, { done: string | undefined; entries: number }>()
    for (const [id, { unit, outcome, entries }] of this.#writes.byRequest) {
      const whole = units.get(unit) ?? { done: undefined, entries: 0 }
      if (outcome === 'done') whole.done ??= id
      whole.entries += entries
      units.set(unit, whole)
    }
    let acknowledged = 0
    for (const [unit, { done, entries }] of units) {
      if (done !== undefined) acknowledged++
      if (entries > 1) {
        violations.push({ what: `What was asked for by ${unit} happened ${entries} times.`, exchanges: [done ?? unit] })
      }
      if (done !== undefined && entries === 0 && this.#isKnown(done)) {
        violations.push({ what: `${done} was acknowledged and has no audit entry.`, exchanges: [done] })
      }
    }
    violations.push(...this.#writes.contradictions())
    violations.push(...(await this.#left(rows, updates, deleted)), ...(await this.#stale(rows)))
    return { tried: acknowledged, of: 'acknowledged updates and deletes', violations }
  }

  /** An audit entry is of a request that was sent and not rejected, and of its row. */
  *#settle(requestId: string, row: string): Generator<Violation> {
    const write = this.#writes.count(requestId, row)
    if (write === undefined) {
      yield { what: `${row} has an audit entry of ${requestId}, which was never sent for it.`, exchanges: [] }
      return
    }
    if (write.outcome !== 'rejected') return
    yield { what: `${requestId} was rejected, and has written ${row} all the same.`, exchanges: [requestId] }
  }

  #isKnown(id: string): boolean {
    const { row = '' } = this.#writes.byRequest.get(id) ?? {}
    return this.#chains.rows.has(row) || ACTED.some((resource) => row.startsWith(`${resource}/`))
  }

  /** Rows of other workloads that have a version in the end which a write of the audit trail has left. */
  async #stale(rows: Rows): Promise<readonly Violation[]> {
    const stale: Violation[] = []
    const left = this.#writes.leftBy()
    for (const resource of ACTED) {
      const found = await rows(
        `SELECT id, HEX(row_version) AS version FROM ${resource.replaceAll('-', '_')} ORDER BY id`
      ).catch((error: unknown) => {
        // Runs of before have not asked for them: their histories are not held to this.
        if (error instanceof NotAsked) return []
        throw error
      })
      for (const { id, version } of found) {
        const row = `${resource}/${String(id)}`
        const current = Buffer.from(String(version), 'hex').toString('base64')
        const write = left.get(row)?.get(current)
        if (write !== undefined)
          stale.push({ what: `${row} ends with the version that ${write.id} has left.`, exchanges: [write.id] })
      }
    }
    return stale
  }

  /** The rows as they are in the end. */
  async #left(
    rows: Rows,
    updates: ReadonlyMap<string, number>,
    deleted: ReadonlyMap<string, string>
  ): Promise<readonly Violation[]> {
    const violations: Violation[] = []
    const left = new Map<string, { readonly value: number; readonly version: string }>()
    for (const [resource, table, column] of [
      ['venues', 'venues', 'capacity'],
      ['stock-items', 'stock_items', 'on_hand']
    ]) {
      for (const row of await rows(`SELECT id, ${column} AS value, HEX(row_version) AS version FROM ${table}`)) {
        const version = Buffer.from(String(row['version']), 'hex').toString('base64')
        left.set(`${resource}/${String(row['id'])}`, { value: Number(row['value']), version })
      }
    }
    const forgotten: Forgotten[] = []
    for (const chain of this.#chains.rows.values()) {
      const { row, steps, deleted: acknowledged, floors } = chain
      const last = left.get(row)
      const exchanges = [deleted.get(row) ?? acknowledged?.id ?? ''].filter((id) => id !== '')
      if ((last === undefined) !== deleted.has(row)) {
        const what =
          last === undefined ? 'is gone and has no audit entry of a delete' : 'was deleted and is still there'
        violations.push({ what: `${row} ${what}.`, exchanges })
        continue
      }
      const highest = floors.at(-1)?.value ?? 0
      const value = last?.value ?? updates.get(row) ?? 0
      if (value !== (updates.get(row) ?? 0) || value < highest) {
        const what = `${row} ends with the count ${value}, has audit entries of ${updates.get(row) ?? 0} updates, and was acknowledged with the count ${highest}.`
        violations.push({ what, exchanges })
      }
      forgotten.push(...[Chains.forgottenBy(chain, value)].filter((one) => one !== undefined))
      const known = steps.get(value)?.version
      if (last !== undefined && known !== undefined && known !== last.version) {
        violations.push({ what: `${row} ends with the version ${last.version}; it was shown as ${known}.`, exchanges })
      }
    }
    violations.push(...this.#kills.unexcused(forgotten))
    return violations
  }
}
