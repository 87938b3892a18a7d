import type { Exchange } from '../history.js'
import { type Chain, Chains, COUNTERS, csvOf, pathOf, shownBy } from './chains.js'
import type { Checker, Verdict, Violation } from './checker.js'

/** An export of rows that count. */
interface Seen {
  readonly id: string
  readonly resource: string
  readonly prefix: string
  readonly sentAt: number
  readonly endedAt: number
  /** The count with which each row is shown. */
  readonly values: ReadonlyMap<string, number>
}

interface Interval {
  readonly from: number
  readonly to: number
}

const PART = /^(?<batch>.+) (?<n>\d+) of (?<count>\d+)$/

/** Exports, while rows that count and batches of rows are written. */
export class OneMoment implements Checker {
  readonly title = 'Exports of one moment'
  readonly contract = '4. Reads'
  readonly how =
    '`exports` exports tables, filtered, sorted and whole, while `counters` updates their rows and batches of rows come.'
  readonly promise =
    'An export shows the table as it was at one moment while it ran: each row at a version of that moment, and of rows that came together all or none.'
  readonly #chains = new Chains()
  readonly #exports: Seen[] = []
  readonly #violations: Violation[] = []
  #rows = 0

  see(exchange: Exchange): void {
    this.#chains.see(exchange)
    const { id, request, answer, sentAt, endedAt } = exchange
    const [resource = '', second] = pathOf(exchange)
    if (request.method !== 'GET' || second !== 'export' || answer?.status !== 200) return
    const lines = csvOf(answer.body)
    this.#rows += lines.length - 1
    const marker = lines.at(-1)?.[0]
    if (marker?.startsWith('# export incomplete') === true) {
      this.#violate(`The export ${id} says that it is incomplete, and its answer ends as a whole one does.`, id)
    }
    if (resource === 'speakers') this.#countBatches(lines, id)
    if (COUNTERS[resource] === undefined) return
    if (!answer.body.endsWith('\r\n')) this.#violate(`The export ${id} does not end with a line break.`, id)
    const shown = shownBy(exchange)
    const values = new Map(shown.map(({ row, value }) => [row, value]))
    if (values.size < shown.length) this.#violate(`The export ${id} shows a row twice.`, id)
    const prefix = new URL(request.target, 'http://gateway').searchParams.get('filters[name].value') ?? ''
    if (marker?.startsWith('# ') !== true) this.#exports.push({ id, resource, prefix, sentAt, endedAt, values })
  }

  judge(): Promise<Verdict> {
    for (const one of this.#exports) this.#judgeMoment(one)
    return Promise.resolve({ tried: this.#rows, of: 'rows of exports', violations: this.#violations })
  }

  #countBatches(lines: readonly (readonly string[])[], id: string): void {
    const name = lines[0]?.indexOf('name') ?? -1
    const batches = new Map<string, { readonly count: number; readonly parts: Set<string> }>()
    for (const cells of lines.slice(1)) {
      const { batch, n, count } = PART.exec(cells[name] ?? '')?.groups ?? {}
      if (batch === undefined || n === undefined) continue
      const found = batches.get(batch) ?? { count: Number(count), parts: new Set() }
      batches.set(batch, found)
      if (found.parts.has(n)) this.#violate(`The export ${id} shows ${cells[name]} twice.`, id)
      found.parts.add(n)
    }
    for (const [batch, { count, parts }] of batches) {
      if (parts.size === count) continue
      this.#violate(`The export ${id} shows ${parts.size} of the ${count} rows of ${batch}, which came together.`, id)
    }
  }

  /** Is there a moment at which all its rows were as it shows them, and no others were there? */
  #judgeMoment({ id, resource, prefix, values, ...time }: Seen): void {
    let moment: Interval = { from: time.sentAt, to: time.endedAt }
    const closed: Interval[] = []
    for (const chain of this.#chains.rows.values()) {
      if (!chain.row.startsWith(`${resource}/`) || !chain.name.startsWith(prefix)) continue
      const value = values.get(chain.row)
      if (value === undefined) {
        closed.push({ from: chain.born.endedAt, to: chain.deleteSentAt ?? Infinity })
        continue
      }
      const { from, to } = lifeOf(chain, value)
      moment = { from: Math.max(moment.from, from), to: Math.min(moment.to, to) }
      if (moment.from <= moment.to) continue
      this.#violate(
        `The export ${id} shows no single moment: ${chain.row} with the count ${value} is of another one than the rows before it.`,
        id
      )
      return
    }
    // Rows that are left out were there all the time between these.
    let at = moment.from
    for (const { from, to } of closed.toSorted((one, other) => one.from - other.from)) {
      if (from < at && to > at) at = to
    }
    if (at > moment.to) this.#violate(`The export ${id} leaves out rows that were there at every moment of it.`, id)
  }

  #violate(what: string, id: string): void {
    this.#violations.push({ what, exchanges: [id] })
  }
}

/** When a row may have had this count: from the first request that may have led to it until a later count was acknowledged. */
function lifeOf({ born, steps, floors, deleted }: Chain, value: number): Interval {
  const later = floors.find((floor) => floor.value > value)
  return {
    from: value === 0 ? born.sentAt : (steps.get(value)?.sentAt ?? born.sentAt),
    to: Math.min(later?.endedAt ?? Infinity, deleted?.endedAt ?? Infinity)
  }
}
