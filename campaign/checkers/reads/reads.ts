import type { Exchange, Injury } from '../../history.js'
import { type Chain, Chains, COUNTERS, pathOf, shownBy } from '../chains.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { objectsOf } from '../json.js'
import { type Forgotten, forgettableUntil, Kills } from '../kills.js'
import { Presence } from './presence.js'
import { Replaced } from './replaced.js'

/** The highest count with which reads have shown a row, in the order in which they ended. */
type Shows = { readonly id: string; readonly sentAt: number; readonly endedAt: number; readonly value: number }[]

/** A row with a name that nobody has sent so far. */
interface Stray {
  readonly id: string
  readonly name: string
}

/** What the workloads give the names of venues to begin with. */
const OWN_NAME = /^(?:counters|saves|agents)-/

/** Reads through any gateway: of rows that count their updates, of rows that have versions, and which rows there are. */
export class FreshReads implements Checker {
  readonly title = 'Fresh reads'
  readonly contract = '4. Reads'
  readonly how =
    '`counters`, `owners` and `stock` read what they and others have just written, through whichever gateway and data service: by id, in lists, pages, lookups and exports. In the end the tables must have the rows that reads have shown.'
  readonly promise =
    'A read that began after a write was acknowledged shows that write or a later one, through any gateway; what was deleted stays deleted. What one read has shown, later reads and the tables in the end do not take back.'
  readonly #chains = new Chains()
  readonly #violations: Violation[] = []
  readonly #presence = new Presence()
  readonly #replaced = new Replaced()
  readonly #shows = new Map<string, Shows>()
  readonly #backward: Forgotten[] = []
  /** Names of venues that somebody has sent, without their counts. */
  readonly #sent = new Set<string>()
  readonly #stray: Stray[] = []
  readonly #kills = new Kills()
  #tried = 0

  see(exchange: Exchange): void {
    this.#presence.see(exchange)
    this.#replaced.see(exchange)
    const [resource = '', second] = pathOf(exchange)
    if (COUNTERS[resource] === undefined) return
    const { request, answer } = exchange
    if (request.method === 'GET' && answer !== undefined) {
      for (const { row, value } of shownBy(exchange)) {
        const chain = this.#chains.rows.get(row)
        if (chain === undefined) continue
        // Whether an export has a moment is another promise.
        if (second !== 'export') this.#compare(chain, value, exchange)
        this.#goOn(row, value, exchange)
      }
      if (second !== 'export') this.#name(exchange)
    }
    if (request.method === 'POST' && resource === 'venues') {
      for (const [, name = ''] of (request.body ?? '').matchAll(/"name":"([^"]*)"/g)) this.#sent.add(plainName(name))
    }
    this.#chains.see(exchange)
  }

  hurt(injury: Injury): void {
    this.#kills.hurt(injury)
  }

  async judge(rows: Rows): Promise<Verdict> {
    for (const { id, name } of this.#stray) {
      if (!this.#sent.has(plainName(name)))
        this.#violations.push({ what: `The read ${id} shows ${name}, which nobody has asked for.`, exchanges: [id] })
    }
    this.#violations.push(...this.#kills.unexcused(this.#backward), ...this.#replaced.faults(this.#kills))
    for await (const violation of this.#presence.faults(rows, this.#kills)) this.#violations.push(violation)
    const tried = this.#tried + this.#presence.tried
    return { tried, of: 'rows shown after an acknowledged write', violations: this.#violations }
  }

  #compare(chain: Chain, value: number, { id, sentAt }: Exchange): void {
    const { row, born } = chain
    const floor = Chains.floorOf(chain, sentAt)
    if (floor > 0 || born.endedAt < sentAt) this.#tried++
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
        until: forgettableUntil(by ?? { endedAt }, endedAt)
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
}

/** Without the count at its end. */
function plainName(name: string): string {
  return name.replace(/ #\d+$/, '')
}
