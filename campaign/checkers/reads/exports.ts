import { createHash } from 'node:crypto'
import type { Exchange, Injury } from '../../history.js'
import { Births, type Marks, marksOf } from './births.js'
import { type Chain, Chains, COUNTERS, shownBy } from '../chains.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { type Cells, exportOf, type Exported, faultsOfForm, isBeyond, recordsOf } from './exported.js'
import { cellOf, isObject, objectsOf } from '../json.js'
import { Kills } from '../kills.js'

/** An export that has not been judged yet. */
interface Seen {
  readonly exported: Exported
  /** The count with which each row that counts is shown. */
  readonly values: ReadonlyMap<string, number>
  /** The cells of each row that counts. */
  readonly records: ReadonlyMap<string, Row>
  /** Of speakers. */
  readonly marks: Marks
}

/** A row, by the names of its columns. */
type Row = Readonly<{ [column: string]: string }>

interface Interval {
  readonly from: number
  readonly to: number
}

/** The name of a venue that counts. */
const COUNTED = /^(?:counters|saves|agents)-.* #(?<count>\d+)$/

const PART = /^(?<batch>.+) (?<n>\d+) of (?<count>\d+)$/

/** Longer than any client waits: after that, every request has ended that was sent before an export had ended. */
const SETTLES_MS = 60_000

/** Exports, while rows that count and batches of rows are written. */
export class OneMoment implements Checker {
  readonly title = 'Exports of one moment'
  readonly contract = '4. Reads'
  readonly how =
    '`exports` exports tables, filtered, sorted, whole and cut at the most rows, while `counters` updates their rows and batches of rows come.'
  readonly promise =
    'An export shows the table as it was at one moment while it ran: each row at a version of that moment, and of rows that came together all or none. What an export has shown, later ones show.'
  readonly #chains = new Chains()
  readonly #births = new Births()
  /** Rows that count and are not known to have been deleted long ago. */
  readonly #living = new Set<Chain>()
  /** Exports that are judged soon, in the order in which they ended. */
  #pending: Seen[] = []
  /** Venues that were made before all exports, and that nobody writes. */
  readonly #prepared = new Set<string>()
  /** The first export that showed the venues that nobody writes, and what they were. */
  #still: { readonly id: string; readonly digest: string } | undefined
  readonly #violations: Violation[] = []
  readonly #kills = new Kills()
  #rows = 0

  see(exchange: Exchange): void {
    this.#judgeUntil(exchange.endedAt - SETTLES_MS)
    const born = this.#chains.see(exchange)
    if (born !== undefined) this.#living.add(born)
    this.#births.see(exchange)
    if (exchange.request.target === '/venues/batch' && exchange.answer?.status === 201)
      for (const { id } of objectsOf(exchange)) this.#prepared.add(String(id))
    const found = exportOf(exchange)
    if (found === undefined) return
    const { exported, cells } = found
    const { id, resource } = exported
    this.#rows += cells.lines.length
    for (const fault of faultsOfForm(exported, cells, exchange)) this.#violate(`The export ${id} ${fault}.`, id)
    if (resource === 'speakers') {
      this.#countBatches(exported, cells)
      this.#births.show(exported, cells)
    }
    const shown = shownBy(exchange)
    const values = new Map(shown.map(({ row, value }) => [row, value]))
    if (values.size < shown.length) this.#violate(`The export ${id} shows a row twice.`, id)
    if (resource !== 'speakers' && COUNTERS[resource] === undefined) return
    const all = resource === 'speakers' ? [] : recordsOf(cells)
    if (resource === 'venues') this.#lookAtStill(exported, all)
    // The others are many, and have been looked at.
    const own = all.filter(({ name }) => name === undefined || COUNTED.test(name))
    const records = new Map(own.map((record) => [`${resource}/${record['id']}`, record]))
    this.#pending.push({ exported, values, records, marks: resource === 'speakers' ? marksOf(cells) : new Map() })
  }

  hurt(injury: Injury): void {
    this.#kills.hurt(injury)
  }

