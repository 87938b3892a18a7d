import type { Exchange } from '../../history.js'
import { OWNED } from '../callers/ownership.js'
import { isReplay, pathOf, versionOf } from '../chains.js'
import type { Violation } from '../checker.js'
import { type JsonObject, objectsOf } from '../json.js'
import { type Forgotten, forgettableUntil, type Kills } from '../kills.js'

/** An answer that has shown something. */
type Sight = Pick<Exchange, 'id' | 'sentAt' | 'endedAt'>

/** That a version is no more the newest of its row. */
interface Left extends Sight {
  /** When the version was known first, so that a database may have forgotten it since. */
  readonly from: number
  /** Whether the update was acknowledged that has left it; else a read has shown another one after it. */
  readonly isTold: boolean
}

/** A row that does not count its updates. */
interface Versioned {
  /** By version that is not known to be left: the first answer that showed it. */
  readonly open: Map<string, Sight>
  readonly left: Map<string, Left>
  /** By version and member: what the first answer showed. */
  readonly members: Map<string, Sight & { readonly text: string; readonly isTold: boolean }>
}

/** Members of rows of customers that are of the row itself, and change with its version alone. */
const MEMBERS = ['status', 'plan', 'note', 'total', 'orderNumber', 'trackingCode'] as const

const RESOURCES: readonly string[] = [...Object.keys(OWNED), 'products']

/**
 * Versions of rows that do not count their updates. A row has each of its versions once, so that one that was replaced, by an
 * acknowledged update or by another one that a read has shown after it, is shown by no read that begins after that.
 */
export class Replaced {
  readonly #rows = new Map<string, Versioned>()
  readonly #violations: Violation[] = []
  readonly #forgotten: Forgotten[] = []

  see(exchange: Exchange): void {
    const { request, answer } = exchange
    const [resource = '', second] = pathOf(exchange)
    if (!RESOURCES.includes(resource) || second === 'export') return
    if (answer?.status !== 200 && answer?.status !== 201) return
    const isUpdate = request.method === 'PUT' || request.method === 'PATCH'
    const from = versionOf(request.headers['if-match'])
    if (isUpdate && from !== '')
      this.#leave(this.#rowOf(`${resource}/${second}`), from, {
        ...sightOf(exchange),
        from: exchange.sentAt,
        isTold: true
      })
    // An answer that was given before says nothing of the present.
    if (isReplay(exchange)) return
    for (const item of objectsOf(exchange)) {
      if (typeof item['rowVersion'] === 'string') this.#show(`${resource}/${String(item['id'])}`, item, exchange)
    }
  }

  /** To be asked once, when every exchange and every injury was told. */
  *faults(kills: Kills): Generator<Violation> {
    yield* this.#violations
    yield* kills.unexcused(this.#forgotten)
  }

  #show(name: string, item: JsonObject, exchange: Exchange): void {
    const version = String(item['rowVersion'])
    const { id, sentAt, endedAt } = exchange
    const row = this.#rowOf(name)
    const left = row.left.get(version)
    if (left !== undefined && left.endedAt < sentAt) {
      const what = left.isTold
        ? `${id} shows ${name} with the version ${version}, which the acknowledged update ${left.id} had replaced.`
        : `${id} shows ${name} with the version ${version}; ${left.id} had shown another one after it.`
      const violation = { what, exchanges: [left.id, id] }
      if (left.isTold) this.#violations.push(violation)
      else this.#forgotten.push({ ...violation, from: left.from, until: forgettableUntil(left, endedAt) })
    }
    if (OWNED[name.slice(0, name.indexOf('/'))] !== undefined) this.#compare(row, { name, version, item }, exchange)
    for (const [other, shown] of row.open) {
      if (other !== version && shown.endedAt < sentAt)
        this.#leave(row, other, { ...sightOf(exchange), from: shown.sentAt, isTold: false })
    }
    if (left === undefined && !row.open.has(version)) row.open.set(version, sightOf(exchange))
  }

  /** What is told by an update counts more than what a read has shown, which a database that dies may forget. */
  #leave({ open, left }: Versioned, version: string, by: Left): void {
    open.delete(version)
    const known = left.get(version)
    if (known === undefined || (by.isTold && !known.isTold)) left.set(version, by)
  }

  /** Whoever shows a version shows the same row. */
  #compare(
    { members }: Versioned,
    { name, version, item }: { readonly name: string; readonly version: string; readonly item: JsonObject },
    exchange: Exchange
  ): void {
    const { id, endedAt } = exchange
    const isTold = exchange.request.method !== 'GET'
    for (const member of MEMBERS) {
      if (item[member] === undefined) continue
      const text = JSON.stringify(item[member])
      const key = `${version} ${member}`
      const first = members.get(key)
      if (first === undefined || (isTold && !first.isTold)) members.set(key, { ...sightOf(exchange), text, isTold })
      if (first === undefined || first.text === text) continue
      const what = `${id} shows ${name} with the ${member} ${text}, and ${first.id} has shown ${first.text} of the same version.`
      const violation = { what, exchanges: [first.id, id] }
      // The number of a version that was forgotten comes again.
      if (first.isTold) this.#violations.push(violation)
      else this.#forgotten.push({ ...violation, from: first.sentAt, until: forgettableUntil(first, endedAt) })
    }
  }

  #rowOf(name: string): Versioned {
    const found = this.#rows.get(name) ?? { open: new Map(), left: new Map(), members: new Map() }
    this.#rows.set(name, found)
    return found
  }
}

function sightOf({ id, sentAt, endedAt }: Exchange): Sight {
  return { id, sentAt, endedAt }
}
