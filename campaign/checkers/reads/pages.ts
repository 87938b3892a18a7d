import type { Exchange } from '../../history.js'
import { type Chain, Chains, COUNTERS, pathOf } from '../chains.js'
import type { Checker, Verdict, Violation } from '../checker.js'
import { type JsonObject, objectsOf } from '../json.js'
import { ignoredBy } from './looks.js'
import { faultOfOrder, sortingOf } from './ordered.js'

/** Pages that a client reads one after the other, each at the cursor that the last one named. */
interface Walk {
  /** The target without its cursor. */
  readonly query: string
  readonly direction: 'after' | 'before'
  readonly sentAt: number
  readonly seen: Set<string>
  next: string | undefined
}

/** A walk or a page that lacks rows, unless somebody has deleted them meanwhile. */
interface Lacking {
  readonly id: string
  readonly chains: readonly Chain[]
  readonly endedAt: number
}

/** A page that says how many rows there are, more than are known to live. */
interface Counted {
  readonly id: string
  readonly resource: string
  readonly prefix: string
  readonly total: number
  readonly sentAt: number
  readonly endedAt: number
}

/** Lists, pages and lookups of rows that count, as a whole. */
export class WholePages implements Checker {
  readonly title = 'Whole lists and pages'
  readonly contract = '4. Reads'
  readonly how =
    '`counters` lists venues, sorts and filters them, and walks through all of them by cursors, forward and backward, a few at a time, while others come, change and go.'
  readonly promise =
    'A list, page or lookup shows what was asked for in its order, and no row twice; its total is right. A walk by cursors shows each row that is there all the time, once.'
  readonly #chains = new Chains()
  /** Rows that are not known to be deleted. */
  readonly #living = new Set<Chain>()
  /** By client: what it has read last. */
  readonly #walks = new Map<string, Walk>()
  readonly #lacking: Lacking[] = []
  readonly #short: (Lacking & { readonly total: number })[] = []
  readonly #counted: Counted[] = []
  /** When creates were first sent that nobody has acknowledged. */
  readonly #open = new Map<string, { readonly resource: string; readonly sentAt: number }>()
  readonly #violations: Violation[] = []
  #rows = 0

  see(exchange: Exchange): void {
    const [resource = '', second] = pathOf(exchange)
    if (COUNTERS[resource] === undefined) return
    const { request, answer } = exchange
    const isOfRows = second === undefined || second === 'paged' || second === 'lookup'
    if (request.method === 'GET' && isOfRows && answer?.status === 200) this.#read(exchange, resource, second)
    if (request.method === 'POST') this.#create(exchange, resource)
    const born = this.#chains.see(exchange)
    if (born !== undefined) this.#living.add(born)
    const chain = request.method === 'DELETE' ? this.#chains.rows.get(`${resource}/${second}`) : undefined
    if (chain?.deleted !== undefined) this.#living.delete(chain)
  }

  judge(): Promise<Verdict> {
    for (const { id, chains, endedAt } of this.#lacking) {
      const lost = chains.filter(({ deleteSentAt = Infinity }) => deleteSentAt >= endedAt)
      if (lost.length > 0)
        this.#violate(`The walk that ends with ${id} leaves out ${lost.map(({ row }) => row).join()}.`, id)
    }
    for (const { id, chains, endedAt, total } of this.#short) {
      const least = chains.filter(({ deleteSentAt = Infinity }) => deleteSentAt >= endedAt).length
      if (total < least) this.#violate(`The page ${id} tells of ${total} rows where there are ${least} at least.`, id)
    }
    for (const one of this.#counted) {
      const most = this.#mostOf(one)
      if (one.total > most)
        this.#violate(`The page ${one.id} tells of ${one.total} rows where there are ${most} at most.`, one.id)
    }
    return Promise.resolve({ tried: this.#rows, of: 'rows of lists and pages', violations: this.#violations })
  }

  #read(exchange: Exchange, resource: string, second: string | undefined): void {
    const { id, request } = exchange
    const rows = objectsOf(exchange)
    this.#rows += rows.length
    const query = new URL(request.target, 'http://gateway').searchParams
    const asked = askedFor(exchange, query)
    const sorting = sortingOf(second === 'lookup' ? new URLSearchParams('sortColumn=name') : query)
    const fault = faultOfOrder(rows, sorting, cellOf)
    if (fault !== undefined) this.#violate(`The read ${id} ${fault}.`, id)
    const ids = rows.map((row) => String(row['id']))
    if (new Set(ids).size < ids.length) this.#violate(`The read ${id} shows a row twice: ${ids.join()}.`, id)
    const stray = rows.find((row) => !asked(String(row['name'])))
    if (stray !== undefined) this.#violate(`The read ${id} shows ${JSON.stringify(stray)}, unasked for.`, id)
    if (second !== 'paged') return
    this.#count(exchange, resource, query)
    this.#walk(exchange, query, ids)
  }

  /** The total of a page is that of rows that have been there while it was made. */
  #count({ id, answer, sentAt, endedAt }: Exchange, resource: string, query: URLSearchParams): void {
    const told = answer?.headers['x-total-count']
    const prefix = query.get('filters[name].value')
    if (told === undefined || prefix === null || !ownNames(prefix)) return
    const total = Number(told)
    const matching = [...this.#living].filter(
      ({ row, name }) => row.startsWith(`${resource}/`) && name.startsWith(prefix)
    )
    const chains = matching.filter(({ born }) => born.endedAt < sentAt)
    if (total < chains.length) this.#short.push({ id, chains, endedAt, total })
    if (total > matching.length) this.#counted.push({ id, resource, prefix, total, sentAt, endedAt })
  }