  async judge(rows: Rows): Promise<Verdict> {
    this.#judgeUntil(Infinity)
    for await (const violation of this.#births.takenBack(rows, this.#kills)) this.#violations.push(violation)
    return { tried: this.#rows, of: 'rows of exports', violations: this.#violations }
  }

  /** Judges the exports that had ended by then, and forgets them: a long run has more than memory holds. */
  #judgeUntil(time: number): void {
    const later = this.#pending.findIndex(({ exported }) => exported.endedAt > time)
    for (const one of this.#pending.splice(0, later === -1 ? this.#pending.length : later)) {
      const { exported, values, records, marks } = one
      const { id, resource } = exported
      if (resource !== 'speakers') {
        this.#judgeMoment(exported, values)
        for (const fault of this.#cellFaults(records, values)) this.#violate(`The export ${id} ${fault}.`, id)
        continue
      }
      const faults = [...this.#births.faultsOf(exported), this.#births.cellFault(exported, marks)]
      for (const fault of faults) if (fault !== undefined) this.#violate(`The export ${id} ${fault}.`, id)
    }
  }

  /** Venues that nobody writes are the same in every export of all. */
  #lookAtStill({ id, isCut, prefix, least, ids }: Exported, records: readonly Row[]): void {
    if (isCut || prefix !== '' || least !== undefined) return
    const shown = new Set(ids.map(String))
    const gone = [...this.#prepared].find((one) => !shown.has(one))
    if (gone !== undefined) this.#violate(`The export ${id} leaves out the row ${gone}, which nobody has deleted.`, id)
    const still = records.filter(({ name = '' }) => !COUNTED.test(name))
    const lines = still.map((record) => JSON.stringify(record)).toSorted()
    const digest = createHash('sha256').update(lines.join('\n')).digest('base64url')
    this.#still ??= { id, digest }
    if (this.#still.digest !== digest)
      this.#violate(`The export ${id} shows rows that nobody writes otherwise than ${this.#still.id} does.`, id)
  }

  /** All cells of a row are of the version whose count it shows. */
  *#cellFaults(records: ReadonlyMap<string, Row>, values: ReadonlyMap<string, number>): Generator<string> {
    for (const [row, record] of records) {
      const { name } = record
      const value = values.get(row) ?? 0
      if (name !== undefined && COUNTED.exec(name)?.groups?.['count'] !== String(value))
        yield `shows ${row} with the name ${name} and the count ${value}`
      const version = this.#chains.rows.get(row)?.steps.get(value)?.text
      const known: unknown = version === undefined ? undefined : JSON.parse(version)
      if (!isObject(known)) continue
      for (const [column, cell] of Object.entries(record)) {
        const text = cellOf(known[column])
        if (text === cell) continue
        yield `shows ${row} with the ${column} ${cell}, and its version with the count ${value} has ${text}`
      }
    }
  }

  /** Rows whose names say how many came together, which need no answer to their request. */
  #countBatches({ id, isCut }: Exported, { header, lines }: Cells): void {
    const name = header.indexOf('name')
    const batches = new Map<string, { readonly count: number; readonly parts: Set<string> }>()
    for (const cells of lines) {
      const { batch, n, count } = PART.exec(cells[name] ?? '')?.groups ?? {}
      if (batch === undefined || n === undefined) continue
      const found = batches.get(batch) ?? { count: Number(count), parts: new Set() }
      batches.set(batch, found)
      if (found.parts.has(n)) this.#violate(`The export ${id} shows ${cells[name]} twice.`, id)
      found.parts.add(n)
    }
    const torn = [...batches].filter(([, { count, parts }]) => parts.size !== count)
    for (const [batch, { count, parts }] of isCut ? [] : torn) {
      this.#violate(`The export ${id} shows ${parts.size} of the ${count} rows of ${batch}, which came together.`, id)
    }
  }

  /** Is there a moment at which all its rows were as it shows them, and no others were there? */
  #judgeMoment(exported: Exported, values: ReadonlyMap<string, number>): void {
    const { id, resource, prefix, least = 0, sentAt, endedAt } = exported
    let moment: Interval = { from: sentAt, to: endedAt }
    for (const [row, value] of values) {
      const chain = this.#chains.rows.get(row)
      if (chain === undefined) continue
      const { from, to } = lifeOf(chain, value)
      moment = { from: Math.max(moment.from, from), to: Math.min(moment.to, to) }
      if (moment.from <= moment.to) continue
      this.#violate(
        `The export ${id} shows no single moment: ${row} with the count ${value} is of another one than the rows before it.`,
        id
      )
      return
    }
    const closed: Interval[] = []
    for (const chain of this.#living) {
      const { row, name, born, deleteSentAt, deleted } = chain
      // Exports that are judged later may have been sent before this one, but not by longer than clients wait.
      if ((deleted?.endedAt ?? Infinity) < sentAt - SETTLES_MS) this.#living.delete(chain)
      if (values.has(row) || !row.startsWith(`${resource}/`) || !name.startsWith(prefix)) continue
      // From then on it was known to be asked for.
      const counted = least === 0 ? born : chain.floors.find(({ value }) => value >= least)
      if (counted !== undefined && !isBeyond(exported, numberOf(row)))
        closed.push({ from: counted.endedAt, to: deleteSentAt ?? Infinity })
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

/** 7 of `venues/7`. */
function numberOf(row: string): number {
  return Number(row.slice(row.indexOf('/') + 1))
}
