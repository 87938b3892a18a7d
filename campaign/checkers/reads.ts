import type { Exchange } from '../history.js'
import { type Chain, Chains, COUNTERS, pathOf, shownBy } from './chains.js'
import type { Checker, Verdict, Violation } from './checker.js'

/** A row that a read did not show although it had been acknowledged. */
interface Missing {
  readonly id: string
  readonly chain: Chain
  readonly endedAt: number
}

/** Reads through any gateway, of rows that count their updates. */
export class FreshReads implements Checker {
  readonly title = 'Fresh reads'
  readonly contract = '4. Reads'
  readonly how =
    '`counters` reads what it has just written, through whichever gateway and data service: by id, in lists, pages and lookups.'
  readonly promise =
    'A read that began after a write was acknowledged shows that write or a later one, through any gateway; what was deleted stays deleted.'
  readonly #chains = new Chains()
  readonly #violations: Violation[] = []
  readonly #missing: Missing[] = []
  /** Rows that are not known to be deleted. */
  readonly #living = new Map<string, Chain>()
  #tried = 0

  see(exchange: Exchange): void {
    const [resource = '', second] = pathOf(exchange)
    if (COUNTERS[resource] === undefined) return
    const { id, request, answer, sentAt, endedAt } = exchange
    if (request.method === 'GET' && second !== 'export' && answer !== undefined) {
      const seen = new Set<string>()
      for (const { row, value } of shownBy(exchange)) {
        seen.add(row)
        const chain = this.#chains.rows.get(row)
        if (chain !== undefined) this.#compare(chain, value, exchange)
      }
      for (const chain of this.#expected(exchange)) {
        if (!seen.has(chain.row) && chain.born.endedAt < sentAt) this.#missing.push({ id, chain, endedAt })
      }
    }
    const born = this.#chains.see(exchange)
    if (born !== undefined) this.#living.set(born.row, born)
    const row = `${resource}/${second}`
    if (request.method === 'DELETE' && this.#chains.rows.get(row)?.deleted !== undefined) this.#living.delete(row)
  }

  judge(): Promise<Verdict> {
    for (const { id, chain, endedAt } of this.#missing) {
      if ((chain.deleteSentAt ?? Infinity) < endedAt) continue
      this.#violations.push({
        what: `The read ${id} does not show ${chain.row}, which nobody had deleted.`,
        exchanges: [id]
      })
    }
    return Promise.resolve({
      tried: this.#tried,
      of: 'rows shown after an acknowledged write',
      violations: this.#violations
    })
  }

  #compare(chain: Chain, value: number, { id, sentAt }: Exchange): void {
    const { row, deleted } = chain
    if (deleted !== undefined && deleted.endedAt < sentAt) {
      this.#violations.push({
        what: `The read ${id} shows ${row}, which had been deleted.`,
        exchanges: [deleted.id, id]
      })
    }
    const floor = Chains.floorOf(chain, sentAt)
    if (floor > 0 || chain.born.endedAt < sentAt) this.#tried++
    if (value >= floor) return
    const writer = chain.steps.get(floor)?.acknowledged?.id ?? ''
    this.#violations.push({
      what: `The read ${id} shows ${row} with the count ${value}; ${floor} had been acknowledged.`,
      exchanges: [writer, id]
    })
  }

  /** The rows that an answer must show unless somebody has deleted them. */
  *#expected(exchange: Exchange): Generator<Chain> {
    const { request, answer } = exchange
    const [resource = '', second] = pathOf(exchange)
    const isWhole = answer?.status === 200 && answer.headers['x-truncated'] === undefined
    if (second !== undefined && second !== 'paged' && second !== 'lookup') {
      const chain = this.#living.get(`${resource}/${second}`)
      if (chain !== undefined && (answer?.status === 200 || answer?.status === 404)) yield chain
      return
    }
    if (!isWhole || answer.headers['x-next-cursor'] !== undefined) return
    const query = new URL(request.target, 'http://gateway').searchParams
    const prefix = query.get('filters[name].value') ?? query.get('search')
    for (const chain of this.#living.values()) {
      if (!chain.row.startsWith(`${resource}/`)) continue
      if (prefix === null || chain.name.startsWith(prefix)) yield chain
    }
  }
}
