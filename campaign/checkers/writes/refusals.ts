import type { Exchange, Injury } from '../../history.js'
import { denialOf } from '../callers/ownership.js'
import { isOfAccounts, pathOf } from '../chains.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { objectOf, objectsOf } from '../json.js'
import { happened, type RowWrite, RowWrites } from './row-writes.js'

/** Rows of these have no state (domain.md) that would forbid to create, replace or delete them. */
const STATELESS: readonly string[] = ['venues', 'speakers', 'bookmarks', 'warehouses']
/** What these hold is unique in no column, and no row of a run refers to them. */
const APART: readonly string[] = ['venues', 'speakers', 'subscriptions', 'warehouses']
/** A write of these touches no other row that is written, so that nothing else can conflict with it. */
const ALONE: readonly string[] = ['venues', 'stock-items', 'subscriptions', 'bookmarks']
/** Actions on orders that are possible until another one was done. */
const FIRST_ACTIONS: readonly string[] = ['pay', 'cancel']
/** Milliseconds after something is mended for which transactions may still collide with what was broken. */
const AFTERMATH_MS = 10_000

/** A refusal for which there has to be another write. */
interface Suspect {
  readonly write: RowWrite
  readonly status: number
  readonly code: string
}

/** Writes of all workloads that were refused, by callers who may write. */
export class RefusalsHaveReasons implements Checker {
  readonly title = 'Refusals have a reason'
  readonly contract = '5. Writes'
  readonly how =
    'all workloads: each 404, 409, 412 and 422 that a write of a row of the run has got, where its sender may write the row. Who may not is judged with the owners. What deletes or changes the row meanwhile is looked for among all requests and in the audit trail. Counted are writes that were done or refused.'
  readonly promise =
    'A write is refused for a reason alone: 404 if the row was deleted, 412 if another write has left the version, 409 if a unique value or a reference stands against it, 422 if the row has a state that forbids it.'
  readonly #writes = new RowWrites()
  /** When the answers to their creates had arrived, and who had asked for them. */
  readonly #born = new Map<string, { readonly endedAt: number; readonly account: string | undefined }>()
  readonly #suspects: Suspect[] = []
  readonly #conflicts: { readonly id: string; readonly sentAt: number; readonly endedAt: number; what: string }[] = []
  readonly #injuries: Injury[] = []
  readonly #violations: Violation[] = []
  #tried = 0

  see(exchange: Exchange): void {
    const { id, account, request, answer, sentAt, endedAt } = exchange
    const write = this.#writes.see(exchange)
    const [resource = '', second, action] = pathOf(exchange)
    if (request.method === 'GET' || isOfAccounts(exchange) || answer === undefined || answer.status >= 500) return
    const { status } = answer
    if (status === 201) {
      for (const row of objectsOf(exchange)) {
        const name = `${resource}/${String(row['id'])}`
        if (!this.#born.has(name)) this.#born.set(name, { endedAt, account })
      }
    }
    const born = this.#born.get(`${resource}/${second}`)
    if (denialOf(exchange, born?.account) !== undefined) return
    if (request.method !== 'POST' && (born === undefined || born.endedAt > sentAt)) return
    this.#tried++
    const code = status < 400 ? '' : String(objectOf(exchange)['code'])
    const what = `${id} is told ${status} ${code} to ${request.method} ${request.target}`
    if (status === 422 && code === 'state.invalid' && action === undefined && STATELESS.includes(resource))
      this.#violate(`${what}, and such a row has no state.`, id)
    const isApart = request.method === 'POST' || request.method === 'DELETE'
    if (status === 409 && code === 'conflict' && isApart && APART.includes(resource))
      this.#conflicts.push({ id, sentAt, endedAt, what })
    if (write === undefined) return
    const isFirst = resource === 'orders' && FIRST_ACTIONS.includes(action ?? '')
    if (
      status === 404 ||
      (status === 412 && ALONE.includes(resource) && this.#writes.shownAt(write.row, write.version) !== undefined) ||
      (status === 422 && code === 'state.invalid' && isFirst)
    )
      this.#suspects.push({ write, status, code })
  }

  hurt(injury: Injury): void {
    if (injury.touches?.length !== 0) this.#injuries.push(injury)
  }

  async judge(rows: Rows): Promise<Verdict> {
    await this.#writes.countAll(rows)
    const ofRow = new Map<string, RowWrite[]>()
    for (const write of this.#writes.byRequest.values()) {
      if (happened(write)) ofRow.set(write.row, [...(ofRow.get(write.row) ?? []), write])
    }
    for (const suspect of this.#suspects) {
      const { write, status, code } = suspect
      const others = (ofRow.get(write.row) ?? []).filter((other) => other.unit !== write.unit)
      if (others.some((other) => this.#explains(other, suspect))) continue
      if (status === 412 && this.#isOfInjury(write)) continue
      const what = `${write.id} is told ${status} ${code} of ${write.row}, and no other write explains it.`
      this.#violate(what, write.id)
    }
    for (const conflict of this.#conflicts) {
      if (this.#isOfInjury(conflict)) continue
      this.#violate(`${conflict.what}, while nothing was broken, and nothing is unique or refers to it.`, conflict.id)
    }
    return { tried: this.#tried, of: 'writes that were done or refused', violations: this.#violations }
  }

  /** Whether that write, which was done, may be why the other one was refused. */
  #explains(other: RowWrite, { write, status }: Suspect): boolean {
    if (other.sentAt > write.endedAt) return false
    if (status === 404) return other.isDelete
    if (status === 422) return true
    // What had ended before somebody began to read the version has not left it.
    const shownAt = this.#writes.shownAt(write.row, write.version) ?? -Infinity
    return other.outcome !== 'done' || other.endedAt >= shownAt
  }

  /** Transactions that collide too often with each other, or with what a cluster applies, end with a conflict too. */
  #isOfInjury({ sentAt, endedAt }: { readonly sentAt: number; readonly endedAt: number }): boolean {
    return this.#injuries.some(({ from, until = Infinity }) => from <= endedAt && sentAt <= until + AFTERMATH_MS)
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}
