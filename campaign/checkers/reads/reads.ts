import type { Exchange, Injury } from '../../history.js'
import { type Chain, Chains, COUNTERS, pathOf, shownBy } from '../chains.js'
import type { Checker, Verdict, Violation } from '../checker.js'
import { objectsOf } from '../json.js'

/** A row that a read did not show although it had been acknowledged. */
interface Missing {
  readonly id: string
  readonly chain: Chain
  readonly endedAt: number
}

/** The highest count with which reads have shown a row, in the order in which they ended. */
type Shows = { readonly id: string; readonly sentAt: number; readonly endedAt: number; readonly value: number }[]

/** A read that shows less than one that had ended before it began. */
interface Backward {
  readonly what: string
  readonly exchanges: readonly string[]
  readonly from: number
  readonly until: number
}

/** A row with a name that nobody has sent so far. */
interface Stray {
  readonly id: string
  readonly name: string
}

/** What the workloads give the names of venues to begin with. */
const OWN_NAME = /^(?:counters|saves)-/

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
  readonly #shows = new Map<string, Shows>()
  readonly #backward: Backward[] = []
  /** Names of venues that somebody has sent, without their counts. */
  readonly #sent = new Set<string>()
  readonly #stray: Stray[] = []
  readonly #kills: Injury[] = []
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
        if (chain === undefined) continue
        this.#compare(chain, value, exchange)
        this.#goOn(row, value, exchange)
      }
      this.#name(exchange)
      for (const chain of this.#expected(exchange)) {
        if (!seen.has(chain.row) && chain.born.endedAt < sentAt) this.#missing.push({ id, chain, endedAt })
      }
    }
    if (request.method === 'POST' && resource === 'venues') {
      for (const [, name = ''] of (request.body ?? '').matchAll(/"name":"([^"]*)"/g)) this.#sent.add(plainName(name))
    }
    const born = this.#chains.see(exchange)
    if (born !== undefined) this.#living.set(born.row, born)
    const row = `${resource}/${second}`
    if (request.method === 'DELETE' && this.#chains.rows.get(row)?.deleted !== undefined) this.#living.delete(row)
  }

  hurt(injury: Injury): void {
    if (/^database (?:killed|node-emptied)/.test(injury.fault)) this.#kills.push(injury)
  }

  judge(): Promise<Verdict> {
    for (const { id, name } of this.#stray) {
      if (!this.#sent.has(plainName(name)))
        this.#violations.push({ what: `The read ${id} shows ${name}, which nobody has asked for.`, exchanges: [id] })
    }
    for (const { what, exchanges, from, until } of this.#backward) {
      const isOfKill = this.#kills.some((kill) => kill.from <= until && kill.from >= from)
      if (!isOfKill) this.#violations.push({ what, exchanges })
    }
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

  /** What a read has shown, a read that begins later shows too, even where nobody was told that it was written. */
  #goOn(row: string, value: number, { id, sentAt, endedAt }: Exchange): void {
    const shows = this.#shows.get(row) ?? []
    this.#shows.set(row, shows)
    const floor = Chains.floorOf({ floors: shows }, sentAt)
    if (value < floor) {
      const by = shows.find((one) => one.value === floor)
      this.#backward.push({
        what: `The read ${id} shows ${row} with the count ${value}; ${by?.id} had shown ${floor}.`,
        exchanges: [by?.id ?? '', id],
        from: by?.sentAt ?? 0,
        until: endedAt
      })
    }
    if (value > (shows.at(-1)?.value ?? -1)) shows.push({ id, sentAt, endedAt, value })
  }

  #name(exchange: Exchange): void {
    if (pathOf(exchange)[0] !== 'venues' || exchange.answer?.status !== 200) return
    for (const row of objectsOf(exchange)) {
      const name = String(row['name'])
      if (OWN_NAME.test(name) && !this.#sent.has(plainName(name))) this.#stray.push({ id: exchange.id, name })
    }
  }

  /** The rows that an answer must show unless somebody has deleted them. */
  *#expected(exchange: Exchange): Generator<Chain> {
    const { request, answer } = exchange
    const [resource = '', second] = pathOf(exchange)
    const isWhole = answer?.status === 200 && answer.headers['x-truncated'] === undefined
    if (second !== undefined && second !== 'paged' && second !== 'lookup') {
      const chain = this.#living.get(`${resource}/${second}`)
      // Everybody may read venues, and whoever asks for stock items here may do so: 403 hides a row as 404 does.
      if (chain !== undefined && [200, 403, 404].includes(answer?.status ?? 0)) yield chain
      return
    }
    // Of the pages, those that show all rows at once.
    if (!isWhole || ['x-next-cursor', 'x-previous-cursor'].some((name) => answer.headers[name] !== undefined)) return
    const query = new URL(request.target, 'http://gateway').searchParams
    // A list has no filters.
    const prefix = second === undefined ? null : (query.get('filters[name].value') ?? query.get('search'))
    for (const chain of this.#living.values()) {
      if (!chain.row.startsWith(`${resource}/`)) continue
      if (prefix === null || chain.name.startsWith(prefix)) yield chain
    }
  }
}

/** Without the count at its end. */
function plainName(name: string): string {
  return name.replace(/ #\d+$/, '')
}