  #mostOf({ resource, prefix, sentAt, endedAt }: Counted): number {
    const known = [...this.#chains.rows.values()].filter(
      ({ row, name, born, deleted }) =>
        row.startsWith(`${resource}/`) &&
        name.startsWith(prefix) &&
        born.sentAt < endedAt &&
        (deleted?.endedAt ?? Infinity) > sentAt
    )
    const open = [...this.#open.values()].filter((one) => one.resource === resource && one.sentAt < endedAt)
    return known.length + open.length
  }

  #create({ id, request, answer, sentAt }: Exchange, resource: string): void {
    const unit = request.headers['idempotency-key'] ?? id
    if (answer?.status === 201) this.#open.delete(unit)
    else if (!this.#open.has(unit)) this.#open.set(unit, { resource, sentAt })
  }

  #walk(exchange: Exchange, query: URLSearchParams, ids: readonly string[]): void {
    const { id, client, sentAt, answer } = exchange
    const { after, before } = { after: query.get('after'), before: query.get('before') }
    const cursor = after ?? before
    query.delete('after')
    query.delete('before')
    const of = `${pathOf(exchange)[0]}?${query.toString()}`
    const last = this.#walks.get(client)
    const direction = before === null ? 'after' : 'before'
    let walk: Walk
    if (cursor === null) walk = { query: of, direction, sentAt, seen: new Set(), next: undefined }
    else if (last?.query === of && last.direction === direction && last.next === cursor) walk = last
    else return
    this.#walks.set(client, walk)
    for (const row of ids) {
      if (walk.seen.has(row)) this.#violate(`The walk to ${id} shows ${row} twice.`, id)
      walk.seen.add(row)
    }
    walk.next = answer?.headers[direction === 'after' ? 'x-next-cursor' : 'x-previous-cursor']
    if (walk.next !== undefined) return
    this.#end(walk, exchange)
    // Whoever has come to the end may turn around.
    const next = answer?.headers['x-previous-cursor']
    if (direction === 'after' && next !== undefined)
      this.#walks.set(client, { query: of, direction: 'before', sentAt, seen: new Set(ids), next })
    else this.#walks.delete(client)
  }

  #end({ sentAt, seen }: Walk, exchange: Exchange): void {
    const { id, endedAt, request } = exchange
    const [resource = ''] = pathOf(exchange)
    const asked = askedFor(exchange, new URL(request.target, 'http://gateway').searchParams)
    const chains = [...this.#living].filter(
      ({ row, name, born }) =>
        row.startsWith(`${resource}/`) &&
        asked(name) &&
        born.endedAt < sentAt &&
        !seen.has(row.slice(resource.length + 1))
    )
    if (chains.length > 0) this.#lacking.push({ id, chains, endedAt })
  }

  #violate(what: string, id: string): void {
    this.#violations.push({ what, exchanges: [id] })
  }
}

/** Whether rows of that name are asked for. */
function askedFor({ answer }: Exchange, query: URLSearchParams): (name: string) => boolean {
  const ignored = ignoredBy(answer)
  const prefix = ignored.includes('filters[name].value') ? '' : (query.get('filters[name].value') ?? '')
  const searched = query.get('search') ?? ''
  return (name) => {
    const folded = name.toLowerCase()
    return folded.startsWith(prefix.toLowerCase()) && folded.includes(searched.toLowerCase())
  }
}

/** Whether all rows whose names begin so are those of workloads, of which the history knows. */
function ownNames(prefix: string): boolean {
  return /^(?:counters|saves|agents)-/.test(prefix)
}

function cellOf(row: JsonObject, column: string): string | undefined {
  const value = row[column]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
