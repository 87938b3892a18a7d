import type { Exchange } from '../../history.js'
import { NUMBERS, OWNED } from '../callers/ownership.js'
import { COUNTERS, isReplay, pathOf } from '../chains.js'
import type { Rows, Violation } from '../checker.js'
import { type JsonObject, objectsOf } from '../json.js'
import { type Forgotten, forgettableUntil, type Kills } from '../kills.js'
import { outcomeOf } from '../writes/audit.js'
import { type Look, lookOf } from './looks.js'

/** An exchange that shows something. */
type Sight = Pick<Exchange, 'id' | 'sentAt' | 'endedAt'>

/** A row that was acknowledged, or that a read has shown. */
interface Known {
  readonly row: string
  readonly id: string
  readonly name: string | undefined
  /** The account that may see it; undefined for a row that nobody owns. */
  readonly owner: string | undefined
  /** The answer to its create. */
  made?: Sight
  /** The first read that has shown it, and the last. */
  first?: Sight
  last?: Sight
  /** When the first delete was sent that was not rejected. */
  deleteSentAt: number
  deleted?: Sight
  /** Who was told that it is not there any more. */
  gone?: Sight
}

/** A read that had to show a row. */
interface Missing {
  readonly id: string
  readonly known: Known
  readonly endedAt: number
  /** Whether the row was known by reads alone. */
  readonly isOnlyShown: boolean
  readonly from: number
}

/** The resources whose rows somebody reads and deletes. */
const RESOURCES: readonly string[] = [...Object.keys(COUNTERS), ...Object.keys(OWNED), 'products']

/** Which rows there are, by what was acknowledged and by what reads have shown: between the exchanges, and in the end. */
export class Presence {
  /** By resource and id. */
  readonly #rows = new Map<string, Map<string, Known>>(RESOURCES.map((resource) => [resource, new Map()]))
  /** Those that are not known to be deleted, by resource and owner, since a run has far more rows than one account sees. */
  readonly #living = new Map<string, Set<Known>>()
  readonly #violations: Violation[] = []
  readonly #missing: Missing[] = []
  readonly #forgotten: Forgotten[] = []
  #tried = 0

  /** How often a read has shown a row that had been acknowledged before, but for those that count. */
  get tried(): number {
    return this.#tried
  }

  see(exchange: Exchange): void {
    const [resource = '', second] = pathOf(exchange)
    const rows = this.#rows.get(resource)
    if (rows === undefined) return
    const { method } = exchange.request
    if (method === 'GET') {
      const look = lookOf(exchange)
      if (look !== undefined) this.#look(look, rows, exchange)
    } else if (method === 'POST' && exchange.answer?.status === 201) {
      for (const item of objectsOf(exchange)) this.#born(resource, item, exchange).made ??= sightOf(exchange)
    } else if (method === 'DELETE') {
      const known = rows.get(second ?? '')
      if (known !== undefined) this.#delete(known, exchange)
    }
  }

  /** To be asked once, when every exchange and every injury was told. */
  async *faults(rows: Rows, kills: Kills): AsyncGenerator<Violation> {
    yield* this.#violations
    const lacking = this.#missing.filter(({ known, endedAt }) => known.deleteSentAt >= endedAt)
    const forgotten: Forgotten[] = []
    for (const { id, known, endedAt, isOnlyShown, from } of lacking) {
      const what = `The read ${id} does not show ${known.row}, which nobody had deleted.`
      const until = forgettableUntil(known.first ?? { endedAt }, endedAt)
      if (isOnlyShown) forgotten.push({ what, exchanges: [known.first?.id ?? '', id], from, until })
      else yield { what, exchanges: [id] }
    }
    for (const [resource, found] of this.#rows) {
      if (![...found.values()].some(({ made }) => made !== undefined)) continue
      const left = new Set((await rows(`SELECT id FROM ${resource.replaceAll('-', '_')}`)).map(({ id }) => String(id)))
      for (const known of found.values()) {
        const one = endOf(known, left.has(known.id))
        if (one !== undefined) forgotten.push(one)
      }
    }
    yield* kills.unexcused([...this.#forgotten, ...forgotten])
  }

  #look(look: Look, rows: ReadonlyMap<string, Known>, exchange: Exchange): void {
    const { resource, rows: items, covers } = look
    const { id, sentAt, endedAt } = exchange
    const shown = new Set<Known>()
    for (const item of items) {
      const known = rows.get(String(item['id']))
      if (known !== undefined) this.#compare(known, exchange)
      const one = this.#know(resource, item, exchange)
      one.first ??= sightOf(exchange)
      one.last = sightOf(exchange)
      shown.add(one)
    }
    for (const known of this.#seenBy(exchange, look, rows)) {
      const { made, first } = known
      if (shown.has(known) || !covers(known.id, known.name)) continue
      const isMade = made !== undefined && made.endedAt < sentAt
      if (!isMade && (first?.endedAt ?? Infinity) >= sentAt) continue
      known.gone ??= sightOf(exchange)
      // Whose delete is known to have been sent, told or not, is looked for no more.
      if (known.deleteSentAt < endedAt) this.#living.get(groupOf(known))?.delete(known)
      else this.#missing.push({ id, known, endedAt, isOnlyShown: !isMade, from: first?.sentAt ?? sentAt })
    }
  }

  /** The living rows that a look may have to show. */
  *#seenBy({ account }: Exchange, { resource, only }: Look, rows: ReadonlyMap<string, Known>): Generator<Known> {
    for (const owner of [undefined, account]) {
      const living = this.#living.get(groupOf({ row: resource, owner }))
      const one = only === undefined ? undefined : rows.get(only)
      if (only === undefined) yield* living ?? []
      else if (one !== undefined && living?.has(one) === true) yield one
      if (account === undefined) return
    }
  }

  /** A row that a read shows is not one that was gone before. */
  #compare(known: Known, { id, sentAt, endedAt }: Exchange): void {
    const { row, made, deleted, gone } = known
    const isCounted = COUNTERS[row.slice(0, row.indexOf('/'))] !== undefined
    if (!isCounted && made !== undefined && made.endedAt < sentAt) this.#tried++
    if (deleted !== undefined && deleted.endedAt < sentAt) {
      this.#violations.push({
        what: `The read ${id} shows ${row}, which had been deleted.`,
        exchanges: [deleted.id, id]
      })
    } else if (gone !== undefined && gone.endedAt < sentAt) {
      const what = `The read ${id} shows ${row}; ${gone.id} had been told that it is gone.`
      this.#forgotten.push({
        what,
        exchanges: [gone.id, id],
        from: gone.sentAt,
        until: forgettableUntil(gone, endedAt)
      })
      delete known.gone
    }
  }

  /** A row that was acknowledged is not the one that reads alone have shown with its id: that one was forgotten. */
  #born(resource: string, item: JsonObject, exchange: Exchange): Known {
    const rows = this.#rows.get(resource)
    const found = rows?.get(String(item['id']))
    const isSameRow = found?.made !== undefined || isReplay(exchange)
    if (isSameRow || found?.first === undefined || found.first.endedAt >= exchange.sentAt)
      return this.#know(resource, item, exchange)
    this.#living.get(groupOf(found))?.delete(found)
    rows?.delete(found.id)
    const what = `${exchange.id} has made ${found.row}, which ${found.first.id} had shown before.`
    const until = forgettableUntil(found.first, exchange.endedAt)
    this.#forgotten.push({ what, exchanges: [found.first.id, exchange.id], from: found.first.sentAt, until })
    return this.#know(resource, item, exchange)
  }

  #know(resource: string, item: JsonObject, { account = '' }: Exchange): Known {
    const id = String(item['id'])
    const rows = this.#rows.get(resource)
    const found = rows?.get(id)
    if (found !== undefined) return found
    const name = typeof item['name'] === 'string' ? item['name'] : undefined
    const member = OWNED[resource]
    const known: Known = { row: `${resource}/${id}`, id, name, owner: undefined, deleteSentAt: Infinity }
    const owned = member === undefined ? known : { ...known, owner: ownerOf(account, item[member]) }
    rows?.set(id, owned)
    const group = groupOf(owned)
    const living = this.#living.get(group)
    if (living === undefined) this.#living.set(group, new Set([owned]))
    else living.add(owned)
    return owned
  }

  #delete(known: Known, exchange: Exchange): void {
    const { account, answer, sentAt } = exchange
    const outcome = outcomeOf(answer)
    if (outcome !== 'rejected') known.deleteSentAt = Math.min(known.deleteSentAt, sentAt)
    if (outcome === 'done') {
      known.deleted ??= sightOf(exchange)
      this.#living.get(groupOf(known))?.delete(known)
    }
    const isSeen = known.made !== undefined && known.made.endedAt < sentAt
    const isOwner = known.owner === undefined || known.owner === account
    if (answer?.status === 404 && isSeen && isOwner) known.gone ??= sightOf(exchange)
  }
}

/** What the end says against what somebody was told. */
function endOf({ row, deleteSentAt, gone, last }: Known, isLeft: boolean): Forgotten | undefined {
  if (isLeft && gone !== undefined) {
    const what = `${row} is there in the end; ${gone.id} had been told that it is gone.`
    return { what, exchanges: [gone.id], from: gone.sentAt, until: forgettableUntil(gone) }
  }
  if (isLeft || last === undefined || deleteSentAt < Infinity) return undefined
  const what = `${row} is not there in the end, though ${last.id} had shown it and nobody has deleted it.`
  return { what, exchanges: [last.id], from: last.sentAt, until: forgettableUntil(last) }
}

/** Whoever has made or read a row is its owner, but for those who do so for others. */
function ownerOf(account: string, number: unknown): string {
  if (NUMBERS[account] !== undefined) return account
  return Object.keys(NUMBERS).find((one) => NUMBERS[one] === String(number)) ?? ''
}

/** The place of a row in #living. */
function groupOf({ row, owner }: Pick<Known, 'row' | 'owner'>): string {
  return `${row.split('/', 1)[0]} ${owner ?? '*'}`
}

function sightOf({ id, sentAt, endedAt }: Exchange): Sight {
  return { id, sentAt, endedAt }
}
